"""Connections that are kept for the next request, and requests that are sent once more."""

import asyncio

import pytest

from gateway.asking_agent import call
from gateway.clients import (
    chatting,
    errors,
    is_whole,
    post,
    said,
)
from gateway.http_agent import (
    LONG_TEXT,
    Asked,
    HttpAgent,
    answers,
    gateway_of,
    pool_of,
    post_long,
)
from gateway.running import Gateway
from gateway.waiting import until
from support.http_dialect import (
    BEGUN,
    CHUNKED,
    END,
    WHOLE,
    HttpDialect,
    chunk,
    chunked,
    events,
)
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.http.pool import REST_S
from turnwire.relay.agent.http.reads import PIECE_BYTES

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


def requests_of(gateway: Gateway) -> dict[str, float]:
    """How many requests went on connections of each kind, as the metrics say it."""
    name = "turnwire_agent_requests_total"
    return {each: gateway.counted(name, connection=each) for each in ("new", "kept", "again")}


async def test_the_next_request_goes_on_the_same_connection() -> None:
    async with HttpAgent(answers(chunked(WHOLE))) as agent, gateway_of(agent) as gateway:
        for _ in range(3):
            assert is_whole((await post(gateway)).text)
        assert requests_of(gateway) == {"new": 1, "kept": 2, "again": 0}
        assert gateway.counted("turnwire_agent_connections_kept") == 1

    assert [asked.connection for asked in agent.requests] == [0, 0, 0]


async def test_two_requests_at_once_have_a_connection_each() -> None:
    both = asyncio.Barrier(2)

    async def script(asked: Asked) -> None:
        await both.wait()
        await asked.say(chunked(WHOLE))

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        for _ in range(2):
            await asyncio.gather(post(gateway, session="s1"), post(gateway, session="s2"))

    assert sorted(asked.connection for asked in agent.requests) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "response",
    [
        chunked(WHOLE).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1),
        chunked(WHOLE).replace(b"HTTP/1.1", b"HTTP/1.0"),
        chunked(WHOLE) + b"HTTP/1.1 200 OK\r\n",
        chunked(WHOLE) + b"x",
        CHUNKED + chunk(WHOLE) + b"no chunk",
    ],
)
async def test_a_connection_that_may_not_be_used_again_is_not(response: bytes) -> None:
    async with HttpAgent(answers(response)) as agent, gateway_of(agent) as gateway:
        for _ in range(2):
            assert is_whole((await post(gateway)).text)

    assert [asked.connection for asked in agent.requests] == [0, 1]


@pytest.mark.parametrize(("seconds", "connections"), [(1, [0, 1]), (60, [0, 0])])
async def test_a_server_says_for_how_long_it_keeps_a_connection(
    seconds: int, connections: list[int]
) -> None:
    head = b"\r\nKeep-Alive: timeout=%d\r\n\r\n" % seconds
    response = chunked(WHOLE).replace(b"\r\n\r\n", head, 1)
    async with HttpAgent(answers(response)) as agent, gateway_of(agent) as gateway:
        for _ in range(2):
            assert is_whole((await post(gateway)).text)

    assert [asked.connection for asked in agent.requests] == connections


STRAY = chunked(events("Another user's answer"))


@pytest.mark.parametrize("length", [0, 20_000, 100_000, 1_000_000], ids=str)
@pytest.mark.fault(
    "an HTTP agent sends more than one response to a request",
    "the connection is closed; the next request has its own answer, on another connection",
)
async def test_a_second_response_to_a_request_answers_no_other(length: int) -> None:
    """The first one ends anywhere in the reads, and in the pieces of long ones."""
    first = events("x" * length)

    async def script(asked: Asked) -> None:
        is_first = len(agent.requests) == 1
        await asked.say(chunked(first) + STRAY if is_first else chunked(WHOLE))

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        assert said((await post(gateway)).text) == "x" * length
        assert said((await post(gateway)).text) == "Hello world"

    assert [asked.connection for asked in agent.requests] == [0, 1]


@pytest.mark.parametrize("beyond", [-1, 0, 1])
async def test_no_byte_behind_a_response_reaches_the_next_one(beyond: int) -> None:
    """The response ends about where a piece of a long read does."""
    whole = chunked(events("x" * 16_000))
    padding = PIECE_BYTES - len(whole) - len(b"x-pad: \r\n") + beyond
    response = whole.replace(b"\r\n", b"\r\nx-pad: %b\r\n" % (b"p" * padding), 1)
    assert len(response) == PIECE_BYTES + beyond

    async def script(asked: Asked) -> None:
        is_first = len(agent.requests) == 1
        await asked.say(response + STRAY if is_first else chunked(WHOLE))

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        for text in ("x" * 16_000, "Hello world"):
            assert said((await post(gateway)).text) == text

    assert [asked.connection for asked in agent.requests] == [0, 1]


@pytest.mark.parametrize("stray", [STRAY, STRAY[:1], b"HTTP/1.1 408 Late\r\n\r\n"])
@pytest.mark.fault(
    "an HTTP agent sends bytes on a connection that waits for its next request",
    "the connection is closed; the next request goes on another one",
)
async def test_what_comes_between_two_requests_answers_none(stray: bytes) -> None:
    async with HttpAgent(answers(chunked(WHOLE))) as agent, gateway_of(agent) as gateway:
        await post(gateway)
        await agent.requests[0].say(stray)
        assert said((await post(gateway)).text) == "Hello world"

    assert [asked.connection for asked in agent.requests] == [0, 1]


