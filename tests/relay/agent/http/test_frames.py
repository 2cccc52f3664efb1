"""Frames of a response: long ones, many ones, and those that no agent may send."""

import asyncio

import pytest

from gateway.clients import (
    errors,
    is_whole,
    post,
    said,
)
from gateway.http_agent import (
    Asked,
    HttpAgent,
    answers,
    gateway_of,
)
from support.http_dialect import (
    BEGUN,
    CHUNKED,
    HttpDialect,
    chunk,
    chunked,
    event,
    events,
)
from support.posting_dialect import Text
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


async def test_comments_are_no_life() -> None:
    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(BEGUN))
        while True:
            await asked.say(chunk(b": still here\n\n"))
            await asyncio.sleep(0.02)

    async with HttpAgent(script) as agent, gateway_of(agent, idle_s=0.3) as gateway:
        answer = await post(gateway)
        await agent.all_left()

    assert errors(answer.text) == ["Agent stopped responding"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"data: " + b"x" * 200_000 + b"\n\n", "too_big"),
        (b": " + b"x" * 200_000, "too_big"),
        (event(Text("x")).replace(b"x", b"\xff"), "not_utf8"),
        (event(Text("x" * 70_000)).replace(b"xxx", b"\xffxx"), "not_utf8"),
    ],
    ids=["event", "comment", "text", "long text"],
)
async def test_what_no_agent_may_send_ends_the_stream(
    data: bytes, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What came before it is shown."""
    async with (
        HttpAgent(answers(CHUNKED + chunk(BEGUN + data))) as agent,
        gateway_of(agent, frame_bytes=100_000) as gateway,
    ):
        answer = await post(gateway)
        await agent.all_left()

    assert said(answer.text) == "Hello" or why == "too_big"
    assert errors(answer.text) == ["Stream interrupted"]
    assert why in capsys.readouterr().out


@pytest.mark.parametrize("length", [65_400, 65_536, 70_000, 1_000_000])
@pytest.mark.parametrize("letter", ["x", "é"])
async def test_a_long_frame(length: int, letter: str) -> None:
    text = letter * length
    async with (
        HttpAgent(answers(chunked(events("a", text, "b")))) as agent,
        gateway_of(agent) as gateway,
    ):
        answer = await post(gateway)

    assert said(answer.text) == f"a{text}b"


async def test_thousands_of_events_in_a_read() -> None:
    texts = [str(number) for number in range(20_000)]
    async with (
        HttpAgent(answers(chunked(events(*texts)))) as agent,
        gateway_of(agent) as gateway,
    ):
        answer = await post(gateway)

    assert said(answer.text) == "".join(texts)
    assert is_whole(answer.text)


async def test_an_agent_that_stops_within_a_frame() -> None:
    part = event(Text("x" * 100_000))[:80_000]
    async with (
        HttpAgent(answers(CHUNKED + chunk(BEGUN) + chunk(part))) as agent,
        gateway_of(agent, stall_s=0.3, idle_s=600, keepalive_s=600) as gateway,
    ):
        answer = await post(gateway)
        await agent.all_left()
        await gateway.has_ended("interrupted")

    assert errors(answer.text) == ["Stream interrupted"]
