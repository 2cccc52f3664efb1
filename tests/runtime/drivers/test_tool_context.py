"""What a tool gets of its call: its key, and the epoch of whoever runs it."""

import asyncio
from collections.abc import Callable

from runtime.drivers.model_agent import calls, playing, results, says
from turnwire_agent.journal.port import Journal
from turnwire_agent.tools.contract import Context, Effect, Tool
from turnwire_agent.tools.functions import tool

REFUND = calls(("c1", "refund", '{"order": "o7", "amount": 1}'))


def refunds(made: list[str], seen: list[Context], *, hangs: bool = False) -> Tool:
    """A tool that makes a key with the next of some prefixes."""

    @tool(effect=Effect.KEYED, key=lambda order: f"{made.pop(0)}-{order}")
    async def refund(order: str, amount: int, context: Context) -> str:
        """Refund."""
        seen.append(context)
        await asyncio.sleep(60 if hangs else 0)
        return f"{amount} for {order}"

    return refund


async def test_another_process_runs_a_call_with_the_same_key_and_a_higher_epoch(
    opened: Callable[[], Journal],
) -> None:
    seen: list[Context] = []
    hanging = refunds(["one"], seen, hangs=True)
    async with (
        playing([REFUND], [hanging], journal=opened()) as play,
        play.host.socket() as socket,
    ):
        await socket.ask("Go")
        while not seen:  # noqa: ASYNC110 - a thread of its own runs it
            await asyncio.sleep(0.01)
    async with (
        playing([says("Done.")], [refunds(["two"], seen)], journal=opened()) as play,
        play.host.socket() as socket,
    ):
        await socket.turn("What now?", "p2")  # it waits for the first turn

    first, second = seen
    assert (first.key, second.key) == ("one-o7", "one-o7")
    assert first.epoch < second.epoch
    assert (first.session_id, first.call_id) == (second.session_id, second.call_id) == ("s1", "c1")


async def test_calls_of_several_sessions_reach_a_receiver_with_one_key() -> None:
    seen: list[Context] = []
    scripts = [REFUND, says("Done."), REFUND, says("Done.")]
    async with (
        playing(scripts, [refunds(["x", "x"], seen)]) as play,
        play.host.socket("s1") as one,
        play.host.socket("s2") as two,
    ):
        for socket in (one, two):
            assert results(await socket.turn("Go")) == {"c1": "1 for o7"}

    assert [(each.session_id, each.key) for each in seen] == [("s1", "x-o7"), ("s2", "x-o7")]


async def test_a_call_without_a_key_fails_and_the_turn_goes_on() -> None:
    seen: list[Context] = []
    scripts = [REFUND, says("Sorry.")]
    async with playing(scripts, [refunds([], seen)]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")

    assert results(frames) == {"c1": "Not run: the tool makes no valid key of these arguments."}
    assert seen == []
