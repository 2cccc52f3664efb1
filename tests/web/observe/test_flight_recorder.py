"""The flight recorder, through the real gateway: what is left of a stream that failed."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import structlog
from prometheus_client import CollectorRegistry

from gateway import frames
from gateway.agent import Line, Script, ScriptedAgent, stay_silent
from gateway.clients import ask, chatting, is_whole, new_client, outline, post
from gateway.process import Process
from gateway.running import Gateway, settings
from gateway.tokens import bearer, token
from gateway.waiting import until
from support.recorded import dialect as golden_dialect
from support.recorded import shape
from turnwire.cli import main
from turnwire.core.agent import Decoded
from turnwire.core.recording.replay import replay
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects import DIALECTS
from turnwire.dialects.v2 import V2
from turnwire.dialects.v2.turn import PromptProtocol
from turnwire.metrics import Telemetry
from turnwire.relay.file_writer import JOBS_MAX, FileWriter
from turnwire.testing.client_model import Client
from turnwire.web.observe.flight_recorder import FlightRecorder
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

PROMPT = "My code is the-secret-prompt, Zoë"
SECRETS = ("the-secret", "Zoë", "hunter2", "ann@a.example")


async def fail(line: Line) -> None:
    """A turn of everything, told in both spellings, with escapes, that ends badly."""
    await line.begin()
    tool = frames.running_tool() | {"args": {"password": "hunter2"}}
    await line.say(
        frames.chunk_text("the-secret 😀"),
        frames.delta("the-secret 😀 and "),
        frames.chunk_text(" and the-secret"),
        {"type": "agentStatus", "status": "thinking", "detail": "the-secret"},
        tool,
        {
            "type": "message.create",
            "turnId": "t0",
            "promptId": "another",
            "userId": "ann@a.example",
        },
        tool | {"status": "completed", "result": ["the-secret", {"n": 1}]},
        frames.delta("the-secret again"),
        {"type": "question", "questionId": "q1", "turnId": frames.TURN, "text": "the-secret?"},
    )
    await line.connection.send("{the-secret")
    await line.connection.send("#! close")
    await line.say(frames.finalize(reason="error", error="the-secret error"))


async def drop(line: Line) -> None:
    await line.begin()
    await line.say(frames.delta("the-secret"))
    line.cut()


async def refuse(line: Line) -> None:
    await line.prompt()
    await line.say({"type": "error", "message": "the-secret"})


SCRIPTS: dict[str, tuple[Script, dict[str, object]]] = {
    "failed": (fail, {}),
    "interrupted": (drop, {}),
    "silent": (stay_silent, {"idle_s": 0.4, "keepalive_s": 0.1}),
}


async def recorded(directory: Path, count: int = 1) -> list[Path]:
    """The recordings, once there are so many."""
    await until(lambda: len(kept(directory)) >= count)
    return kept(directory)


def kept(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.jsonl")) if directory.is_dir() else []


@pytest.mark.parametrize("text", ["true", "false"], ids=["text", "redacted"])
@pytest.mark.parametrize("how", ["failed", "interrupted", "silent"])
async def test_a_stream_that_fails_leaves_a_recording_of_it(
    how: str, text: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    script, given = SCRIPTS[how]
    directory = tmp_path / "made" / "here"
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), record_dir=directory, record_text=text, given=given) as gateway,
    ):
        response = await post(gateway, text=PROMPT, user="ann@a.example")
        (path,) = await recorded(directory)
        await until(lambda: gateway.counted("turnwire_recordings_total", result="written") == 1)

    assert is_whole(response.text)
    assert path.stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o777 == 0o700
    assert path.name.split("-")[1] == how
    text_kept = path.read_text()
    assert not any(part in text_kept for part in token("ann@a.example").split("."))
    assert response.headers["x-request-id"] in text_kept
    assert any(secret in text_kept for secret in SECRETS) == (text == "true")

    capfdbinary.readouterr()
    assert main(["replay", str(path)]) == 0
    replayed = capfdbinary.readouterr().out
    if text == "true":
        assert replayed == response.content
    assert shape(replayed) == shape(response.content)
    _drop_into_golden(path, tmp_path, replayed)


def _drop_into_golden(path: Path, tmp_path: Path, replayed: bytes) -> None:
    """As the golden tests read it: its folder names the dialect, nothing else is said."""
    folder = tmp_path / "golden" / "v2"
    folder.mkdir(parents=True)
    golden = folder / "failed_in_production.jsonl"
    shutil.copy(path, golden)
    stream = replay(golden.read_bytes().splitlines(), golden_dialect(golden))
    assert stream == replayed
    client = Client()
    client.read(stream)
    client.close()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_failure_of_the_other_wire_is_recorded_too(revision: Any, tmp_path: Path) -> None:
    async with (
        SessionAgent(Habits(revision=revision)) as agent,
        Gateway(agent.url, dialect="session-agent", record_dir=tmp_path) as gateway,
    ):
        response = await post(gateway, text="make the turn fail")
        (path,) = await recorded(tmp_path)

    dialect = golden_dialect(Path(f"session-agent-{revision}/x"))
    assert shape(replay(path.read_bytes().splitlines(), dialect)) == shape(response.content)


async def end_well(line: Line) -> None:
    await line.begin()
    await line.say(frames.delta("a"), frames.finalize())


async def test_the_fields_of_the_operator_are_blotted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dialect of others may send a token that is a field of the operator in a frame."""
    secret = "sesame-4711-0815-open"
    greeting = json.dumps({"type": "hi", "token": secret}).encode()

    class Greeting(PromptProtocol):
        def connection_opened(self, now: float) -> Decoded:
            opened = super().connection_opened(now)
            return Decoded(opened.events, [*opened.to_agent, greeting])

    class Greets(V2):
        name = "greets"
        request_fields = frozenset({"type"})

        def prompt(self, request: PromptRequest, member: Member | None = None) -> PromptProtocol:
            return Greeting(request, member or Member())

    monkeypatch.setitem(DIALECTS, "greets", Greets())
    given: Any = {"agent_request": json.dumps({"token": secret}), "record_text": "true"}
    async with (
        ScriptedAgent(drop) as agent,
        Gateway(agent.url(), dialect="greets", record_dir=tmp_path, **given) as gateway,
    ):
        await post(gateway)
        (path,) = await recorded(tmp_path)
        sent = agent.lines[0].heard

    assert {"type": "hi", "token": secret} in sent
    assert secret not in path.read_text()
    assert '# told {"type": "hi", "token": "xxxxxxxx' in path.read_text()


