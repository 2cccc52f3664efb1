"""Plays the scenarios, one after the other, and makes a report of what came of each."""

import asyncio
import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Final

import msgspec
from msgspec import Struct

from turnwire.config.settings import variable
from turnwire.conform.bench import Bench
from turnwire.conform.given import FailedError, Given, NotApplicableError
from turnwire.conform.scenario import Scenario
from turnwire.conform.scenarios import SCENARIOS
from turnwire.conform.words import WORDS
from turnwire.core.operations import OperationName
from turnwire.relay.agent.failures import DialFailure


class Verdict(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


_DENIALS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

CREDENTIALS: Final = (
    "Give this command what the agent accepts: the user's token by `--token-file`, or"
    f" `{variable('agent_auth')}=service` and `{variable('agent_token')}`."
)
PATH: Final = "Correct the path of the agent's URL, or the name of its model: nothing is there."
START: Final = "Start the agent, or correct the host and the port of its URL."
"""What to do where no connection opens, if that can be told."""


class Result(Struct, frozen=True, kw_only=True):
    """What came of one scenario; the JSON report has these fields."""

    name: str
    verdict: Verdict
    took_s: float = 0.0
    tried: str
    expected: str
    seen: str = ""
    """Of a failure."""
    matters: str
    mend: str
    words: str = ""
    """Of a failure: what the words of these texts are on the wire, if that is one of ours."""
    reason: str = ""
    """Why it is not applicable."""
    notes: Sequence[str] = ()
    """Habits that are no failure."""


class Report(Struct, frozen=True, kw_only=True):
    """All results."""

    dialect: str
    url: str
    turns: int
    """Prompts sent."""
    results: Sequence[Result]

    def of(self, verdict: Verdict) -> list[Result]:
        """Return the results with this verdict, in the order of play."""
        return [result for result in self.results if result.verdict is verdict]

    @property
    def is_well(self) -> bool:
        """Whether something was shown, and nothing failed."""
        return not self.of(Verdict.FAILED) and bool(self.of(Verdict.PASSED))


def chosen(only: Collection[str]) -> Mapping[str, Scenario]:
    """Return the scenarios of these names; all of them, if there are none."""
    return {name: each for name, each in SCENARIOS.items() if not only or name in only}


def cost(given: Given, only: Collection[str] = ()) -> int:
    """How many turns the applicable scenarios begin, if none of them fails."""
    playable = [each for each in chosen(only).values() if each.lack(given) is None]
    shared = {which for each in playable for which in each.looks_at}
    return len(shared) + sum(each.turns for each in playable)


async def play_all(
    bench: Bench,
    url: str,
    *,
    only: Collection[str] = (),
    on_result: Callable[[Result], object] = lambda _: None,
) -> Report:
    """Play the scenarios. `url` is for the report."""
    results: dict[str, Result] = {}
    for name, scenario in chosen(only).items():
        result = await _result(bench, scenario, results)
        results[name] = result
        on_result(result)
        if result.verdict is Verdict.FAILED:
            await _settle(bench)
    return Report(
        dialect=bench.dialect.name, url=url, turns=bench.turns, results=list(results.values())
    )


async def _result(bench: Bench, scenario: Scenario, before: Mapping[str, Result]) -> Result:
    lack = scenario.lack(bench.given) or _blocked(scenario, before)
    if lack is not None:
        return _result_of(scenario, Verdict.NOT_APPLICABLE, reason=lack)
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    bench.refusal = None
    try:
        notes = await scenario.play(bench)
    except FailedError as failure:
        took_s = loop.time() - began_at
        words = WORDS.get(bench.dialect.name, "")
        result = _result_of(scenario, Verdict.FAILED, took_s, seen=str(failure), words=words)
        way_in = None if bench.was_reached else _way_in(bench.refusal)
        if way_in is None:
            return result
        # None of its frames was seen, so the advice about them would mislead.
        return msgspec.structs.replace(result, mend=way_in, words="")
    except NotApplicableError as reason:
        took_s = loop.time() - began_at
        return _result_of(scenario, Verdict.NOT_APPLICABLE, took_s, reason=str(reason))
    return _result_of(scenario, Verdict.PASSED, loop.time() - began_at, notes=notes)


def _way_in(refusal: tuple[DialFailure, int | None] | None) -> str | None:
    """What to do where the agent was not reached. None: that cannot be told."""
    why, status = refusal or (None, None)
    if status in _DENIALS:
        return CREDENTIALS
    if status == HTTPStatus.NOT_FOUND:
        return PATH
    return START if why in {DialFailure.DNS, DialFailure.CONNECT} else None


def _blocked(scenario: Scenario, before: Mapping[str, Result]) -> str | None:
    """Why it would show nothing, after what came of others."""
    for name in scenario.after:
        if name in before and before[name].verdict is Verdict.FAILED:
            return f"it shows nothing before `{name}` is mended"
    return None


async def _settle(bench: Bench) -> None:
    """Wait until the turn is over that a failed scenario may have left, if the agent tells it."""
    if OperationName.RESUME not in bench.dialect.operations:
        return
    with bench.resuming() as play:
        await play.to_end(bench.patience.look_s)


def _result_of(
    scenario: Scenario,
    verdict: Verdict,
    took_s: float = 0.0,
    *,
    seen: str = "",
    words: str = "",
    reason: str = "",
    notes: Sequence[str] = (),
) -> Result:
    return Result(
        name=scenario.name,
        verdict=verdict,
        took_s=round(took_s, 3),
        tried=scenario.tries,
        expected=scenario.expects,
        seen=seen,
        matters=scenario.matters,
        mend=scenario.mend,
        words=words,
        reason=reason,
        notes=list(notes),
    )
