"""The scenarios, in the order in which they are played.

A new one is a function in one of these modules, and an entry in the table of its module.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from turnwire.conform.scenario import Scenario
from turnwire.conform.scenarios import (
    attempts,
    beginning,
    lasting,
    resuming,
    stopping,
    telling,
    together,
    tools,
)

SCENARIOS: Final[Mapping[str, Scenario]] = MappingProxyType(
    {
        scenario.name: scenario
        for module in (beginning, telling, tools, attempts, together, stopping, resuming, lasting)
        for scenario in module.SCENARIOS
    }
)
