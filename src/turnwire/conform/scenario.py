"""What a scenario is, what it needs, and how it says what it saw."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from turnwire.conform.bench import Bench
from turnwire.conform.given import Given, Shared
from turnwire.core.agent import Feature
from turnwire.core.operations import OperationName

Need: TypeAlias = Callable[[Given], str | None]
"""Returns why a scenario is not applicable; None: it is."""

Play: TypeAlias = Callable[[Bench], Awaitable[Sequence[str]]]
"""Plays a scenario. Returns its notes.

Raises:
    FailedError: the agent did not do what is expected.
    NotApplicableError: it cannot be said.

"""


class Scenario(Struct, frozen=True, kw_only=True):
    """One scenario, with the texts of its report."""

    name: str
    tries: str
    expects: str
    matters: str
    """Why it matters to a user."""
    mend: str
    play: Play
    turns: int = 0
    """How many turns it costs, beside the shared ones."""
    looks_at: frozenset[Shared] = frozenset()
    needs: tuple[Need, ...] = ()
    after: tuple[str, ...] = ()
    """Scenarios without which this one shows nothing: if one of them fails, it is not played."""

    def lack(self, given: Given) -> str | None:
        """Why it is not applicable; None: it is."""
        return next((lack for need in self.needs if (lack := need(given)) is not None), None)


def operation(name: OperationName) -> Need:
    """The wire must have this operation."""

    def need(given: Given) -> str | None:
        return None if name in given.dialect.operations else _LACKS[name]

    return need


def prompt(field: str) -> Need:
    """The user must have given this optional prompt."""

    def need(given: Given) -> str | None:
        option = f"--{field.replace('_', '-')}-prompt"
        return None if getattr(given.prompts, field) else f"no {option} was given"

    return need


def feature(wanted: Feature, lack: str) -> Need:
    """The wire must have this feature. `lack` says that it has not."""

    def need(given: Given) -> str | None:
        return None if wanted in given.dialect.features else lack

    return need


def long_run(given: Given) -> str | None:
    """The user must have allowed scenarios that take minutes."""
    return None if given.choices.is_long else "it takes minutes: only with --long"


def restart(given: Given) -> str | None:
    """The user must have said how the agent is restarted."""
    return None if given.choices.restart else "no --restart was given"


def shows_aborts(given: Given) -> str | None:
    """The wire must have frames after an abort, or the user another way to see it."""
    is_shown = not given.closes_to_abort or given.choices.abort_seen
    return None if is_shown else _CLOSES


def shows_stops(given: Given) -> str | None:
    """The agent must be able to say that it stopped, or the user see it otherwise."""
    return None if OperationName.STOP in given.dialect.operations else shows_aborts(given)


def has_aborts(given: Given) -> str | None:
    """The wire must have frames that abort a turn."""
    return _NEVER_LATE if given.closes_to_abort else None


def has_pings(given: Given) -> str | None:
    """The transport must have pings."""
    return None if given.has_pings else "HTTP has no pings"


_CLOSES: Final = (
    "on this wire, to abort is to close the connection, after which it shows nothing: only with "
    "--abort-seen"
)
_NEVER_LATE: Final = (
    "on this wire, to abort is to close the connection of the turn: that can hit no other turn"
)
_LACKS: Final = {
    OperationName.RESUME: "this wire has no way to follow a turn that another request began",
    OperationName.HISTORY: "this wire does not tell the history of a session",
    OperationName.ANSWER: "on this wire, a question belongs to one stream: no second answer to it",
    OperationName.STOP: "this wire has no way to stop a turn beside its stream",
}
