"""The dialect of docs/write-a-dialect.md, as it stands there, between a client and an agent."""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from prometheus_client import generate_latest

from gateway.clients import chunks, errors, is_whole, new_client, outline, post, said
from gateway.http_agent import Asked, HttpAgent
from gateway.running import Gateway
from gateway.tokens import KEY, bearer
from gateway.waiting import PATIENCE_S, until
from support.http_dialect import END, chunk
from turnwire import dialect
from turnwire.cli import main
from turnwire.config.dialect_loading import load

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "examples/dialects/minimal"
CODE: Final = (FOLDER / "minimal_dialect.py").read_text()
PAGE: Final = (ROOT / "docs/write-a-dialect.md").read_text()
PLACE: Final = "minimal_dialect:Minimal"
HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"
)

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)


def lines(*frames: dict[str, Any]) -> bytes:
    return chunk(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))


def answering(*frames: dict[str, Any]) -> HttpAgent:
    async def script(asked: Asked) -> None:
        await asked.say(HEAD, lines(*frames), END)

    return HttpAgent(script)


def recordings(folder: Path) -> list[Path]:
    return list(folder.glob("*.jsonl"))


CALL: Final = {"type": "tool", "id": "c1", "name": "search", "input": {"q": "weather"}}
WHOLE: Final = (
    {"type": "say", "text": "Let me see. "},
    CALL,
    CALL | {"output": ["sunny"]},
    {"type": "say", "text": "Sunny."},
    {"type": "done"},
)


async def test_a_turn_from_the_prompt_to_its_end() -> None:
    async with answering(*WHOLE) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        told = (await post(gateway, text="how is the weather?")).text
        (asked,) = agent.requests

    assert is_whole(told)
    assert said(told) == "Let me see. Sunny."
    tools = [one for one in chunks(told) if one["type"].startswith("tool-")]
    assert [(one["type"], one.get("input") or one.get("output")) for one in tools] == [
        ("tool-input-available", {"q": "weather"}),
        ("tool-output-available", ["sunny"]),
    ]
    assert asked.line.startswith("POST /api/s1")
    assert asked.headers["accept"] == "application/x-ndjson"
    sent = json.loads(asked.body)
    assert (sent["text"], sent["files"]) == ("how is the weather?", [])
    assert len(sent["thread"]) == len("00000000-0000-5000-8000-000000000000")


async def test_a_thread_is_that_of_its_session() -> None:
    async with answering(*WHOLE) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        for session in ("s1", "s1", "s2"):
            await post(gateway, session=session)
        first, again, other = (json.loads(asked.body)["thread"] for asked in agent.requests)

    assert first == again != other


async def test_an_error_of_the_agent_is_the_error_of_the_turn() -> None:
    frames = ({"type": "say", "text": "Hm"}, {"type": "done", "error": "no money left"})
    async with answering(*frames) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        told = (await post(gateway)).text

    assert errors(told) == ["no money left"]
    assert is_whole(told)


async def test_a_body_without_an_end_is_an_interrupted_turn() -> None:
    async with answering(*WHOLE[:-1]) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        told = (await post(gateway)).text

    assert errors(told) == ["Stream interrupted"]
    assert said(told) == "Let me see. Sunny."


async def test_a_frame_that_nobody_can_read_ends_nothing() -> None:
    odd: Any = ({"type": "say", "text": 5}, {"type": "later"}, {})
    async with answering(*odd, *WHOLE) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        assert is_whole((await post(gateway)).text)


async def test_half_of_a_pair_is_joined_with_the_other_half() -> None:
    frames = ({"type": "say", "text": "\ud83d"}, {"type": "say", "text": "\ude00"}, WHOLE[-1])
    async with answering(*frames) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        assert said((await post(gateway)).text) == "😀"


async def test_a_client_that_hangs_up_ends_the_turn_of_the_agent() -> None:
    async def script(asked: Asked) -> None:
        await asked.say(HEAD, lines(WHOLE[0]))
        await asked.is_left()

    given: Any = {"dialect": PLACE, "turn_log": "off"}
    async with HttpAgent(script) as agent, Gateway(agent.url, **given) as gateway:
        posted = asyncio.ensure_future(post(gateway))
        await until(lambda: agent.requests)
        posted.cancel()
        await asyncio.wait([posted], timeout=PATIENCE_S)

        await agent.all_left()


async def test_a_client_comes_back_though_the_dialect_knows_nothing_of_it() -> None:
    may_end = asyncio.Event()

    async def script(asked: Asked) -> None:
        await asked.say(HEAD, lines(*WHOLE[:3]))
        await may_end.wait()
        await asked.say(lines(*WHOLE[3:]), END)

    async with HttpAgent(script) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        first = asyncio.ensure_future(post(gateway))
        await until(lambda: agent.requests)
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/chat/chat-1/stream"
            asyncio.get_running_loop().call_later(0.1, may_end.set)
            resumed = await client.get(url, headers=bearer())
        told = (await first).text

    assert said(resumed.text) == said(told) == "Let me see. Sunny."
    assert outline(resumed.text)[-1] == "finish"


