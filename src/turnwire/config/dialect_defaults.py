"""Defaults of settings that depend on the dialect."""

from typing import Literal, TypeAlias

from turnwire.core.operations import OperationName
from turnwire.dialects import DIALECTS

Keeper: TypeAlias = Literal["agent", "client"]


def keeper(dialect: str) -> Keeper:
    """Return who keeps the conversation on this wire."""
    return "agent" if DIALECTS[dialect].keeps_history else "client"


def turn_log(dialect: str) -> str:
    """Return where the turns of this wire are kept: nowhere if the agent can repeat them."""
    return "off" if OperationName.RESUME in DIALECTS[dialect].operations else "memory"
