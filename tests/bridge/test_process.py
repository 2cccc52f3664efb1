"""The process of a connection: lines, bounds, and that it ends with what it started."""

import asyncio
import os
import signal

import pytest

from bridge.programs import ECHO, PARENT, STUBBORN, leaving, program, runs, writing
from gateway.waiting import PATIENCE_S, until
from turnwire.bridge import process
from turnwire.bridge.process import AgentProcess, LineTooLongError, started

LIMIT = 1024
SILENT = "import time; time.sleep(60)"
CHATTY = (
    "import time\nfor n in range(12): print('line', n, flush=True); time.sleep(0.1)\ntime.sleep(60)"
)
"""Speaks for longer than the output of a process that ended may stay silent."""


async def lines(command: list[str], *, count: int) -> list[str]:
    found: list[str] = []
    async with started(command, LIMIT) as agent:
        async for line in agent.lines():
            found.append(line)
            if len(found) == count:
                break
    return found


async def test_each_message_is_a_line() -> None:
    async with started(ECHO, LIMIT) as agent:
        answers = agent.lines()
        for message in ('{"id":1}', '{\n "id":\r\n 2}', '{"text":"a\u2028b"}'):
            await agent.send(message)
        told = [await anext(answers) for _ in range(3)]

    assert told == ['got {"id":1}', 'got {  "id":   2}', 'got {"text":"a\u2028b"}']


async def test_lines_end_at_a_line_feed_alone_and_the_last_may_lack_it() -> None:
    said = r"b'one\r\n\n\ntwo \xe2\x80\xa8 \x0b\x85'.replace(b'\x85', b'') + b'\nhalf'"
    assert await lines(program(f"import sys; sys.stdout.buffer.write({said})"), count=9) == [
        *("one", "two \u2028 \x0b", "half")
    ]


@pytest.mark.parametrize("ending", [r"b'\n'", "b''"])
async def test_a_line_over_the_limit_ends_it(ending: str) -> None:
    with pytest.raises(LineTooLongError):
        await lines(writing(f"b'x' * {LIMIT + 1} + {ending} + b'y' * {LIMIT}"), count=1)
    assert await lines(writing(rf"b'x' * {LIMIT} + b'\n'"), count=1) == ["x" * LIMIT]


async def test_a_line_that_is_no_text_ends_it() -> None:
    with pytest.raises(UnicodeDecodeError):
        await lines(writing(r"b'\xff\n'"), count=1)


async def test_it_ends_by_the_end_of_its_input() -> None:
    async with started(ECHO, LIMIT) as agent:
        pass
    assert await agent.end() == 0
    assert not runs(agent.pid)


async def test_one_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE_S", 0.1)
    async with started(STUBBORN, LIMIT) as agent:
        assert await anext(agent.lines()) == "here"
    assert await agent.end() < 0


async def test_what_it_started_ends_with_it() -> None:
    async with started(PARENT, LIMIT) as agent:
        child = int(await anext(agent.lines()))
        assert runs(child)

    await until(lambda: not runs(child))


async def test_its_output_ends_with_it_though_a_child_holds_it_open() -> None:
    async with started(leaving(SILENT, "*['x' * 1000] * 300, 'bye'"), LIMIT) as agent:
        answers = agent.lines()
        held = int(await anext(answers))
        await asyncio.sleep(process.REST_S)  # a slow reader is waited for
        async with asyncio.timeout(PATIENCE_S):
            told = [line async for line in answers]
        assert runs(held)
    await until(lambda: not runs(held))

    assert "".join(told) == "x" * 300_000 + "bye"  # more than a pipe holds


async def test_what_a_child_goes_on_to_say_is_read_until_it_is_silent() -> None:
    """A command that starts the agent, and ends."""
    async with started(leaving(CHATTY, "'begun', ''"), LIMIT) as agent:
        answers = agent.lines()
        await anext(answers)
        async with asyncio.timeout(PATIENCE_S):
            told = [line async for line in answers]

    assert told == ["begun", *(f"line {n}" for n in range(12))]


async def test_it_ends_though_a_child_in_a_session_of_its_own_holds_its_pipes() -> None:
    # Nobody knows whose child that is: it is left alone, and it must hold nothing up.
    async with started(leaving(SILENT, "'bye'", session=True), LIMIT) as agent:
        child = int(await anext(agent.lines()))
    try:
        async with asyncio.timeout(PATIENCE_S):
            assert await agent.end() == 0
        assert runs(child)
    finally:
        os.kill(child, signal.SIGKILL)


async def test_it_ends_though_its_connection_is_cancelled() -> None:
    began: list[int] = []

    async def hold() -> None:
        async with started(ECHO, LIMIT) as agent:
            began.append(agent.pid)
            await asyncio.sleep(60)

    holding = asyncio.create_task(hold())
    await until(lambda: began != [])
    holding.cancel()
    await asyncio.wait([holding])

    await until(lambda: not runs(began[0]))


async def flood(agent: AgentProcess) -> None:
    for _ in range(100):
        await agent.send("x" * LIMIT)
        await asyncio.sleep(0.01)


async def test_one_that_is_gone_takes_no_message() -> None:
    async with started(program("pass"), LIMIT) as agent:
        assert [line async for line in agent.lines()] == []
        with pytest.raises(ConnectionError):
            await flood(agent)


async def test_it_gets_no_variable_of_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWIRE_AGENT_TOKEN", "canary")
    monkeypatch.setenv("OF_THE_SHELL", "kept")
    said = "import os; print('canary' in os.environ.values(), os.environ['OF_THE_SHELL'])"
    assert "canary" in os.environ.values()
    assert await lines(program(said), count=1) == ["False kept"]


async def test_a_command_that_is_none_cannot_be_started() -> None:
    with pytest.raises(FileNotFoundError):
        await lines(["./there-is-no-such-command"], count=1)
