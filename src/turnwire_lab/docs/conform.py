"""The scenarios of `turnwire conform`, from the code."""

from collections.abc import Iterator
from typing import Final

from turnwire.conform.given import Choices, Given, Prompts
from turnwire.conform.scenario import Scenario
from turnwire.conform.scenarios import SCENARIOS
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

HEAD: Final = ("Scenario", "What is tried", "What is expected", "Why it matters", "Turns", "Wires")

_ALL: Final = Prompts(
    plain="p",
    long="p",
    tool="p",
    unicode="p",
    failing_tool="p",
    question="p",
    big_output="p",
    quiet="p",
    lost_attempt="p",
)
_ALLOWED: Final = Choices(is_long=True, restart="true", abort_seen="true")


def rows() -> Iterator[tuple[str, ...]]:
    """A row for each scenario, in the order of play."""
    for name, scenario in SCENARIOS.items():
        texts = (scenario.tries, scenario.expects, scenario.matters)
        yield (f"`{name}`", *texts, _turns(scenario), _wires(scenario))


def _turns(scenario: Scenario) -> str:
    shared = sorted(f"the {which.value} one" for which in scenario.looks_at)
    return " and ".join([*([str(scenario.turns)] if scenario.turns else []), *shared]) or "0"


def _wires(scenario: Scenario) -> str:
    """On which of our wires it is applicable, if all prompts are given."""
    names = [
        f"`{name}`"
        for name, dialect in DIALECTS.items()
        if scenario.lack(Given(dialect, TRANSPORTS[dialect.transport], _ALL, _ALLOWED)) is None
    ]
    return "all" if len(names) == len(DIALECTS) else ", ".join(names)
