"""Two prompts in one session."""

from collections.abc import Sequence
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError
from turnwire.conform.scenario import Scenario
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.turn.outcome import Outcome

_REFUSALS: Final = frozenset({409, 423, 429, 503})
"""HTTP statuses that ask to come again later."""


async def takes_two_prompts(bench: Bench) -> Sequence[str]:
    """Send a second prompt while the first one is answered."""
    patience, prompts = bench.patience, bench.given.prompts
    with bench.playing(prompts.long) as first:
        await first.until(lambda: first.is_over or bool(first.text), patience.turn_s)
        with bench.playing(prompts.plain) as second:
            await first.to_end(patience.turn_s)
            await second.to_end(patience.turn_s)
    expect_completed(first, "the first turn, beside which a second prompt came,")
    if second.is_completed:
        return ()
    is_refused = second.refused is not None and second.refused[1] in _REFUSALS
    if is_refused or second.turn.outcome in {Outcome.REFUSED, Outcome.FAILED}:
        return [f"it takes no second prompt meanwhile: the second turn {second.ending()}"]
    raise FailedError(f"the second turn {second.ending()}")


SCENARIOS: Final = (
    Scenario(
        name="two-prompts",
        tries="send the long prompt, and another one while it is answered",
        expects="both turns are completed, one after the other or side by side",
        matters="Two tabs, or two users of a session, end each other's answers.",
        mend="Queue the second prompt, or answer both; never let it take the place of the first.",
        play=takes_two_prompts,
        turns=2,
        after=(ONE_TURN,),
    ),
)
