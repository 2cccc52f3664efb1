"""What became of every request: for tests of a gateway."""

import enum
from dataclasses import dataclass
from typing import Any

from turnwire_lab.agents.ag_ui.http import Request


class End(enum.Enum):
    """How an answer ended."""

    PLAYED = "played"
    """It was sent to its last byte, or cut where it was to be cut."""
    HUNG_UP = "hung up"
    """The client closed the connection before."""


@dataclass(slots=True)
class Run:
    """One request, and its answer."""

    request: Request
    connection: int
    """Connections are numbered from 1, in the order in which they opened."""
    ended: End | None = None
    """None while it is answered."""
    ended_at: float | None = None
    """On the clock of the event loop, in seconds."""

    @property
    def input(self) -> Any:
        """The `RunAgentInput`; None if the body is no JSON."""
        return self.request.input
