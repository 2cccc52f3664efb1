"""What all streams together may hold."""

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import chatting, post, said
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.relay.budget import Budget, Hold

BIG = 300_000


def test_what_is_held_counts_once_and_is_given_back() -> None:
    budget = Budget(100)
    one, other = Hold(budget), Hold(budget)

    assert one.set(60)
    assert one.set(60)
    assert not other.set(41)
    assert budget.held_bytes == 101
    assert other.set(30), "less than before is always allowed"
    assert other.set(40)
    one.set(0)
    other.set(0)
    assert budget.held_bytes == 0


def test_no_limit_refuses_nobody() -> None:
    assert Hold(Budget(0)).set(10**12)


def begun_frame(size: int) -> bytes:
    """The beginning of a text frame that promises so many bytes."""
    return bytes([0x81, 127]) + size.to_bytes(8, "big")


@pytest.mark.sockets
@pytest.mark.attack(
    "many agents send frames without end at once",
    "all share one budget of memory; whoever is over it ends",
)
async def test_frames_that_are_not_whole_count_and_whoever_comes_late_ends() -> None:
    async def half_a_frame(line: Line) -> None:
        await line.begin()
        parts = len(agent.lines)
        await line.raw(begun_frame(parts * 2 * BIG) + b" " * parts * BIG)

    async with ScriptedAgent(half_a_frame) as agent, Gateway(agent.url()) as gateway:
        budget = gateway.dialler.budget
        budget._most_bytes = 5 * BIG // 2
        async with chatting(gateway) as first:
            await until(lambda: budget.held_bytes >= BIG)
            late = await post(gateway, user="u2")

            assert "Stream interrupted" in late.text
            assert not first.ended
            await agent.lines[0].raw(b" " * BIG)
            await until(lambda: budget.held_bytes < BIG)
            await agent.lines[0].say(frames.finalize())
            await first.end()

        assert budget.held_bytes == 0


@pytest.mark.sockets
async def test_a_frame_in_many_pieces_counts_too() -> None:
    async def pieces(line: Line) -> None:
        await line.begin()
        await line.raw(
            frames.raw(b'{"type":"message.part.text-delta","turnId":"turn-1",', fin=False)
        )
        await line.raw(frames.raw(b" " * 100_000, opcode=0, fin=False))
        await until(lambda: line.closed or line.of_type("ping"))

    async with ScriptedAgent(pieces) as agent, Gateway(agent.url()) as gateway:
        budget = gateway.dialler.budget
        async with chatting(gateway) as chat:
            await until(lambda: budget.held_bytes > 100_000)
            line = agent.lines[0]
            await line.raw(frames.raw(b'"delta":"whole"}', opcode=0))
            await chat.sees("whole")
            assert budget.held_bytes == 0
            await line.say(frames.finalize())
            body = await chat.end()

    assert said(body) == "whole"
