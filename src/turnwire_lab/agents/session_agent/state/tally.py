"""Who was stopped, evicted or deleted, and by whom: what no frame has, and tests need."""

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from turnwire_lab.agents.session_agent.state.rows import Row


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """A running prompt that an abort hit."""

    prompt_id: str
    turn_id: str | None
    """None if it was stopped before its first turn."""
    user_id: str | None
    """The user of the prompt."""
    line: int | None = None
    """The socket that had asked it."""


class Aborted(msgspec.Struct, frozen=True, kw_only=True):
    """One abort, whether a client asked for it or a prompt that steers brought it along."""

    session_id: str
    by: str | None
    """Who asked for it: the user of the socket."""
    thread: str | None
    """V: the one thread it was for; None: the whole session."""
    stopped: tuple[Stopped, ...]
    line: int | None = None
    """The socket that it came by."""
    late: int | None = None
    """How many frames were sent between the end of that socket's own turn and the abort."""

    @property
    def crossed(self) -> tuple[Stopped, ...]:
        """The turns of other sockets that it stopped, those of the same user among them."""
        return tuple(hit for hit in self.stopped if hit.line != self.line)

    @property
    def foreign(self) -> tuple[Stopped, ...]:
        """The turns of others that it stopped."""
        return tuple(hit for hit in self.stopped if hit.user_id != self.by)


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """A queued prompt that will never run."""

    session_id: str
    prompt_id: str
    content: str
    user_id: str | None
    by: str | None
    """The user whose frame removed it; None: no user's frame."""
    line: int | None = None
    """The socket that had asked it."""
    by_line: int | None = None
    """The socket whose frame removed it."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that ended by itself."""

    session_id: str
    prompt_id: str
    turn_id: str
    user_id: str | None
    reason: str
    line: int | None = None
    """The socket that had asked its prompt."""


@dataclass(slots=True)
class Tally:
    aborts: list[Aborted] = field(default_factory=list)
    evicted: list[Removed] = field(default_factory=list)
    """A and V: pushed out of the one queue place by another prompt."""
    deleted: list[Removed] = field(default_factory=list)
    """Swept away by an abort, a clearing, a death, or taken back."""
    finished: list[Finished] = field(default_factory=list)

    @property
    def finished_by_user(self) -> Counter[str | None]:
        return Counter(turn.user_id for turn in self.finished)

    @property
    def stopped(self) -> list[Stopped]:
        return [hit for abort in self.aborts for hit in abort.stopped]

    @property
    def foreign(self) -> list[Stopped]:
        """Turns that another user stopped."""
        return [hit for abort in self.aborts for hit in abort.foreign]

    @property
    def crossed(self) -> list[Stopped]:
        """Turns that were stopped by another socket than the one that had asked."""
        return [hit for abort in self.aborts for hit in abort.crossed]


def removed(session_id: str, row: Row, by: str | None, by_line: int | None = None) -> Removed:
    return Removed(
        session_id=session_id,
        prompt_id=row.id,
        content=row.content,
        user_id=row.user_id,
        by=by,
        line=row.line,
        by_line=by_line,
    )
