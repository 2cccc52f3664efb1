"""A turn that is not to go on: its client hung up, or stopped it; in time, or too late."""

import asyncio
from collections.abc import Sequence
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError, NotApplicableError, Shared
from turnwire.conform.play import Play
from turnwire.conform.scenario import Scenario, has_aborts, shows_aborts, shows_stops
from turnwire.conform.scenarios.abort_seen import expect_busy, expect_idle, idle_after
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.events import TextDelta, ToolUpdate
from turnwire.core.operations import OperationName, StopResult
from turnwire.core.turn import inputs

BEGUN_DELTAS: Final = 3
"""After so many deltas a turn is under way."""
_WAITS: Final = (
    "the answer began {:.1f} s later than without a hang-up before it: it seems to wait for "
    "the turn that nobody reads"
)
RETRY_S: Final = 0.25
"""Between two prompts to an agent that refuses them."""


async def aborts_at_a_hang_up(bench: Bench) -> Sequence[str]:
    """Hang up in mid-turn, and see when the agent says that the turn is over."""
    patience = bench.patience
    with bench.playing(bench.given.prompts.long) as play:
        await _under_way(bench, play)
        await expect_busy(bench, play)
        hung_up_at = asyncio.get_running_loop().time()
        play.hand(inputs.ClientLeft())
        if not bench.given.closes_to_abort:
            await play.until(lambda: play.finish is not None, patience.look_s)
        idle_s = await idle_after(bench, hung_up_at)
    if bench.given.closes_to_abort:
        expect_idle(bench, idle_s, patience.abort_s, "hang-up")
        return ()
    if play.finished_at is None:
        raise FailedError(f"{patience.look_s:.0f} s after the hang-up, the turn had no end")
    took_s = play.finished_at - hung_up_at
    if took_s > patience.abort_s:
        raise FailedError(f"the turn ended {took_s:.1f} s after the hang-up")
    expect_idle(bench, idle_s, patience.abort_s, "hang-up")
    if play.is_completed:
        return ["the turn that was aborted is told as completed, or was over just then"]
    return ()


async def stops_while_a_tool_runs(bench: Bench) -> Sequence[str]:
    """Stop a turn while one of its calls is open."""
    patience = bench.patience
    with bench.playing(bench.given.prompts.tool) as play:
        await play.until(lambda: play.is_over or bool(play.events(ToolUpdate)), patience.turn_s)
        if not play.open_calls() or play.is_over:
            await play.to_end(patience.turn_s)  # the next scenario finds an idle session
            raise NotApplicableError("the tool was over before a stop could come: take a slow one")
        await expect_busy(bench, play)
        stopped_at = asyncio.get_running_loop().time()
        problem = await _stop(bench, play)
        if not _shows_nothing(bench):
            await play.until(lambda: play.finish is not None, patience.stop_s)
        idle_s = await idle_after(bench, stopped_at)
    if _shows_nothing(bench):
        expect_idle(bench, idle_s, patience.stop_s, "stop")
        return ()
    if play.finished_at is None:
        raise FailedError(problem or f"{patience.stop_s:.1f} s after the stop, it had no end")
    took_s = play.finished_at - stopped_at
    if play.is_completed:
        if took_s <= patience.abort_s:
            return ["the turn was over before the stop could work: take a slower tool"]
        raise FailedError(f"the turn went on for {took_s:.1f} s, and was completed")
    if problem is not None:
        raise FailedError(problem)
    if took_s > patience.stop_s:
        raise FailedError(f"the turn ended {took_s:.1f} s after the stop")
    expect_idle(bench, idle_s, patience.stop_s, "stop")
    names = ", ".join(update.tool_name for update in play.open_calls().values())
    return [f"the call that was stopped is told no end: {names}"] if names else ()


async def answers_after_a_hang_up(bench: Bench) -> Sequence[str]:
    """Hang up in mid-turn, and send the next prompt at once."""
    patience, prompts, loop = bench.patience, bench.given.prompts, asyncio.get_running_loop()
    before = await bench.shared(Shared.PLAIN)
    expect_completed(before)
    with bench.playing(prompts.long) as play:
        await _under_way(bench, play)
        play.hand(inputs.ClientLeft())
    deadline = loop.time() + patience.abort_s
    while True:
        with bench.playing(prompts.plain) as again:
            await again.to_end(patience.turn_s)
        if again.is_completed:
            break
        is_refused = again.refused is not None or again.turn.rejection is not None
        if not is_refused or loop.time() > deadline:
            raise FailedError(f"the prompt after the hang-up {again.ending()}")
        await asyncio.sleep(RETRY_S)
    later_s = _waited_s(again) - _waited_s(before)
    if later_s <= patience.greet_most_s:
        return ()
    return [_WAITS.format(later_s)]