async def test_nothing_is_kept_of_what_ends_well_or_by_its_user(tmp_path: Path) -> None:
    async with (
        ScriptedAgent(end_well) as agent,
        Gateway(agent.url(), record_dir=tmp_path) as gateway,
    ):
        assert is_whole((await post(gateway)).text)
        agent.script = stay_silent
        async with chatting(gateway) as chat:
            await chat.sees("keepalive")
        await gateway.has_ended("client_gone")
        agent.script = refuse
        assert outline((await post(gateway)).text)[-2:] == ["error", "finish"]
        (path,) = await recorded(tmp_path)

    assert "-failed-" in path.name


async def test_an_agent_that_is_not_there_is_recorded(tmp_path: Path) -> None:
    async with Gateway(record_dir=tmp_path) as gateway:
        response = await post(gateway)
        (path,) = await recorded(tmp_path)

    assert "-unreachable-" in path.name
    assert replay(path.read_bytes().splitlines(), golden_dialect(Path("v2/x"))) == response.content


async def flood(line: Line) -> None:
    await line.begin()
    await line.say(*(frames.delta(f"word {number} ") for number in range(2_000)))
    await line.say(frames.finalize(reason="error"))


async def test_a_long_one_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        ScriptedAgent(flood) as agent,
        Gateway(
            agent.url(), record_dir=tmp_path, record_bytes=20_000, record_text="true"
        ) as gateway,
    ):
        assert is_whole((await post(gateway)).text)
        (path,) = await recorded(tmp_path)

    assert path.stat().st_size < 25_000
    capsys.readouterr()
    assert main(["replay", str(path)]) == 0
    told = capsys.readouterr()
    assert "turnwire: not in the recording: " in told.err
    assert "frames" in told.err
    assert is_whole(told.out)
    assert "word 0 " in told.out
    assert "word 1999 " in told.out


