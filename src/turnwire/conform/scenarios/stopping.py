"""A turn that is not to go on: its client hung up, or stopped it; in time, or too late."""

import asyncio
from collections.abc import Sequence
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError, NotApplicableError
from turnwire.conform.play import Play
from turnwire.conform.scenario import Scenario, has_abort_verdict, has_stop_verdict
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.events import TextDelta, ToolUpdate
from turnwire.core.operations import OperationName, StopResult
from turnwire.core.turn import inputs

BEGUN_DELTAS: Final = 3
"""After so many deltas a turn is under way."""


async def aborts_at_a_hang_up(bench: Bench) -> Sequence[str]:
    """Hang up in mid-turn, and see when the agent says that the turn is over."""
    patience = bench.patience
    with bench.playing(bench.given.prompts.long) as play:
        await _under_way(bench, play)
        hung_up_at = asyncio.get_running_loop().time()
        play.hand(inputs.ClientLeft())
        await play.until(lambda: play.finish is not None, patience.look_s)
    if play.finished_at is None:
        raise FailedError(f"{patience.look_s:.0f} s after the hang-up, the turn had no end")
    took_s = play.finished_at - hung_up_at
    if took_s > patience.abort_s:
        raise FailedError(f"the turn ended {took_s:.1f} s after the hang-up")
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
        stopped_at = asyncio.get_running_loop().time()
        problem = await _stop(bench, play)
        await play.until(lambda: play.finish is not None, patience.stop_s)
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
    return [f"{len(play.open_calls())} calls were left open"] if play.open_calls() else ()


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
        needs=(has_abort_verdict,),
        after=(ONE_TURN, "many-deltas"),
    ),
    Scenario(
        name="stop-in-a-tool",
        tries="stop a turn while a tool of it runs",
        expects="the agent says within 2 s that the turn was stopped",
        matters="The user presses stop because of what the tool does.",
        mend="Let an abort cancel a tool that runs, and then send the end of call and turn.",
        play=stops_while_a_tool_runs,
        turns=1,
        needs=(has_stop_verdict,),
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
        needs=(has_abort_verdict,),
        after=(ONE_TURN, "many-deltas"),
    ),
)