async def test_the_connection_of_a_turn_that_a_user_stops_is_closed() -> None:
    async with (
        HttpAgent(answers(CHUNKED + chunk(BEGUN))) as agent,
        gateway_of(agent) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        stopped = await call(gateway, "stop", {})
        # Not after the time that the rest of a response gets.
        async with asyncio.timeout(REST_S / 2):
            await agent.all_left()

    assert stopped.status_code == 200


async def test_the_connection_of_a_cut_turn_is_not_used_again() -> None:
    async with (
        HttpAgent(answers(CHUNKED + chunk(BEGUN))) as agent,
        gateway_of(agent) as gateway,
    ):
        for _ in range(2):
            async with chatting(gateway) as chat:
                await chat.sees("Hello")
        await agent.all_left()

    assert [asked.connection for asked in agent.requests] == [0, 1]


async def test_the_end_of_a_response_may_come_after_the_end_of_its_turn() -> None:
    """The agent still works then: its connection is not closed, and used again."""
    is_told = asyncio.Event()

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(WHOLE))
        await is_told.wait()
        await asked.say(chunk(b"data: whatever\n\n"), END)

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        assert is_whole((await post(gateway)).text)
        await gateway.has_ended("completed")
        assert agent.open == 1
        is_told.set()
        await until(lambda: len(pool_of(gateway)) == 1)
        assert is_whole((await post(gateway)).text)

    assert [asked.connection for asked in agent.requests] == [0, 0]


async def test_responses_that_never_end_after_their_turns_hold_few_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnwire.relay.agent.http.pool.RESTS_MAX", 2)

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED)
        await asked.say(chunk(WHOLE))

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        for _ in range(5):
            assert is_whole((await post(gateway)).text)
        await until(lambda: agent.open == 2)

    assert len(agent.requests) == 5


async def test_a_slice_that_ends_with_the_turn_does_not_end_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a slow machine each step is a slice: the last one is still to be run as the turn ends."""
    monkeypatch.setattr("turnwire.relay.rounds.SLICE_S", 0.0)
    is_told = asyncio.Event()

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(WHOLE))  # the head comes with all frames: work for slices
        await is_told.wait()
        await asked.say(END)

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        assert is_whole((await post(gateway)).text)
        await gateway.has_ended("completed")
        is_told.set()
        await until(lambda: len(pool_of(gateway)) == 1)

        assert agent.open == 1


async def test_an_idle_connection_that_the_agent_closed_is_not_used() -> None:
    async with HttpAgent(answers(chunked(WHOLE))) as agent, gateway_of(agent) as gateway:
        await post(gateway)
        agent.close_all()
        assert is_whole((await post(gateway)).text)

    assert [asked.connection for asked in agent.requests] == [0, 1]


@pytest.mark.fault(
    "a kept connection is closed by the HTTP agent as the next request arrives",
    "“Connection failed”: the agent may have begun, so nothing is sent twice",
)
async def test_a_request_that_meets_the_close_of_its_connection_is_not_sent_again() -> None:
    """The agent may have begun: it has the whole request."""

    async def script(asked: Asked) -> None:
        if len(agent.requests) == 1:
            await asked.say(chunked(WHOLE))
        else:
            asked.close()

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        await post(gateway)
        answer = await post(gateway)

    assert errors(answer.text) == ["Connection failed"]
    assert [asked.connection for asked in agent.requests] == [0, 0]


@pytest.mark.fault(
    "a kept connection is reset before the whole request is sent",
    "the request is sent again on a new connection",
)
async def test_a_request_that_was_not_sent_whole_is_sent_again_on_another_connection() -> None:
    async def script(asked: Asked) -> None:
        if len(agent.requests) == 1:
            agent.reads_body = False
            await asked.say(chunked(WHOLE))
        elif len(agent.requests) == 2:
            agent.reads_body = True
            asked.reset()
        else:
            await asked.say(chunked(WHOLE))

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        await post(gateway)
        answer = await post_long(gateway)
        assert requests_of(gateway) == {"new": 1, "kept": 1, "again": 1}

    assert is_whole(answer.text), answer.text
    assert [asked.connection for asked in agent.requests] == [0, 0, 1]
    assert LONG_TEXT.encode() in agent.requests[2].body


async def test_a_request_on_a_new_connection_is_never_sent_again() -> None:
    async def script(asked: Asked) -> None:
        asked.reset()

    async with HttpAgent(script, reads_body=False) as agent, gateway_of(agent) as gateway:
        answer = await post_long(gateway)

    assert errors(answer.text) == ["Connection failed"]
    assert len(agent.requests) == 1


async def test_a_second_connection_that_cannot_be_made_is_a_failed_dial() -> None:
    async def script(asked: Asked) -> None:
        if len(agent.requests) == 1:
            agent.reads_body = False
            await asked.say(chunked(WHOLE))
        else:
            agent.stop_listening()
            asked.reset()

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        await post(gateway)
        answer = await post_long(gateway)
        assert gateway.counted("turnwire_dial_failures_total", reason="connect") == 1

    assert errors(answer.text) == ["Connection failed"]
    assert len(agent.requests) == 2
