"""The second agent of the docs, with and without approvals, before a real gateway."""

import io
import json
import os
import re
import runpy
import shlex
import socket
import subprocess
import sys
import tokenize
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import httpx
import pytest
from websockets.asyncio.client import connect

from docs.wire_page import blocks
from gateway.clients import chunks, is_whole, outline, said
from gateway.reading import App, question_id, turn_id
from gateway.running import Gateway
from gateway.waiting import closed, until
from turnwire_lab.process import free_port, inherited

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(90)]

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/second-agent.md").read_text(encoding="utf-8")
TOKEN: Final = "known-to-the-gateway-alone"
EXAMPLES: Final = ROOT / "examples/agents"
PLAIN: Final = "second_agent.py"
ASKS: Final = "second_agent_asks.py"
LINES: Final = {PLAIN: 80, ASKS: 44}
"""At most so many of code: the page promises agents that one can read."""
SERVICE: Final = {"agent_auth": "service", "agent_token": TOKEN}


def code_lines(source: str) -> set[int]:
    """The lines that have more than a comment. Docstrings are comments."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code = [
        token
        for before, token in pairwise(tokens)
        if token.type not in blank | {tokenize.ENDMARKER}
        and not (token.type == tokenize.STRING and before.type in blank)
    ]
    return {line for token in code for line in range(token.start[0], token.end[0] + 1)}


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module", params=[PLAIN, ASKS])
def script(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def port(script: str) -> Iterator[int]:
    """That of an agent that is started."""
    port = free_port()
    environ = inherited() | {"AGENT_TOKEN": TOKEN, "PORT": str(port)}
    with subprocess.Popen([sys.executable, EXAMPLES / script], env=environ) as process:
        try:
            yield port
        finally:
            process.terminate()


@pytest.fixture
async def url(port: int) -> AsyncIterator[str]:
    """The same, in its gateway's settings. A gateway's goodbye to it is waited for."""
    await until(lambda: listens(port))
    yield f"ws://127.0.0.1:{port}/{{session_id}}"
    await closed(port)


@pytest.mark.parametrize("name", LINES)
def test_it_stays_short(name: str) -> None:
    assert len(code_lines((EXAMPLES / name).read_text(encoding="utf-8"))) <= LINES[name]


@pytest.mark.parametrize(
    "given", [None, b"Bearer wrong", "Bearer é".encode(), b"Basic " + TOKEN.encode()]
)
async def test_who_has_another_token_is_refused(url: str, given: bytes | None) -> None:
    headers = {} if given is None else {b"authorization": given}
    page = url.format(session_id="closed").replace("ws:", "http:")
    async with httpx.AsyncClient() as client:
        assert (await client.get(page, headers=headers)).status_code == 401


async def test_a_tool_has_a_card_and_the_history_has_the_turn(url: str) -> None:
    async with Gateway(url, given=SERVICE) as gateway:
        app = App(gateway, session="tool")
        for prompt, answer in (
            ("what is 12/4?", "It is 3."),
            ("and 1/0?", "It cannot be done."),
        ):
            async with app.prompt(prompt) as chat:
                await chat.sees("[DONE]")
            assert said(chat.body) == answer
            assert is_whole(chat.body)
        asked, answered, _, failed = await app.messages()

    assert asked["parts"] == [{"type": "text", "text": "what is 12/4?"}]
    tool = next(part for part in answered["parts"] if part.get("toolCallId"))
    assert (tool["input"], tool["output"]) == ({"a": 12, "b": 4}, 3.0)
    assert "divide has no result" in str(failed["parts"])
    assert "tool-output-error" in outline(chat.body)


async def test_a_client_that_comes_back_in_mid_turn_gets_all_of_it(url: str) -> None:
    async with Gateway(url, given=SERVICE, on_disconnect="grace") as gateway:
        app = App(gateway, session="story")
        async with app.prompt("tell me a story") as first:
            await first.sees("Line 3 ")
        async with app.resume() as second:
            await second.sees("[DONE]")

    assert turn_id(second.body) == turn_id(first.body)
    assert re.findall(r"Line (\d+) ", said(second.body)) == [str(line) for line in range(1, 41)]
    assert is_whole(second.body)


async def test_a_stop_ends_the_turn_and_the_next_prompt_is_answered(url: str) -> None:
    async with Gateway(url, given=SERVICE) as gateway:
        app = App(gateway, session="stop")
        async with app.prompt("what is 12/4?") as chat:
            await chat.sees("tool-input-available")
            assert (await app.stop()).json()["reason"] == "canceled"
            await chat.sees("[DONE]")
        assert "tool-output-error" in outline(chat.body)
        async with app.prompt("hello") as chat:
            await chat.sees("[DONE]")
        assert said(chat.body) == "You said: hello"


async def test_an_abort_ends_a_turn_that_waits_and_no_other(url: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    channel = {"channelType": "web", "channelId": "default"}
    async with connect(url.format(session_id="queue"), additional_headers=headers) as line:
        for number, content in enumerate(("tell me a story", "hello", "hello again")):
            prompt = {"type": "prompt", "content": content, "promptId": f"p{number}"}
            await line.send(json.dumps(prompt | channel))
        await line.send(json.dumps({"type": "abort", "promptId": "p1"} | channel))
        ends: dict[str, str] = {}
        async for text in line:
            frame = json.loads(text)
            if frame["type"] == "message.finalize":
                ends[frame["turnId"]] = frame["reason"]
                if len(ends) == 3:
                    break
        async with connect(url.format(session_id="queue"), additional_headers=headers) as other:
            init = json.loads(await other.recv())

    assert list(ends.items()) == [("p1", "canceled"), ("p0", "end_turn"), ("p2", "end_turn")]
    turns = [entry for entry in init["session"]["messages"] if entry["role"] == "assistant"]
    assert [[part["type"] for part in turn["parts"]] for turn in turns] == [
        ["text", "finish"],
        ["text", "finish"],
        ["text", "finish"],
    ]


async def test_a_prompt_that_waits_for_longer_than_an_agent_may_be_silent_is_answered(
    url: str,
) -> None:
    async with Gateway(url, given=SERVICE, idle_s=2) as gateway:
        app = App(gateway, session="patient")
        async with app.prompt("tell me a story") as first:
            await first.sees("Line 3 ")
            async with app.prompt("hello") as second:
                await second.sees("[DONE]")
            await first.sees("[DONE]")

    assert said(second.body) == "You said: hello"
    assert is_whole(first.body)


async def test_an_abort_that_names_nothing_is_ignored(url: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    channel = {"channelType": "web", "channelId": "default"}
    async with connect(url.format(session_id="nothing"), additional_headers=headers) as line:
        for frame in (
            {"type": "abort"},
            {"type": "abort", "turnId": "over", "promptId": ""},
            {"type": "prompt", "content": "hello", "promptId": "p0"},
        ):
            await line.send(json.dumps(frame | channel))
        kinds = [json.loads(await line.recv())["type"] for _ in range(4)]

    assert kinds == ["init", "message.create", "message.part.text-delta", "message.finalize"]


@pytest.mark.parametrize("script", [ASKS], indirect=True)
@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        (True, "notes.txt is gone."),
        ("approve", "notes.txt is gone."),
        ({"approved": True, "reason": "why not"}, "notes.txt is gone."),
        (False, "It stays."),
        ("deny", "It stays."),
        (1, "It stays."),
    ],
)
async def test_a_call_waits_for_its_user(url: str, answer: object, ends: str) -> None:
    async with Gateway(url, given=SERVICE) as gateway:
        app = App(gateway, session=f"call-{abs(hash(str(answer)))}", user="ann")
        async with app.prompt("delete notes.txt") as chat:
            question = await question_id(chat)
            bob = App(gateway, session=f"call-{abs(hash(str(answer)))}", user="bob")
            assert (await bob.answer(question, answer)).status_code == 404
            assert (await app.answer(question, answer)).status_code == 202
            await chat.sees("[DONE]")
        assert said(chat.body) == ends
        assert (await app.answer(question, answer)).status_code == 409
    states = [
        chunk["data"]["state"] for chunk in chunks(chat.body) if chunk["type"] == "data-question"
    ]
    assert states == ["open", "resolved"]


async def test_the_first_of_two_answers_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both come before the call goes on."""
    monkeypatch.syspath_prepend(EXAMPLES)
    session = runpy.run_path(str(EXAMPLES / ASKS))["AskingSession"]()
    names = {"promptId": "p0", "channelType": "web", "channelId": "default"}
    session.receive({"type": "prompt", "content": "delete notes.txt"} | names, "ann")
    await until(lambda: session.answers)
    (question,) = session.answers
    for answer in (True, False):
        session.receive({"type": "answer", "questionId": question, "answer": answer}, "ann")
    await until(lambda: not session.tasks)

    _, turn = session.messages
    assert {"type": "text", "text": "notes.txt is gone."} in turn["parts"]


