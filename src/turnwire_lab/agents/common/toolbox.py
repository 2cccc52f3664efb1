"""The tools this agent has."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from turnwire_lab.agents.common.calculator import calculate
from turnwire_lab.agents.common.clock import tell_time
from turnwire_lab.agents.common.search import search
from turnwire_lab.agents.common.tool import Tool

CHECKOUT: Final = Path(__file__).resolve().parents[4]
"""The folder above `src`. Installed elsewhere there are no documents there, and none are found."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def toolbox(*, now: Callable[[], datetime], docs: Path) -> Mapping[str, Tool]:
    return {
        "calculator": calculate,
        "clock": partial(tell_time, now=now),
        "search": partial(search, root=docs),
    }
