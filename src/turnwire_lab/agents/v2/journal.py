"""What became of every prompt, and which answers were ignored: for tests of a gateway."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from turnwire_lab.agents.v2.parts import Reason

KEPT: Final = 10_000


@dataclass(slots=True)
class Run:
    """One prompt that was taken, and its turn."""

    session_id: str
    turn_id: str
    prompt_id: str | None
    user_id: str | None
    began: bool = False
    """Stays false for a prompt that is aborted while it waits."""
    reason: Reason | None = None
    """How it ended; None until it has."""
    aborted: bool = False
    aborted_by: str | None = None
    """The user of the socket that sent the abort, where it has one."""


@dataclass(slots=True, frozen=True)
class IgnoredAnswer:
    session_id: str
    question_id: str
    answer: Any
    user_id: str | None
    why: Literal["closed", "unknown"]


class Journal:
    """Of one agent, all sessions together, oldest first."""

    def __init__(self) -> None:
        self.runs: deque[Run] = deque(maxlen=KEPT)
        self.ignored_answers: deque[IgnoredAnswer] = deque(maxlen=KEPT)

    def of(self, session_id: str) -> Iterator[Run]:
        return (run for run in self.runs if run.session_id == session_id)
