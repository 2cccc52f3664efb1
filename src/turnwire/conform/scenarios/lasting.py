"""What shows after a while: a long silence, and a restart of the agent."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.command import run_command
from turnwire.conform.given import FailedError
from turnwire.conform.play import Play
from turnwire.conform.scenario import Scenario, long_run, prompt, restart
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.conform.scenarios.tools import no_heartbeat
from turnwire.core.events import DataPart, ToolUpdate

RETRY_S: Final = 0.25
"""Between two prompts to an agent that is restarted."""
_TOO_LONG: Final = "no event came for {:.0f} s, and a gateway gives up after {:.0f} s: see {}"
_NOTICE: Final = "notice"
"""The name of the parts in which a dialect tells the user what the agent does not."""


async def lasts_through_a_silence(bench: Bench) -> Sequence[str]:
    """Play a turn that is silent for longer than any proxy would wait."""
    patience = bench.patience
    with bench.playing(bench.given.prompts.quiet) as play:
        await play.to_end(patience.turn_s + patience.idle_s)
    silence = bench.silence(play)
    if not play.is_completed and silence is not None:
        raise FailedError(f"the turn with a silence {play.ending()}; {silence}")
    expect_completed(play, "the turn with a silence")
    longest_s, in_a_tool = _longest_silence(play)
    if longest_s < patience.idle_s:
        return [f"the turn was silent for {longest_s:.0f} s alone, which shows little"]
    limit_s, setting = bench.limit(in_a_tool=in_a_tool)
    too_long = [_TOO_LONG.format(longest_s, limit_s, setting)] * (longest_s > limit_s)
    return [*too_long, *no_heartbeat(silence)]


def _longest_silence(play: Play) -> tuple[float, bool]:
    """How long no event came, in seconds, and whether a tool ran meanwhile."""
    silences = [(play.timed_events[0].at - play.began_at, False)]
    running: set[str] = set()
    for each, following in pairwise(play.timed_events):
        if isinstance(each.event, ToolUpdate):
            change = running.discard if each.event.phase.is_over else running.add
            change(each.event.call_id)
        silences.append((following.at - each.at, bool(running)))
    return max(silences)


async def comes_back(bench: Bench) -> Sequence[str]:
    """Restart the agent between two turns."""
    patience, prompts = bench.patience, bench.given.prompts
    await bench.completed(prompts.plain, "the turn before the restart")
    code = await run_command(bench.given.choices.restart, patience.restart_s)
    if code is None:
        raise FailedError(f"--restart was not done after {patience.restart_s:.0f} s")
    if code:
        raise FailedError(f"--restart ended with exit code {code}")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience.restart_s
    while True:
        with bench.playing(prompts.plain) as play:
            await play.to_end(patience.turn_s)
        if play.is_completed:
            return [f"after the restart: {text}" for text in _notices(play)]
        if play.opened_at is not None or loop.time() > deadline:
            raise FailedError(f"the turn after the restart {play.ending()}")
        await asyncio.sleep(RETRY_S)


def _notices(play: Play) -> list[str]:
    """What the user is told beside the answer, as of a session that is gone."""
    notices = [part.data for part in play.events(DataPart) if part.name == _NOTICE]
    return [_notice(data).text for data in notices]


class _Notice(msgspec.Struct):
    text: str = ""


_notice = msgspec.json.Decoder(_Notice).decode


SCENARIOS: Final = (
    Scenario(
        name="restart",
        tries="complete a turn, restart the agent, and send another prompt",
        expects="the second turn is completed",
        matters="After a deployment the user's next prompt fails, or their session is gone.",
        mend="Keep sessions outside of the process; open the port when prompts can be taken.",
        play=comes_back,
        turns=2,
        needs=(restart,),
        after=(ONE_TURN,),
    ),
    Scenario(
        name="long-silence",
        tries="send the prompt after which the agent is silent for minutes",
        expects="the connection lasts, and the turn is completed",
        matters="A tool that runs for some minutes ends in an error, though it succeeds.",
        mend="Send a ping or an empty comment every 15 s; raise the idle limit of each proxy.",
        play=lasts_through_a_silence,
        turns=1,
        needs=(long_run, prompt("quiet")),
        after=(ONE_TURN,),
    ),
)
