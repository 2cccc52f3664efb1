"""What a journal does. `memory`, `sqlite` and `postgres` do the same, and pass one suite of tests.

A session is a list of rows, numbered from 1 without gaps. Only the holder of its lease appends. A
lease ends by its time; each new holder has a higher epoch, and `append` with an older epoch changes
nothing. So a process that was stopped, and goes on after somebody took its session over, writes
nothing any more.

Whoever wants something of a session writes a command, on whatever replica. The holder takes it: the
command is deleted in the transaction that appends what it led to.

Times are seconds since 1970, by the clock of the store: one clock for all replicas.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol

from msgspec import Struct

COMMANDS_MAX = 1_000
"""Most commands of one session that nobody has taken yet."""

COMMANDS_BYTES_MAX = 64 * 1024 * 1024
"""Most bytes of their bodies. One command alone may be larger."""

SMALL_COMMAND_BYTES = 4_096
"""A command of up to so many bytes has room beside all others: a turn can always be stopped."""

TAKEN_IDS_MIN = 1_000
"""Ids of taken commands that are kept for each session: the newest, this many or up to
`COMMANDS_MAX` more. An older one that is put again is a new command."""


class LeaseLostError(Exception):
    """Somebody else holds the session now, or nobody. Nothing was written."""


class UnavailableError(Exception):
    """The store cannot be reached, or refuses to work. Whether the write happened is not known.

    Its text is one line for the operator's log, without any content of a row.
    """


class KeyTakenError(Exception):
    """Another call has an effect with this key already. Nothing was written."""


class TooManyCommandsError(Exception):
    """The session has as many commands that nobody takes as it may. Nothing was written."""


class NewerSchemaError(Exception):
    """A newer version of this program has written here. Nothing is read and nothing is guessed."""


class Row(Struct, frozen=True):
    """One row of a session."""

    kind: str
    """What `body` is, with its version: `turn-ended.1`."""
    body: bytes
    detail: bool = False
    """Not needed any more once the session is settled at a later row: a delta of a turn that is
    over. It stays in the journal, and `read` leaves it out."""
    seq: int = 0
    """The number in its session. `append` gives it."""
    epoch: int = 0
    """That of the holder who wrote it. `append` gives it."""


class Command(Struct, frozen=True):
    """Something that a session is asked for: a prompt, an abort, an answer."""

    id: str
    """Of whoever asks. A second command with the id of an earlier one of this session is the same
    command, also if the earlier one was taken already (see `TAKEN_IDS_MIN`)."""
    kind: str
    body: bytes
    number: int = 0
    """Order of arrival. `put` gives it."""


EffectState = Literal["intent", "done", "unknown"]


class Effect(Struct, frozen=True):
    """What became of one side effect, under a key that no other call may use."""

    key: str
    call: str
    """Session and call: `session/call-id`."""
    input_hash: str
    state: EffectState
    result: bytes = b""
    """Empty unless the state is `done`."""


class Lease(Struct, frozen=True):
    """The right to append to one session, for a while."""

    session: str
    owner: str
    epoch: int
    at: float | None = None
    """When it was taken, by the clock of the store; None: it has the clock of this process."""


class Appended(Struct, frozen=True):
    """A write that is committed: as durable as the store makes it."""

    head: int
    """Number of the last row of the session."""


class Change(Struct, frozen=True):
    """What may be new in a session. A store that does not know which says both."""

    rows: bool = True
    commands: bool = True


class Journal(Protocol):
    """A store of sessions.

    Every method but `follow` is one transaction: all of it happened, or nothing. A caller that is
    cancelled does not cancel the transaction: it is finished or undone as a whole. What one caller
    asks for one session is done in the order of the calls. Every method may raise
    `UnavailableError`, and `ValueError` for an id, owner or key that `ids.checked` does not let
    pass.
    """

    async def start(self) -> None:
        """Open the store, and make its tables.

        Raises:
            NewerSchemaError: its tables are of a newer program.

        """

    async def aclose(self) -> None:
        """Finish the writes that began, and close."""

    async def read(
        self, session: str, *, after: int = 0, details: bool = False, limit: int = 1_000
    ) -> Sequence[Row]:
        """Return rows of a session in order. Fewer than `limit` rows are all there are.

        Args:
            session: One that does not exist has no rows.
            after: Only rows with a higher number.
            details: Also the detail rows up to where the session is settled.
            limit: Most rows.

        """

    async def put(self, session: str, command: Command) -> bool:
        """Write a command, and wake whoever holds the session. Returns False if its id is known.

        The session is due from now on, unless somebody holds it. It begins to exist.

        Raises:
            TooManyCommandsError: the session has too many.

        """

    async def commands(self, session: str, *, limit: int = COMMANDS_MAX) -> Sequence[Command]:
        """Return the first commands that nobody has taken, in the order of their arrival."""

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        """Take the lease, if nobody has it. The epoch is one higher than any before.

        An owner that has the lease already gets a new epoch, too: its own older lease is lost. None
        if another owner has it. A session that does not exist begins to.
        """

    async def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        """Prolong all leases of an owner; return the sessions that it still holds.

        A lease that ran out is prolonged as long as nobody took the session over.
        """

    async def append(
        self,
        lease: Lease,
        rows: Sequence[Row],
        *,
        take: Sequence[str] = (),
        effects: Sequence[Effect] = (),
        settle: bool = False,
        release: bool = False,
        wake_at: float | None = None,
    ) -> Appended:
        """Write rows behind the last one.

        Args:
            lease: Of the writer.
            rows: Any number, none too. Their `seq` and `epoch` are not read.
            take: Ids of commands that are taken by this. One that is not there is ignored.
            effects: Each is written over an older one with the same key *and* the same `call`.
            settle: Detail rows up to the last of `rows` are not needed any more.
            release: Give the lease up. The session is due at once if commands are left.
            wake_at: With `release`: when the session is due, if nothing happens before.

        Raises:
            LeaseLostError: the epoch is not that of the session, or the owner gave the lease up.
            KeyTakenError: an effect has the key of another call.

        """

    async def effect(self, key: str) -> Effect | None:
        """Return what became of the effect with this key."""

    async def due(self, limit: int = 100) -> Sequence[str]:
        """Return sessions that somebody should claim now, those that wait longest first.

        Their holder's lease ran out, or they have commands and no holder, or their `wake_at` came.
        """

    async def sessions(self, *, after: str = "", limit: int = 100) -> Sequence[str]:
        """Return ids of sessions in their order, for lists."""

    def follow(self, session: str, owner: str = "") -> AsyncGenerator[Change, None]:
        """Yield whenever the session may have new rows or new commands, once at the beginning too.

        Several changes may be one. Those by other processes come within 200 ms. The iterator ends
        with the journal; close it (`aclosing`) when it is not needed any more.

        Args:
            session: Which.
            owner: Who follows. Its own appends need not be told to it: what it writes, it knows.

        The holder of a session follows it too, and looks for commands only after a change that
        may have some: a store that can tell its own appends from commands does.
        """
