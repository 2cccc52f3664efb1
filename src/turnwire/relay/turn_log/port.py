"""The port between the gateway and the place that keeps running turns for their readers.

A `TurnLog` keeps one turn of each chat. The stream that runs the turn *claims* the chat, and writes
by the `TurnWriter` that it gets. Readers, a stop and an answer find the turn by the key of its
chat, in another process too if the log is one for all.

What is kept are the entries of `core.turn_log.entries`. A log does not read them, but for
`closed_questions`, and for the ids of a turn that waits.

A log never makes a prompt fail, and never makes a stream wait: what cannot be kept is not kept.
"""

import enum
import hashlib
from collections.abc import Sequence
from typing import Final, NewType, Protocol

import msgspec
from msgspec import Struct

from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import Channel, QuestionReply
from turnwire.core.turn_log.entries import Head
from turnwire.relay.agent.port import Connection, Listener
from turnwire.relay.memory_budget import Reservation

ChatKey = NewType("ChatKey", str)
"""Names a chat in a log. Nobody can guess or choose one: see `chat_key`."""

_KEY_BYTES = 16


def chat_key(session: tuple[str, str], channel: Channel) -> ChatKey:
    """Return the key of a channel of a session (`RequestContext.session_key`)."""
    named = msgspec.msgpack.encode([*session, channel.type, channel.id])
    return ChatKey(hashlib.sha256(named).digest()[:_KEY_BYTES].hex())


class TurnControl(Protocol):
    """The stream that runs a turn, as its log reaches it. No call blocks or raises."""

    @property
    def is_ending(self) -> bool:
        """Whether the turn is being ended: a user stopped it, or its client is gone for good."""
        ...

    def stop(self, turn_id: str | None, /) -> StopResult | Rejection:
        """Stop the turn; with a `turn_id`, only the turn of this id.

        Afterwards it is over, or will be in a few seconds, when its agent says that it stopped.
        """
        ...

    async def ended(self) -> None:
        """Return when the turn is over."""
        ...

    def answer(self, replies: Sequence[QuestionReply], user_id: str, /) -> Rejection | None:
        """Give answers of this user to the turn. Return why it takes none of them, if so."""
        ...

    def read_by(self, readers: int, /) -> None:
        """Note how many readers follow the turn now, in all processes."""
        ...


class _Nobody:
    is_ending = False

    def stop(self, _turn_id: str | None) -> Rejection:
        return Rejection.SILENT

    async def ended(self) -> None: ...

    def answer(self, _replies: Sequence[QuestionReply], _user_id: str) -> Rejection:
        return Rejection.CLOSED

    def read_by(self, readers: int) -> None: ...


NOBODY: Final[TurnControl] = _Nobody()
"""The control of a turn that no stream runs. It keeps no stream alive."""


async def stopped(control: TurnControl, turn_id: str | None) -> StopResult | Rejection:
    """Stop a turn of this process, and return when it is over."""
    result = control.stop(turn_id)
    if isinstance(result, StopResult):
        await control.ended()
    return result


class LastTurn(Struct, frozen=True):
    """The turn that a chat has: it runs, or nobody has claimed the chat since."""

    head: Head
    is_running: bool


class TurnWriter(Protocol):
    """The claim of a chat, and the way to keep its turn. No call blocks or raises.

    One of `end`, `wait` and `discard` gives the claim up. After it, all calls but a second `end` do
    nothing.
    """

    @property
    def is_kept(self) -> bool:
        """Whether readers can get this turn. False: no record of it is kept."""
        ...

    def append(self, packed: bytes, count: int, /) -> None:
        """Keep entries: `count` of them in a row, packed (`core.turn_log.entries`)."""
        ...

    def append_texts(self, texts: Sequence[str], /) -> None:
        """Keep text deltas: what `append` does with `pack_texts`. They are far the most entries."""
        ...

    def end(self, *, is_received: bool) -> None:
        """The turn is over. `is_received`: its client gets all of it, so it need not be told again.

        The second call takes that back: it turned out that the client did not.
        """
        ...

    def wait(self, seconds: float | None) -> None:
        """The turn waits for its client, for so long: `TurnLog.resume_waiting` continues it.

        None: for the rest of the time that it had when it was last continued.
        """
        ...

    def discard(self) -> None:
        """The turn never began: forget it. The chat has its former turn again, if it had one."""
        ...


class WaitingTurn(Struct, frozen=True):
    """A turn that waited for its client, and runs again."""

    writer: TurnWriter
    head: bytes
    """Its `Head`, packed."""
    frames: Sequence[bytes]
    """All entries after the head, in frames."""


class TurnLog(Protocol):
    """All turns that are kept."""

    @property
    def turns(self) -> int:
        """How many turns this process keeps, or writes elsewhere."""
        ...

    @property
    def held_bytes(self) -> int:
        """How many bytes of turns this process holds."""
        ...

    async def claim(self, key: ChatKey, head: bytes, control: TurnControl) -> TurnWriter | None:
        """Claim a chat for a turn. None: a turn of this chat runs.

        The former turn of the chat, which is over or waits, is forgotten when the new one has its
        first entry, and not before: the new one may never begin. `head` is its packed `Head`.
        """
        ...

    async def last(self, key: ChatKey) -> LastTurn | Rejection | None:
        """Return the turn that this chat has. None: none. A rejection: nobody can say."""
        ...

    async def is_ending(self, key: ChatKey) -> bool:
        """Whether the turn that runs is being ended (`TurnControl.is_ending`), or is over."""
        ...

    async def resume_waiting(self, key: ChatKey, control: TurnControl) -> WaitingTurn | None:
        """Continue the turn that waits for its client; the chat is claimed again. None: none."""
        ...

    async def open(self, key: ChatKey, listener: Listener, reservation: Reservation) -> Connection:
        """Read the turn of this chat from its start on: `listener` gets its frames.

        The first frame is one of `entries.absent`, `entries.too_long` and `entries.opening`. If the
        process that runs the turn is gone, `agent_left` follows. After the last entry nothing does:
        the entry itself is the end.
        """
        ...

    async def stop(self, key: ChatKey, turn_id: str | None) -> StopResult | Rejection:
        """Stop the turn that runs or waits. Returns when the turn is over."""
        ...

    async def answer(
        self, key: ChatKey, replies: Sequence[QuestionReply], user_id: str
    ) -> Rejection | None:
        """Give answers to the turn that runs. Return why it takes none of them, if so.

        `CLOSED`: the turn waits for its client's message, or asked this and is over.
        """
        ...

    async def has_undelivered(self, key: ChatKey) -> bool:
        """Whether readers get a turn of this chat whose end its client has not.

        It runs, it waits, or it ended while its client was away.
        """
        ...

    async def session(self, key: ChatKey) -> str | None:
        """Return the agent's session that is kept for this chat; None for none."""
        ...

    def keep_session(self, key: ChatKey, session_id: str) -> None:
        """Keep which of the agent's sessions is that of this chat. Never blocks or raises."""
        ...

    def forget_session(self, key: ChatKey) -> None:
        """Keep none of the agent's sessions for this chat. Never blocks or raises."""
        ...

    async def aclose(self) -> None:
        """Forget everything, and use nothing any more."""
        ...


class TurnState(enum.Enum):
    """What a turn of the log does."""

    RUNNING = enum.auto()
    WAITING = enum.auto()
    """It continues with the client's next request."""
    OVER = enum.auto()