async def ignores_a_late_abort(bench: Bench) -> Sequence[str]:
    """Send the abort of a turn that is over, and then another prompt."""
    patience, prompts = bench.patience, bench.given.prompts
    with bench.playing(prompts.long) as first:
        await _under_way(bench, first)
        frames = first.abort_frames()
        if not frames:
            raise NotApplicableError("an abort of this turn might stop others, so none is sent")
        await first.to_end(patience.turn_s)
        expect_completed(first, "the first turn")
        first.send(frames)
        await asyncio.sleep(patience.settle_s)
    await bench.completed(prompts.plain, "the turn after a late abort")
    return ()


def _waited_s(play: Play) -> float:
    """How long the user waited for the first text of a completed turn, in seconds."""
    texts = (each.at for each in play.timed_events if isinstance(each.event, TextDelta))
    return next(texts, play.timed_events[-1].at) - play.began_at


def _shows_nothing(bench: Bench) -> bool:
    """Whether the wire itself does not show that a turn was stopped."""
    return bench.given.closes_to_abort and OperationName.STOP not in bench.dialect.operations


async def _under_way(bench: Bench, play: Play) -> None:
    """Wait until a turn has some deltas.

    Raises:
        FailedError: it was over before.

    """
    await play.until(
        lambda: play.is_over or len(play.events(TextDelta)) >= BEGUN_DELTAS, bench.patience.turn_s
    )
    if play.is_over or len(play.events(TextDelta)) < BEGUN_DELTAS:
        raise FailedError(f"the long turn {play.ending()}, before it could be stopped")


async def _stop(bench: Bench, play: Play) -> str | None:
    """Stop the turn, by the operation or in the stream. Return what was wrong with the answer."""
    if OperationName.STOP not in bench.dialect.operations:
        play.hand(inputs.Stopped())
        return None
    result = await bench.stop(play.turn.turn_id)
    if not isinstance(result, StopResult):
        return f"the stop was rejected: {result.value}"
    return None if result.stopped else f"the stop was answered with `{result.reason}`"


SCENARIOS: Final = (
    Scenario(
        name="hang-up-aborts",
        tries="send the long prompt, and hang up while it is answered",
        expects="the agent ends the turn within 1 s",
        matters="A turn that nobody reads costs its model's price, and may act in the world.",
        mend="Cancel the task of the turn when its abort comes; no call of a model may block that.",
        play=aborts_at_a_hang_up,
        turns=1,
        needs=(shows_aborts,),
        after=(ONE_TURN, "many-deltas"),
    ),
    Scenario(
        name="prompt-after-a-hang-up",
        tries="hang up while the long prompt is answered, and send another prompt",
        expects="that prompt is answered; it may be refused for 1 s at most",
        matters="A user who stops an answer to ask better cannot ask, or waits for the old answer.",
        mend="Cancel the turn when its connection closes, and release its session then.",
        play=answers_after_a_hang_up,
        turns=2,
        looks_at=frozenset({Shared.PLAIN}),
        after=(ONE_TURN, "many-deltas", "hang-up-aborts"),
    ),
    Scenario(
        name="stop-in-a-tool",
        tries="stop a turn while a tool of it runs",
        expects="the agent says within 2 s that the turn was stopped",
        matters="The user presses stop because of what the tool does.",
        mend="Let an abort cancel a tool that runs, and then send the end of call and turn.",
        play=stops_while_a_tool_runs,
        turns=1,
        needs=(shows_stops,),
        after=(ONE_TURN, "tool-life", "hang-up-aborts"),
    ),
    Scenario(
        name="late-abort",
        tries="send an abort after the end of its turn, and then another prompt",
        expects="the other turn is completed",
        matters="A hang-up that loses a race takes away the answer to the next prompt.",
        mend="Drop an abort of a turn that is over; keep no mark of it for the next turn.",
        play=ignores_a_late_abort,
        turns=2,
        needs=(has_aborts,),
        after=(ONE_TURN, "many-deltas"),
    ),
)