async def test_a_dialect_of_others_is_handed_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent gets them, from the transport."""
    handed: list[str] = []
    kind = type(load(PLACE))
    prompt = kind.prompt

    def listening(self: Any, *given: Any) -> Any:
        handed.append(repr(given))
        return prompt(self, *given)

    monkeypatch.setattr(kind, "prompt", listening)
    given: Any = {
        "agent_auth": "service",
        "agent_token": "hunter2",
        "agent_headers": '{"x-api-key":"hunter3"}',
    }
    async with answering(*WHOLE) as agent, Gateway(agent.url, dialect=PLACE, **given) as gateway:
        assert is_whole((await post(gateway, text="a prompt")).text)
        (asked,) = agent.requests

    assert "a prompt" in handed[-1]
    token = bearer()["authorization"].removeprefix("Bearer ")
    assert not [secret for secret in ("hunter", KEY, token) if secret in "".join(handed)]
    assert asked.headers["authorization"] == "Bearer hunter2"
    assert asked.headers["x-api-key"] == "hunter3"


async def test_a_turn_that_fails_is_recorded_without_its_texts_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: Any = {"dialect": PLACE, "record_dir": tmp_path}
    async with answering(*WHOLE[:2]) as agent, Gateway(agent.url, **given) as gateway:
        assert errors((await post(gateway)).text) == ["Stream interrupted"]
        await until(lambda: recordings(tmp_path))
    (file,) = recordings(tmp_path)
    capsys.readouterr()

    assert main(["replay", str(file)]) == 1, "no package names the dialect of the recording"
    assert "no dialect 'minimal' is installed; name another" in capsys.readouterr().err
    assert main(["replay", str(file), "--dialect", PLACE]) == 0
    replayed = capsys.readouterr().out
    assert errors(replayed) == ["Stream interrupted"]
    assert said(replayed) == "xxx xx xxx. "
    assert "Let me" not in file.read_text()


async def test_what_its_schema_does_not_know_is_drift() -> None:
    odd = WHOLE[0] | {"mood": "fine"}
    async with answering(odd, *WHOLE) as agent, Gateway(agent.url, dialect=PLACE) as gateway:
        await post(gateway)
        metrics = generate_latest(gateway.telemetry.registry).decode()

    assert 'turnwire_drift_frames_total{dialect="minimal",' in metrics


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (PLACE, "The settings are fine."),
        (
            "minimal_dialect:Maximal",
            "turnwire: TURNWIRE_DIALECT: minimal_dialect:Maximal: the module has no Maximal",
        ),
    ],
)
def test_check_knows_it(place: str, told: str) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(FOLDER),
        "TURNWIRE_DIALECT": place,
        "TURNWIRE_ENABLED": "true",
        "TURNWIRE_AGENT_URL": "http://127.0.0.1:9/",
        "TURNWIRE_JWT_KEY": KEY,
        "TURNWIRE_PORT": "0",
        "TURNWIRE_METRICS_PORT": "0",
    }
    command = [sys.executable, "-m", "turnwire", "check"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert (done.stdout + done.stderr).splitlines()[0] == told
    assert done.returncode == (0 if place == PLACE else 1)


def test_it_has_sixty_lines_at_most_and_stands_on_its_page() -> None:
    assert len(CODE.splitlines()) <= 60
    assert "```{literalinclude} ../examples/dialects/minimal/minimal_dialect.py\n" in PAGE


def test_the_turn_on_its_page_is_the_one_above() -> None:
    shown = [json.loads(line) for line in re.findall(r"(\{\"type\": .*\})$", PAGE, re.MULTILINE)]

    assert tuple(shown) == WHOLE


def test_it_needs_nothing_of_turnwire_but_the_surface() -> None:
    imported = [
        name.name
        for node in ast.walk(ast.parse(CODE))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
        if isinstance(node, ast.Import)
    ]
    from_modules = {
        node.module for node in ast.walk(ast.parse(CODE)) if isinstance(node, ast.ImportFrom)
    }

    assert sorted(imported) == ["msgspec", "turnwire.dialect"]
    assert from_modules == {"msgspec"}
    taken = {
        node.attr
        for node in ast.walk(ast.parse(CODE))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "td"
    }
    assert taken <= set(dialect.__all__)


def test_its_package_names_it_by_its_entry_point() -> None:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]

    points = project["entry-points"]["turnwire.dialects"]
    assert {name: load(place).name for name, place in points.items()} == {"minimal": "minimal"}
