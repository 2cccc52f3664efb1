"""How a stream ends when it is the agent's doing."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only, stay_silent
from gateway.clients import chatting, errors, is_whole, outline, post, said
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.testing.client_model import Client

pytestmark = pytest.mark.sockets


async def _close(line: Line) -> None:
    await line.connection.close(1000)


async def _close_going_away(line: Line) -> None:
    await line.connection.close(1001, "restarting")


async def _cut(line: Line) -> None:
    line.cut()


def _raw(data: bytes) -> Callable[[Line], Awaitable[None]]:
    async def broken(line: Line) -> None:
        await line.raw(data)

    return broken


DELTA = frames.text(frames.delta("never seen")).encode()


@pytest.mark.parametrize(
    ("leave", "why"),
    [
        pytest.param(_close, "closed 1000", id="closes cleanly"),
        pytest.param(_close_going_away, "closed 1001", id="goes away"),
        pytest.param(_cut, "line_lost None", id="is cut"),
        pytest.param(
            _raw(frames.raw(b"bytes", opcode=2)), "binary None", id="sends a binary frame"
        ),
        pytest.param(_raw(frames.raw(b'"\xff"')), "not_utf8 None", id="sends what is not UTF-8"),
        pytest.param(_raw(frames.raw(DELTA, rsv=4)), "broken None", id="sets a reserved bit"),
        pytest.param(_raw(frames.raw(DELTA, mask=True)), "broken None", id="masks its frame"),
        pytest.param(
            _raw(frames.raw(DELTA, opcode=3)), "broken None", id="sends a reserved opcode"
        ),
        pytest.param(
            _raw(frames.raw(DELTA, opcode=0)), "broken None", id="continues what it never began"
        ),
        pytest.param(
            _raw(frames.raw(DELTA, fin=False) * 2), "broken None", id="begins anew amid a frame"
        ),
        pytest.param(
            _raw(frames.raw(b"x" * 126, opcode=9)),
            "broken None",
            id="sends a ping that is too long",
        ),
        pytest.param(
            _raw(frames.raw(b"\3", opcode=8)), "broken None", id="sends half a close code"
        ),
        pytest.param(
            _raw(frames.raw(b"\3\xe8\xff", opcode=8)), "not_utf8 None", id="closes with bad UTF-8"
        ),
        pytest.param(_raw(frames.raw(b" " * 70_000)), "too_big None", id="sends too long a frame"),
        pytest.param(
            _raw(frames.raw(b" " * 40_000, fin=False) + frames.raw(b" " * 40_000, opcode=0)),
            "too_big None",
            id="sends too long a frame in pieces",
        ),
        pytest.param(
            _raw(b"\x81\xff" + b"\xff" * 8), "broken None", id="announces a frame without end"
        ),
    ],
)
@pytest.mark.fault(
    "the agent closes in mid-turn, or breaks the WebSocket protocol", "“Stream interrupted”"
)
async def test_an_agent_that_leaves_or_breaks_the_wire_interrupts_the_stream(
    leave: Callable[[Line], Awaitable[None]], why: str
) -> None:
    async def script(line: Line) -> None:
        await begin_only(line)
        await leave(line)

    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), frame_bytes=65_536) as gateway,
    ):
        with capture_logs() as log:
            response = await post(gateway)
            await until(lambda: any(line["event"] == "stream ended" for line in log))

        assert response.status_code == 200
        assert said(response.text) == "Hello"
        (ended,) = (line for line in log if line["event"] == "stream ended")
        assert f"{ended['agent_left']} {ended['close_code']}" == why
        assert errors(response.text) == ["Stream interrupted"]
        assert outline(response.text)[-4:] == ["text-end", "finish-step", "error", "finish"]
        assert is_whole(response.text)
        await until(lambda: gateway.ended("interrupted") == 1)
        await until(lambda: agent.lines[0].closed)


@pytest.mark.fault(
    "the agent closes while a question is open",
    "the question ends as `expired`, then “Stream interrupted”; if the agent kept it, the next"
    " resume shows it as `open` again",
)
async def test_an_agent_that_leaves_its_question_open_lets_it_expire() -> None:
    async def script(line: Line) -> None:
        await begin_only(line)
        await line.say({"type": "question", "questionId": "q1", "text": "Tea?"})
        await line.connection.close(1001)

    async with ScriptedAgent(script) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    client = Client()
    client.read(response.content)
    client.close()
    assert client.questions == {"q1": "expired"}
    assert errors(response.text) == ["Stream interrupted"]
    assert outline(response.text)[-3:] == ["finish-step", "error", "finish"]


async def test_what_was_sound_before_the_wire_broke_is_shown() -> None:
    async def script(line: Line) -> None:
        await line.begin()
        good = frames.raw(frames.text(frames.delta("good")).encode())
        await line.raw(good + frames.raw(b'"\xff"') + good)

    async with ScriptedAgent(script) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert said(response.text) == "good"
    assert errors(response.text) == ["Stream interrupted"]


async def test_a_clean_close_before_the_turn_began_is_no_finish() -> None:
    async with ScriptedAgent(_close) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert outline(response.text) == ["start", "error", "finish"]
    assert errors(response.text) == ["Stream interrupted"]


async def test_an_error_of_the_agent_is_told_in_its_words() -> None:
    async def fail(line: Line) -> None:
        await begin_only(line)
        await line.say({"type": "error", "message": "no\x07 credit" + "x" * 3000})

    async with ScriptedAgent(fail) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    (told,) = errors(response.text)
    assert told.startswith("no credit")
    assert len(told) == 2000
    assert is_whole(response.text)
    await until(lambda: gateway.ended("failed") == 1)


async def test_a_bare_error_before_the_turn_is_heard_at_once() -> None:
    async def refuse(line: Line) -> None:
        await line.prompt()
        await line.say({"type": "error", "error": "read only"})

    async with ScriptedAgent(refuse) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert errors(response.text) == ["read only"]
    await until(lambda: gateway.ended("failed") == 1)


@pytest.mark.parametrize(
    ("reason", "last", "outcome"),
    [("error", "error", "failed"), ("canceled", "abort", "canceled")],
)
async def test_a_finalize_with_another_reason_is_told(reason: str, last: str, outcome: str) -> None:
    async def finish(line: Line) -> None:
        await begin_only(line)
        await line.say(frames.finalize(reason=reason, error="why"))

    async with ScriptedAgent(finish) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert outline(response.text)[-2:] == [last, "finish"]
    await until(lambda: gateway.ended(outcome) == 1)


@pytest.mark.fault(
    "the agent sends nothing", "abort, “Agent stopped responding” after `TURNWIRE_IDLE_S`"
)
async def test_silence_ends_the_stream_and_aborts_the_turn() -> None:
    async with ScriptedAgent(begin_only) as agent, Gateway(agent.url(), idle_s=0.2) as gateway:
        response = await post(gateway)
        line = agent.lines[0]
        await until(lambda: line.closed)

        assert errors(response.text) == ["Agent stopped responding"]
        assert [frame["turnId"] for frame in line.aborts] == [frames.TURN]
        await until(lambda: gateway.ended("silent") == 1)


async def test_an_agent_that_never_begins_is_silent_too_and_hears_an_abort() -> None:
    async with ScriptedAgent(stay_silent) as agent, Gateway(agent.url(), idle_s=0.2) as gateway:
        response = await post(gateway)
        line = agent.lines[0]
        await until(lambda: line.closed)

        assert outline(response.text) == ["start", "error", "finish"]
        assert errors(response.text) == ["Agent stopped responding"]
        assert len(line.aborts) == 1


@pytest.mark.fault("the agent never completes a frame", "as if the agent sent nothing")
async def test_an_unfinished_fragment_is_silence() -> None:
    async def half(line: Line) -> None:
        await begin_only(line)
        await line.raw(frames.raw(DELTA, fin=False))

    async with ScriptedAgent(half) as agent, Gateway(agent.url(), idle_s=0.2) as gateway:
        response = await post(gateway)

    assert errors(response.text) == ["Agent stopped responding"]


@pytest.mark.parametrize(
    ("limit", "busy"),
    [
        ("tool_silence_s", [frames.running_tool()]),
        ("question_wait_s", [{"type": "question", "questionId": "q1", "text": "sure?"}]),
    ],
)
async def test_while_a_tool_runs_or_a_question_is_open_another_limit_holds(
    limit: str, busy: list[frames.Json]
) -> None:
    async def wait(line: Line) -> None:
        await line.begin()
        await line.say(*busy)

    async with (
        ScriptedAgent(wait) as agent,
        Gateway(agent.url(), given={"idle_s": 0.05, limit: 0.4}) as gateway,
        chatting(gateway) as chat,
    ):
        line = await agent.line()
        await chat.sees("start-step")
        body = await chat.end()

        assert errors(body) == ["Agent stopped responding"]
        await until(lambda: line.aborts)
        assert line.heard_at[-1] - line.heard_at[0] >= 0.39


@pytest.mark.fault("the turn does not end", "abort, “Turn took too long” after `TURNWIRE_TURN_S`")
async def test_a_turn_that_takes_too_long_is_aborted() -> None:
    async def talk_on(line: Line) -> None:
        await line.begin()
        while True:
            await line.say(frames.delta("and "))
            await asyncio.sleep(0.005)  # so that the others run too

    async with ScriptedAgent(talk_on) as agent, Gateway(agent.url(), turn_s=0.3) as gateway:
        response = await post(gateway)
        await until(lambda: agent.lines[0].closed)

        assert errors(response.text) == ["Turn took too long"]
        assert len(agent.lines[0].aborts) == 1
        await until(lambda: gateway.ended("too_long") == 1)
