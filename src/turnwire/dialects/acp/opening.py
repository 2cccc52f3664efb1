"""How a connection gets to the agent's session: it is made, or the one that was kept goes on.

    initialize ─► session/resume ─┐
               ├► session/load   ─┤ failed ─► session/new ─► open, and the session is another one
               └► session/new ────┴► open

A session that goes on by `load` tells its past again, before it is open. One of the agents in use
answers a `load` of a session that it does not know as if it knew it: then no past comes.
"""

import enum
from collections.abc import Sequence
from typing import Final

import msgspec

from turnwire.dialects.acp import commands, frames
from turnwire.dialects.acp.frames import Abilities, Message

OTHER_VERSION: Final = "The agent speaks another version of its protocol"
NO_SESSION: Final = "The agent opened no session"
NO_PAST: Final = "The agent does not tell the past of a session"

INITIALIZE: Final = 1
OPEN: Final = 2
OPEN_NEW: Final = 3


class _Stage(enum.Enum):
    INITIALIZING = enum.auto()
    CONTINUING = enum.auto()
    BEGINNING = enum.auto()
    OPEN = enum.auto()
    FAILED = enum.auto()


class Opening:
    """Opens one session. `error` says why it could not be opened."""

    def __init__(self, known: str | None, cwd: str, *, reads_past: bool = False) -> None:
        """`known` is the session to go on with. `reads_past`: it is opened to read its past."""
        self.session_id = known
        self.abilities = Abilities()
        self.error: str | None = None
        self.is_another = False
        """Whether the session that was to go on is gone, and another one is open."""
        self._cwd = cwd
        self._reads_past = reads_past
        self._stage = _Stage.INITIALIZING
        self._loads = self._has_past = False

    @property
    def is_open(self) -> bool:
        return self._stage is _Stage.OPEN

    @property
    def is_telling_past(self) -> bool:
        """Whether updates are of what was before."""
        return self._stage is _Stage.CONTINUING

    def begin(self) -> Sequence[bytes]:
        return [commands.initialize(INITIALIZE)]

    def note_past(self) -> None:
        """Note that something of the session's past came."""
        self._has_past = True

    def take(self, message: Message) -> Sequence[bytes]:
        """Take a response to one of our requests. Returns what is to be sent because of it."""
        if self._stage is _Stage.INITIALIZING and message.number == INITIALIZE:
            return self._initialized(message)
        if self._stage is _Stage.CONTINUING and message.number == OPEN:
            return self._continued(message)
        if self._stage is _Stage.BEGINNING and message.number in {OPEN, OPEN_NEW}:
            self._made(message)
        return []

    def _initialized(self, message: Message) -> Sequence[bytes]:
        try:
            agent = frames.initialized(message.result)
        except msgspec.DecodeError:
            return self._fail(_reason(message) or OTHER_VERSION)
        if agent.protocol_version != commands.VERSION:
            return self._fail(OTHER_VERSION)
        self.abilities = agent.agent_capabilities
        known, cwd = self.session_id, self._cwd
        can_resume = bytes(self.abilities.session_capabilities.resume) not in {b"", b"null"}
        if known is not None and can_resume and not self._reads_past:
            self._stage = _Stage.CONTINUING
            return [commands.resume_session(OPEN, known, cwd)]
        if known is not None and self.abilities.load_session:
            self._stage, self._loads = _Stage.CONTINUING, True
            return [commands.load_session(OPEN, known, cwd)]
        if self._reads_past:
            return self._fail(NO_PAST)
        self._stage = _Stage.BEGINNING
        self.is_another = known is not None
        return [commands.new_session(OPEN, cwd)]

    def _continued(self, message: Message) -> Sequence[bytes]:
        if not message.failure:
            self.is_another = self._loads and not self._has_past
            self._stage = _Stage.OPEN
            return []
        if self._reads_past:
            return self._fail(_reason(message) or NO_SESSION)
        self._stage, self.is_another = _Stage.BEGINNING, True
        return [commands.new_session(OPEN_NEW, self._cwd)]

    def _made(self, message: Message) -> None:
        try:
            self.session_id = frames.session_made(message.result).session_id
        except msgspec.DecodeError:
            self._fail(_reason(message) or NO_SESSION)
        else:
            self._stage = _Stage.OPEN

    def _fail(self, error: str) -> Sequence[bytes]:
        self._stage, self.error = _Stage.FAILED, error
        return []


def _reason(message: Message) -> str | None:
    try:
        return frames.rpc_error(message.failure).message
    except msgspec.DecodeError:
        return None