@pytest.mark.parametrize("script", [ASKS], indirect=True)
async def test_a_question_of_a_turn_that_is_stopped_expires(url: str) -> None:
    async with Gateway(url, given=SERVICE) as gateway:
        app = App(gateway, session="expired")
        async with app.prompt("delete notes.txt") as chat:
            question = await question_id(chat)
            await app.stop()
            await chat.sees("[DONE]")
        assert (await app.answer(question, answer=True)).status_code == 409


async def test_nobody_else_comes_in(url: str) -> None:
    async with (
        Gateway(url, given=SERVICE | {"agent_token": TOKEN[::-1]}) as gateway,
        App(gateway).prompt("hello") as chat,
    ):
        assert chat.response.status_code == 503


def test_it_passes_what_the_page_says(port: int, script: str) -> None:
    (command,) = [code for name, code in blocks(PAGE).items() if name == "conform"]
    environ = inherited() | {"TURNWIRE_AGENT_AUTH": "service", "TURNWIRE_AGENT_TOKEN": TOKEN}
    (passed,) = re.findall(r"passes all (\d+) scenarios", PAGE)
    ((option, passed_without),) = re.findall(r"without `(--[\w-]+)` it passes (\d+)", PAGE)
    words = shlex.split(command.replace("8765", str(port)).replace("\\\n", " "))
    if script == PLAIN:
        passed = passed_without
        place = words.index(option)
        del words[place : place + 2]
    ran = subprocess.run(
        [sys.executable, "-m", *words],
        env=environ | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    (left,) = re.findall(r"Not applicable are (.+?)\.", PAGE, re.DOTALL)

    assert f"\n{passed} passed, 0 failed, " in ran.stdout, ran.stdout + ran.stderr
    not_applicable = re.findall(r"^- +([\w-]+)", ran.stdout, re.MULTILINE)
    assert set(not_applicable) >= set(re.findall(r"`([\w-]+)`", left))
    assert "Notes" not in ran.stdout
