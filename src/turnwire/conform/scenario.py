"""What a scenario is, what it needs, and how it says what it saw."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from turnwire.conform.bench import Bench
from turnwire.conform.given import Given, Shared
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
        is_there = name in given.dialect.operations
        return None if is_there else f"this wire has no operation `{name.value}`"

    return need


def prompt(field: str) -> Need:
    """The user must have given this optional prompt."""

    def need(given: Given) -> str | None:
        option = f"--{field.replace('_', '-')}-prompt"
        return None if getattr(given.prompts, field) else f"no {option} was given"

    return need


def long_run(given: Given) -> str | None:
    """The user must have allowed scenarios that take minutes."""
    return None if given.choices.is_long else "it takes minutes: only with --long"


def restart(given: Given) -> str | None:
    """The user must have said how the agent is restarted."""
    return None if given.choices.restart else "no --restart was given"


def has_abort_verdict(given: Given) -> str | None:
    """The wire must have frames after an abort."""
    return _CLOSES if given.closes_to_abort else None


def has_stop_verdict(given: Given) -> str | None:
    """The agent must be able to say that it stopped."""
    has_stop = OperationName.STOP in given.dialect.operations
    return _CLOSES if given.closes_to_abort and not has_stop else None


_CLOSES: Final = (
    "on this wire, to abort is to close the connection: what the agent does then is not seen there"
)
