"""How a connection gets to the agent's session: it is made, or the one that was kept goes on.

    initialize ─► session/resume ─┬────────────────────────► open
               │        │ failed  │
               ├► session/load ───┘
               │        │ failed, twice if it is not said to be gone
               └► session/new ─┬► open, and the session is another one
                               │ failed
                               └► the session that was kept stays

Agents have no common code for a session that is gone. So a failure is one of the session if it
comes a second time, a moment later, and another session opens behind it, and takes its place. If
none opens, the agent is busy or not logged in, and the conversation is still there when it is not.
A session that goes on by `load` tells its past again, before it is open. One of the agents in use
answers a `load` of a session that it does not know as if it knew it: then no past comes.
"""

import enum
from collections.abc import Callable, Sequence
from typing import Final

from turnwire.core.wire import lenient
from turnwire.dialects.acp import abilities, commands, frames
from turnwire.dialects.acp.abilities import Abilities
from turnwire.dialects.acp.frames import Message, Update

OTHER_VERSION: Final = "The agent speaks another version of its protocol"
NO_SESSION: Final = "The agent opened no session"
NO_PAST: Final = "The agent does not tell the past of a session"

NOT_FOUND: Final = -32002
"""The code of an error about a session, or a file, that does not exist."""

_GONE: Final = frozenset({NOT_FOUND, -32602})
"""The codes that say that a session does not exist. Some agents call its id an invalid parameter.
"""


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
        self.is_gone = False
        """Whether the session that was to go on was not found."""
        self.refusal: str | None = None
        """Why the session that was to go on did not, if it was found, or nobody knows."""
        self.is_put_off = False
        """Whether the session is to be asked for again, a moment later: it may be in use."""
        self._is_second = False
        self._cwd = cwd
        self._reads_past = reads_past
        self._stage = _Stage.INITIALIZING
        self._loads = self._has_past = False
        self._sent = 0
        """The id of our last request."""
        self._is_waiting = False
        """Whether that request has no response yet."""

    @property
    def is_open(self) -> bool:
        return self._stage is _Stage.OPEN

    @property
    def is_telling_past(self) -> bool:
        """Whether updates are of what was before."""
        return self._stage is _Stage.CONTINUING

    def begin(self) -> Sequence[bytes]:
        return self._send(commands.initialize)

    def note_past(self, update: Update) -> None:
        """Note an update that came before the session is open. Not all are of its past."""
        self._has_past = self._has_past or isinstance(update, frames.PastUpdate)

    def take(self, message: Message) -> Sequence[bytes]:
        """Take a response to one of our requests. Returns what is to be sent because of it."""
        is_unreadable = bool(message.failure) and not message.has_id  # our request was
        if not self._is_waiting or (message.number != self._sent and not is_unreadable):
            return []
        self._is_waiting = False
        if self._stage is _Stage.INITIALIZING:
            return self._initialized(message)
        if self._stage is _Stage.CONTINUING:
            return self._continued(message)
        return self._made(message)

    def _send(self, command: Callable[[int], bytes]) -> Sequence[bytes]:
        self._sent += 1
        self._is_waiting = True
        return [command(self._sent)]

    def _initialized(self, message: Message) -> Sequence[bytes]:
        agent = lenient.field(frames.initialized, message.result)
        if message.failure or agent is None:
            return self._fail(reason(message) or OTHER_VERSION)
        if agent.protocol_version != commands.VERSION:
            return self._fail(OTHER_VERSION)
        self.abilities = able = abilities.read(agent.agent_capabilities)
        known = self.session_id
        if known is not None and (able.can_load or (able.can_resume and not self._reads_past)):
            return self._continue(known)
        if self._reads_past:
            return self._fail(NO_PAST)
        self.is_another = known is not None
        return self._make()

    def _continue(self, known: str) -> Sequence[bytes]:
        if self._reads_past or not self.abilities.can_resume:
            return self._load(known)
        self._stage, self._loads = _Stage.CONTINUING, False
        return self._send(lambda number: commands.resume_session(number, known, self._cwd))

    def ask_again(self) -> Sequence[bytes]:
        """Ask for the session a second time, if it was put off."""
        if not self.is_put_off:
            return []
        assert self.session_id is not None
        self.is_put_off, self._is_second, self.refusal = False, True, None
        return self._continue(self.session_id)

    def _load(self, known: str) -> Sequence[bytes]:
        self._stage, self._loads, self._has_past = _Stage.CONTINUING, True, False
        return self._send(lambda number: commands.load_session(number, known, self._cwd))

    def _make(self) -> Sequence[bytes]:
        self._stage = _Stage.BEGINNING
        return self._send(lambda number: commands.new_session(number, self._cwd))

    def _continued(self, message: Message) -> Sequence[bytes]:
        if not message.failure:
            self.is_another = self._loads and not self._has_past
            self._stage = _Stage.OPEN
            return []
        if not self._loads and self.abilities.can_load:
            assert self.session_id is not None
            return self._load(self.session_id)
        error = lenient.field(frames.rpc_error, message.failure)
        self.is_gone = error is not None and error.code in _GONE
        if not self.is_gone:
            self.refusal = reason(message) or NO_SESSION
        if self._reads_past:
            return self._fail(self.refusal or NO_SESSION)
        if not (self.is_gone or self._is_second):
            self.is_put_off = True
            return []
        self.is_another = True
        return self._make()

    def _made(self, message: Message) -> Sequence[bytes]:
        made = lenient.field(frames.session_made, message.result)
        if message.failure or made is None:
            return self._fail(self.refusal or reason(message) or NO_SESSION)
        self.session_id = made.session_id
        self._stage = _Stage.OPEN
        return []

    def _fail(self, error: str) -> Sequence[bytes]:
        self._stage, self.error = _Stage.FAILED, error
        return []


def reason(message: Message) -> str | None:
    """The text of an error."""
    error = lenient.field(frames.rpc_error, message.failure)
    return None if error is None else error.message
