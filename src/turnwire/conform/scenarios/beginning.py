"""The agent is there, and answers one prompt."""

import asyncio
from collections.abc import Sequence
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError, Given, NotApplicableError, Shared
from turnwire.conform.scenario import Scenario
from turnwire.core.operations import OperationName
from turnwire.core.rejection import Rejection
from turnwire.relay.agent.failures import DisconnectReason

ONE_TURN: Final = "one-turn"
"""The scenario without which hardly another one shows anything."""


def _speaks_first(given: Given) -> str | None:
    asked = {OperationName.RESUME, OperationName.HISTORY}
    return None if asked & given.dialect.operations else "before a prompt, this wire has no frame"


async def greets(bench: Bench) -> Sequence[str]:
    """Ask what needs no turn, and see how soon the agent has said what it says first."""
    patience, loop = bench.patience, asyncio.get_running_loop()
    first = "its first word"
    if OperationName.RESUME in bench.dialect.operations:
        began_at = loop.time()
        with bench.resuming() as play:
            is_over = await play.until(
                lambda: play.is_over or bool(play.timed_events),
                patience.greet_most_s + patience.dial_s,
            )
        if play.refused is not None or play.left is not None:
            raise FailedError(f"the connection {play.ending()}")
        is_silent = not is_over
        began_at = play.opened_at or began_at
    else:
        if not (await bench.shared(Shared.PLAIN)).is_completed:
            raise NotApplicableError("without a turn that is completed, it has no session to open")
        began_at, first = loop.time(), "the session with its history"
        is_silent = await bench.history() is Rejection.SILENT
    took_s = loop.time() - began_at
    if is_silent or took_s >= patience.greet_most_s:
        bench.has_greeting = False
        return [f"it says nothing before a prompt (waited for {took_s:.1f} s): no resume from it"]
    if took_s > patience.greet_s:
        raise FailedError(f"{first} came {took_s:.1f} s after the connection was open")
    return ()


async def answers(bench: Bench) -> Sequence[str]:
    """Play one turn."""
    play = await bench.shared(Shared.PLAIN)
    expect_completed(play)
    if not play.text:
        raise FailedError("the turn was completed without any text")
    return ()


async def is_quiet_after_the_end(bench: Bench) -> Sequence[str]:
    """See what comes after the end of a turn."""
    play = await bench.shared(Shared.PLAIN)
    if play.refused is not None:
        raise FailedError(f"the turn {play.ending()}")
    late = play.late_deltas(bench.dialect.schema, is_shared=not bench.given.closes_to_abort)
    if late:
        raise FailedError(f"{late} deltas of the turn came after its end")
    if not bench.given.closes_to_abort:
        return ()
    if play.left is None:
        return ["it keeps the response open after the end of the turn"]
    if play.left is not DisconnectReason.CLOSED:
        return [f"after the end of the turn, its response broke off ({play.left.value})"]
    return ()


SCENARIOS: Final = (
    Scenario(
        name="greets",
        tries="connect, and ask for a turn that runs, or for the history",
        expects="the first frame of the connection, such as `init`, within 2 s",
        matters="A client that reloads the page waits for this before it sees anything.",
        mend="Send the first frame as soon as a connection is open; load what is slow afterwards.",
        play=greets,
        looks_at=frozenset({Shared.PLAIN}),
        needs=(_speaks_first,),
    ),
    Scenario(
        name=ONE_TURN,
        tries="send a prompt",
        expects="a turn with text, and a verdict that it is complete",
        matters="Without a verdict, the client shows an error below an answer that may be whole.",
        mend="Send the frame that ends a turn in every case, as the last one of the turn.",
        play=answers,
        looks_at=frozenset({Shared.PLAIN}),
    ),
    Scenario(
        name="quiet-after-the-end",
        tries="keep the connection open after the end of a turn",
        expects="no delta of that turn",
        matters="What comes after the end is dropped: the user does not get it.",
        mend="End the turn after its last delta; await whatever still writes for it.",
        play=is_quiet_after_the_end,
        looks_at=frozenset({Shared.PLAIN}),
        after=(ONE_TURN,),
    ),
)
