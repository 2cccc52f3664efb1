"""The life of a tool call: it begins, it ends, and it says whether it failed."""

from collections.abc import Sequence
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError, NotApplicableError, Shared
from turnwire.conform.play import Play
from turnwire.conform.scenario import Scenario, has_pings, prompt
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.events import Phase, ToolUpdate

BIG_BYTES: Final = 5_000_000
_HEARTBEAT: Final = (
    "many proxies cut a connection that is idle for 60 s; send a comment (on a WebSocket, a ping) "
    "every 15 s"
)
_TOOL_LIFE: Final = "tool-life"


async def ends_its_tools(bench: Bench) -> Sequence[str]:
    """Follow each call from its begin to its end."""
    play = await bench.shared(Shared.TOOL)
    expect_completed(play, "the turn with a tool")
    updates = _updates(play)
    _expect_ends(play)
    failed = {update.call_id: update for update in updates if update.phase is Phase.ERROR}
    if failed.keys() == {update.call_id for update in updates}:
        raise FailedError(f"no call succeeded: {next(iter(failed.values())).error}")
    notes = []
    if all(update.args is None for update in updates):
        notes.append("no call has an input: its user does not see what it was called with")
    ended = [update for update in updates if update.phase is Phase.COMPLETED]
    if ended and all(update.result is None for update in ended):
        notes.append("no call has a result: its user does not see what came of it")
    began = {update.call_id for update in updates if not update.phase.is_over}
    if began.isdisjoint(update.call_id for update in updates if update.phase.is_over):
        notes.append("calls are told when they are over: their user does not see them run")
    return [*notes, *no_heartbeat(bench.silence(play))]


async def answers_a_ping(bench: Bench) -> Sequence[str]:
    """See whether each ping that was sent in a turn with a tool has its pong."""
    play = await bench.shared(Shared.TOOL)
    pings, pong_s = bench.tool_pings, bench.patience.pong_s
    if not pings:
        raise NotApplicableError("the turn was over before a ping could be sent")
    last = pings[-1]  # after one without a pong, no other one is sent
    if last.answered_at is not None:
        took_s = last.answered_at - last.sent_at
        if took_s > pong_s:
            raise FailedError(f"a pong came {took_s:.1f} s after its ping, while a turn ran")
        return ()
    if play.left is not None:
        raise NotApplicableError(f"the connection ended ({play.left.value}) before a pong was due")
    raise FailedError(f"no pong came within {pong_s:.1f} s, nor to the end of the turn")


def no_heartbeat(silence: str | None) -> list[str]:
    """Return the note on a turn in which the agent sent nothing for long: a proxy may cut it."""
    if silence is None:
        return []
    return [f"{silence}: {_HEARTBEAT}"]


async def fails_a_tool(bench: Bench) -> Sequence[str]:
    """Make a tool fail."""
    with bench.playing(bench.given.prompts.failing_tool) as play:
        await play.to_end(bench.patience.turn_s)
    updates = _updates(play)
    _expect_ends(play)
    if play.finish is None:
        raise FailedError(f"the turn with a tool that failed {play.ending()}")
    if all(update.phase is not Phase.ERROR for update in updates):
        return ["no call failed, or one that did is told as a success: its user sees no error"]
    return []


async def sends_big_results(bench: Bench) -> Sequence[str]:
    """Make a tool return five megabytes."""
    with bench.playing(bench.given.prompts.big_output) as play:
        await play.to_end(bench.patience.turn_s)
    expect_completed(play, "the turn with a big result")
    results = [len(update.result) for update in _updates(play) if update.result is not None]
    biggest = max(results, default=0)
    if biggest < BIG_BYTES:
        raise FailedError(f"the longest result of a tool had {biggest:,} bytes")
    _expect_ends(play)
    return []


def _updates(play: Play) -> list[ToolUpdate]:
    updates = play.events(ToolUpdate)
    if not updates:
        raise FailedError(f"no tool was called, and the turn {play.ending()}")
    return updates


def _expect_ends(play: Play) -> None:
    """Check that each call has its end.

    Raises:
        FailedError: one has none.

    """
    if still_open := play.open_calls():
        names = ", ".join(sorted({update.tool_name for update in still_open.values()}))
        have = "call has" if len(still_open) == 1 else "calls have"
        raise FailedError(f"{len(still_open)} {have} no end ({names})")


SCENARIOS: Final = (
    Scenario(
        name=_TOOL_LIFE,
        tries="send the prompt that uses a tool",
        expects="a call that begins and ends well, and a turn that is completed after it",
        matters="The card of a call without an end spins for ever on the user's screen.",
        mend="Send the end of a call also where it fails, is refused or is cut off."
        " If the tool failed, give a `--tool-prompt` whose tool does not.",
        play=ends_its_tools,
        looks_at=frozenset({Shared.TOOL}),
        after=(ONE_TURN,),
    ),
    Scenario(
        name="answers-pings",
        tries="ping the WebSocket again and again in the turn that uses a tool",
        expects="each pong within 5 s",
        matters="Proxies and servers that ping think the agent is gone, and cut its user's turn.",
        mend="Let the WebSocket library answer pings, and no tool block the loop that it runs in.",
        play=answers_a_ping,
        looks_at=frozenset({Shared.TOOL}),
        needs=(has_pings,),
        after=(ONE_TURN, _TOOL_LIFE),
    ),
    Scenario(
        name="failing-tool",
        tries="send the prompt whose tool fails",
        expects="an end of the call, and of the turn; a note if a failure is reported as a success",
        matters="The user must see that something went wrong, and the turn must go on.",
        mend="Tell the failure as the error of the call, and let the model go on."
        " If no tool was called, give another `--failing-tool-prompt`.",
        play=fails_a_tool,
        turns=1,
        needs=(prompt("failing_tool"),),
        after=(ONE_TURN, _TOOL_LIFE),
    ),
    Scenario(
        name="big-tool-output",
        tries="send the prompt whose tool returns 5 MB",
        expects=f"a result of {BIG_BYTES:,} bytes or more, and a turn that is completed",
        matters="A tool that returns a long log or a web page ends the turn of its user.",
        mend="Send it in one frame below TURNWIRE_FRAME_BYTES; no limit of a proxy or a library.",
        play=sends_big_results,
        turns=1,
        needs=(prompt("big_output"),),
        after=(ONE_TURN, _TOOL_LIFE),
    ),
)
