"""The frames that docs/v2.md shows are those that a gateway sends, and reads."""

import base64
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec
import pytest

from docs.wire_page import INIT, SENT, TEXT, table
from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only, stay_silent
from gateway.agent import answer as end_at_once
from gateway.clients import Json, ask, chatting, chunks, new_client
from gateway.reading import App
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.dialects.v2 import commands
from turnwire.dialects.v2.frames import KNOWN, InitData, Skipped
from turnwire.dialects.v2.init import Entry, Part

pytestmark = pytest.mark.sockets

FILE = {
    "type": "file",
    "mediaType": "text/plain",
    "filename": "hi.txt",
    "url": f"data:text/plain;base64,{base64.b64encode(b'hi').decode()}",
}


async def say_init(line: Line) -> None:
    await line.say(INIT)


async def say_two(line: Line) -> None:
    """Another turn waits for a question of the same id."""
    part = {"type": "question", "questionId": "q1", "text": "PIN?"}
    other = {"id": "turn-9", "role": "assistant", "channelId": "bobs", "parts": [part]}
    await line.say({**INIT, "session": {"messages": [*INIT["session"]["messages"], other]}})


async def run_until_abort(line: Line) -> None:
    """Run a turn that no prompt is known of."""
    await line.say({"type": "init", "data": {"runningTurnId": frames.TURN}})
    await until(lambda: line.aborts or line.closed)
    await line.say(frames.finalize(reason="canceled"))


async def prompted(gateway: Gateway, text: str = "hi", **fields: Any) -> None:
    body = ask(text, **fields)
    if text != "hi":
        body["messages"][-1]["parts"].append(FILE)
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/chat"
        response = await client.post(url, json=body, headers=bearer())
    assert response.status_code == 200


async def left(gateway: Gateway, sees: str) -> None:
    """A client that hangs up."""
    async with chatting(gateway) as chat:
        await chat.sees(sees)


async def approved(gateway: Gateway) -> None:
    assert (
        await App(gateway, user="ann").answer("q1", {"approved": False, "reason": "not today"})
    ).is_success


SENDERS: dict[str, tuple[Any, Callable[[Gateway], Awaitable[object]]]] = {
    "prompt": (end_at_once, lambda gateway: prompted(gateway, "What is in it?")),
    "regenerate": (
        end_at_once,
        lambda gateway: prompted(gateway, trigger="regenerate-message", messageId="a1"),
    ),
    "edit": (end_at_once, lambda gateway: prompted(gateway, messageId="m1")),
    "abort": (begin_only, lambda gateway: left(gateway, "Hello")),
    "abort before the turn": (stay_silent, lambda gateway: left(gateway, ": keepalive")),
    "abort by a stop": (run_until_abort, lambda gateway: App(gateway).stop()),
    "answer": (say_init, lambda gateway: App(gateway, user="ann").answer("q1", "yes")),
    "answer where the id is not unique": (
        say_two,
        lambda gateway: App(gateway, user="ann").answer("q1", "yes"),
    ),
    "answer to an approval": (say_init, approved),
}


@pytest.mark.parametrize("name", SENT)
async def test_a_frame_is_sent_as_the_page_shows_it(name: str) -> None:
    shown = SENT[name]
    script, act = SENDERS[name]

    async with ScriptedAgent(script) as agent, Gateway(agent.url(), verdict_s=0.2) as gateway:
        await act(gateway)
        line = await agent.line()
        await until(lambda: line.of_type(shown["type"]))

    (sent,) = line.of_type(shown["type"])
    if shown.get("promptId"):
        assert len(sent["promptId"]) == len(shown["promptId"])
        sent["promptId"] = shown["promptId"]  # made for each request
    assert list(sent.items()) == list(shown.items())


def test_every_frame_and_every_field_that_is_sent_is_on_the_page() -> None:
    kinds = [kind for kind in vars(commands).values() if _is_struct(kind)]
    told: dict[str, set[str]] = {}
    for frame in _each(list(SENT.values())):
        told.setdefault(frame.get("type", ""), set()).update(frame)

    for kind in kinds:
        tag = str(kind.__struct_config__.tag)
        assert told[tag] - {"type"} == set(_names(kind)), tag
    assert {row[0].strip("`?") for row in table("`prompt`")} >= {"content", "promptId"}


def test_every_field_of_init_that_is_read_is_on_the_page() -> None:
    shown = {name for value in _each([INIT]) for name in value}
    tables = {name for name in (*_names(Entry), *_names(Part)) if f"`{name}" in TEXT}

    assert {*_names(Entry), *_names(Part), *_names(InitData)} - shown - tables == {"turnwire:half"}


def test_every_frame_that_is_read_is_in_the_table_with_its_fields() -> None:
    rows = {cell.strip("` "): row for cells, row in _read_rows() for cell in cells.split(",")}

    for kind in KNOWN:
        tag = str(kind.__struct_config__.tag)
        if not issubclass(kind, Skipped):
            assert [name for name in _names(kind) if name not in rows[tag]] == [], tag


async def test_the_init_of_the_page_is_understood() -> None:
    running = INIT["session"]["messages"][5]
    async with ScriptedAgent(say_init) as agent, Gateway(agent.url(), verdict_s=0.2) as gateway:
        app = App(gateway, user="ann")
        history = await app.messages()
        async with app.resume() as chat:
            await chat.sees('"questionId":"q1"')
        unknown = await app.answer("q9", "told live, and missing here")
        stopped = await app.stop()

        assert [line.heard for line in agent.lines[:3]] == [[], [], []]

    assert [(said["role"], said["id"]) for said in history] == [
        ("user", "m1"),
        ("assistant", "turn-1"),
        ("user", "m2"),
        ("assistant", "turn-2"),
        ("user", "m3"),
        ("user", "m4"),
    ]
    kinds = [part["type"].split("-")[0] for part in history[1]["parts"]]
    assert kinds == ["step", "reasoning", "tool", "step", "text", "source"]
    assert chunks(chat.body)[0]["messageId"] == running["id"]
    assert "Let me ask first." in chat.body.decode()
    assert unknown.status_code == 404
    assert stopped.json()["turnId"] == running["id"]
    (abort,) = agent.lines[3].aborts
    assert (abort["turnId"], abort["promptId"]) == (running["id"], running["promptId"])


@pytest.mark.parametrize("auth", ["forward", "service", "none"])
async def test_the_handshake_says_what_the_page_says(auth: str) -> None:
    rows = table("## Who may come in")
    (row,) = [cells for cells in rows if cells[0].startswith(f"`{auth}`")]
    given = {"agent_auth": auth} | ({"agent_token": "t" * 32} if auth == "service" else {})

    async with ScriptedAgent() as agent, Gateway(agent.url(), given=given) as gateway:
        await prompted(gateway)
        headers = agent.lines[0].headers

    assert ("authorization" in headers) is ("not sent" not in row[1])
    assert ("x-turnwire-user" in headers) is ("not sent" not in row[2])
    assert {"x-request-id", "user-agent"} <= set(map(str.lower, headers))


def _read_rows() -> list[tuple[str, str]]:
    return [(cells[0], "".join(cells[1:])) for cells in table("## Agent to gateway")[1:]]


def _is_struct(kind: object) -> bool:
    mine = isinstance(kind, type) and kind.__module__ == commands.__name__
    return mine and issubclass(kind, msgspec.Struct)  # type: ignore[arg-type]


def _names(kind: Any) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(kind)]


def _each(value: Any) -> Iterator[Json]:
    """Every object in a value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _each(inner)