async def test_the_newest_are_kept(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "20200101T000000Z-failed-00000000.jsonl").write_text("old")
    async with (
        ScriptedAgent(drop) as agent,
        Gateway(agent.url(), record_dir=tmp_path, record_files=2) as gateway,
    ):
        for _ in range(3):
            await post(gateway)
        await until(lambda: gateway.counted("turnwire_recordings_total", result="written") == 3)

    assert len(kept(tmp_path)) == 2
    assert not any(path.name.startswith("2020") for path in kept(tmp_path))
    assert (tmp_path / "notes.txt").exists()


async def test_a_disk_that_takes_nothing_costs_a_line_of_the_log(tmp_path: Path) -> None:
    full = tmp_path / "recordings"
    with structlog.testing.capture_logs() as logs:
        async with (
            ScriptedAgent(drop) as agent,
            Gateway(agent.url(), record_dir=full) as gateway,
        ):
            assert not full.exists()  # a folder could be made of it when the gateway started
            full.write_text("")
            assert is_whole((await post(gateway)).text)
            await until(lambda: gateway.counted("turnwire_recordings_total", result="failed") == 1)

    (line,) = [line for line in logs if line["event"] == "not recorded"]
    assert line["error"] in {"Not a directory", "File exists"}


def test_a_file_that_is_not_whole_goes(tmp_path: Path) -> None:
    results = Telemetry(CollectorRegistry()).recordings
    recorder = FlightRecorder(settings(record_dir=tmp_path), DIALECTS["v2"], FileWriter(), results)
    (tmp_path / "a.jsonl").mkdir()

    recorder._write("a.jsonl", b"x", "r1")

    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
    assert results.labels("failed")._value.get() == 1


async def test_too_many_at_once_are_dropped_and_counted(tmp_path: Path) -> None:
    """A named pipe that nobody reads holds the writing thread up, as a hung disk does."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with (
        ScriptedAgent(drop) as agent,
        Gateway(agent.url(), record_dir=tmp_path / "d", drift_samples=pipe) as gateway,
    ):
        agent.script = drift_and_drop
        count = JOBS_MAX + 4
        replies = await asyncio.gather(*(post(gateway, user=f"u{n}") for n in range(count)))
        assert all(is_whole(reply.text) for reply in replies)
        await until(lambda: gateway.counted("turnwire_recordings_total", result="dropped") >= 3)
        await asyncio.to_thread(pipe.read_bytes)
        await until(
            lambda: (
                sum(
                    gateway.counted("turnwire_recordings_total", result=result)
                    for result in ("dropped", "written")
                )
                == count
            )
        )


async def drift_and_drop(line: Line) -> None:
    await line.begin()
    await line.say({"type": "brand.new"})
    await drop(line)


async def test_a_process_that_ends_writes_what_it_took(tmp_path: Path) -> None:
    async with (
        ScriptedAgent(drop) as agent,
        Process(agent.url(), record_dir=tmp_path) as gateway,
        new_client() as client,
    ):
        for _ in range(3):
            url = f"{gateway.url}/api/sessions/s1/chat"
            assert is_whole((await client.post(url, json=ask(), headers=bearer())).text)
    assert len(kept(tmp_path)) == 3
    lines = gateway.logged("recorded")
    assert {line["file"] for line in lines} == {path.name for path in kept(tmp_path)}
    assert all(line["request_id"] for line in lines)
