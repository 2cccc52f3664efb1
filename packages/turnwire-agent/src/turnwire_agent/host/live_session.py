"""A session on this replica: what is committed of it, and the sockets that follow it.

Every replica serves every socket. What the sockets are sent comes from the journal alone, by the
same function on the replica that writes and on any other.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.protocol import State

from turnwire_agent.host.settings import HostSettings
from turnwire_agent.host.text_frames import text_frame
from turnwire_agent.journal.port import Journal
from turnwire_agent.session.codec import event_of
from turnwire_agent.session.events import Event, Prompted, PromptRepeated
from turnwire_agent.session.state import SessionState
from turnwire_agent.v2.frames import Frames, joined
from turnwire_agent.v2.init import init_frame
from turnwire_agent.v2.repeated import repeated

PAGE: Final = 1_000
"""Rows that are read at once."""


class LiveSession:
    """Follows the journal of one session.

    Rule: state and sockets change together, with no await in between. So a socket that joins at any
    moment finds in its `init` exactly what the others have been sent.
    """

    def __init__(
        self, session_id: str, journal: Journal, frames: Frames, settings: HostSettings
    ) -> None:
        self.id = session_id
        self.state = SessionState()
        self.head = 0
        self._journal = journal
        self._frames = frames
        self._socket_bytes = settings.socket_bytes
        self._private = settings.private
        self._sockets: dict[ServerConnection, str | None] = {}
        self._large: dict[ServerConnection, int] = {}
        """What waited when a frame was sent that alone is more than may wait. It may, and once."""
        self._asked: dict[str, ServerConnection] = {}
        """Which socket sent a prompt, by its prompt id, as long as the socket is here."""
        self._reading = asyncio.Lock()
        self._opened = False

    @property
    def sockets(self) -> Mapping[ServerConnection, str | None]:
        """Who follows, and which user that is."""
        return self._sockets

    def join(self, socket: ServerConnection, user_id: str | None) -> None:
        """Send where the session stands, and from now on all that comes."""
        self.send(socket, init_frame(self.id, self.state, self._frames))
        if user_id is not None:
            self._tell_of(user_id)
        self._sockets[socket] = user_id

    def leave(self, socket: ServerConnection) -> None:
        """Send nothing more."""
        self._sockets.pop(socket, None)
        self._large.pop(socket, None)
        self._asked = {id_: each for id_, each in self._asked.items() if each is not socket}

    def asks(self, socket: ServerConnection, prompt_id: str) -> None:
        """Note who sent a prompt: if it was sent before, the earlier turn is repeated to them."""
        self._asked[prompt_id] = socket

    def send(self, socket: ServerConnection, frame: bytes) -> None:
        """Send something to one socket."""
        broadcast([socket], frame, text=True)
        if len(frame) > self._socket_bytes:
            self._excuse(socket)

    def apply(self, events: Sequence[Event], head: int) -> None:
        """Take events that are committed, and send them on.

        What `catch_up` has read already, before the writer heard of its commit, is not taken again.

        Args:
            events: One for each row, the last rows of the session.
            head: The number of the last row.

        """
        known = self.head - (head - len(events))
        if known > 0:
            events = events[known:]
        self.head = max(self.head, head)
        for event in events:
            frames = self._frames.of(event, self.state) if self._sockets else ()
            self.state.apply(event)
            for frame in frames:
                self._broadcast(frame)
            if isinstance(event, PromptRepeated):
                self._repeat(event)
            elif isinstance(event, Prompted):
                self._asked.pop(event.prompt_id or "", None)
                if self._private:
                    self._leave_to_owner()

    def hang_up(self) -> None:
        """Close all sockets: nothing more can be told of this session."""
        for socket in self._sockets:
            socket.transport.abort()

    def _tell_of(self, user_id: str) -> None:
        """Say that a user is there: in a session that is one user's, to this user alone."""
        theirs = [socket for socket, other_id in self._sockets.items() if other_id == user_id]
        self._broadcast(joined(user_id), theirs if self._private else self._sockets)

    def _leave_to_owner(self) -> None:
        """Close the sockets of other users, who came before the session was anybody's."""
        for socket, user_id in self._sockets.items():
            if not self.state.is_of(user_id):
                socket.transport.abort()

    async def catch_up(self) -> None:
        """Read what others have written since.

        Raises:
            UnavailableError: of the store.
            NewerEventError: a newer program has written here.

        """
        async with self._reading:
            while True:
                # Of turns that are over, their end says all that a first look needs.
                rows = await self._journal.read(
                    self.id, after=self.head, details=self._opened, limit=PAGE
                )
                for row in rows:
                    if row.seq > self.head:
                        self.apply([event_of(row.kind, row.body)], row.seq)
                if len(rows) < PAGE:
                    self._opened = True
                    return

    def _repeat(self, event: PromptRepeated) -> None:
        """Send the turn that a prompt has already to the socket that sent it again."""
        socket = self._asked.pop(event.prompt_id, None)
        exchange = self.state.history.by_entry(event.entry_id)
        if socket is None or exchange is None or exchange.turn_id is None:
            return
        for frame in repeated(exchange, event.prompt_id, self.state, self._frames):
            self.send(socket, frame)

    def _broadcast(self, frame: bytes, to: Collection[ServerConnection] | None = None) -> None:
        """Send a frame to all. It is framed once: what a server sends is not masked."""
        framed = text_frame(frame)
        is_large = len(framed) > self._socket_bytes
        for socket in self._sockets if to is None else to:
            transport = socket.transport
            waiting = transport.get_write_buffer_size()
            if self._large and socket in self._large:
                waiting -= self._excused(socket, waiting)
            if waiting > self._socket_bytes:
                transport.abort()
            elif socket.state is State.OPEN:
                transport.write(framed)
                if is_large:
                    self._excuse(socket)

    def _excuse(self, socket: ServerConnection) -> None:
        """Let a large frame wait. One after another may not: the first must have gone out."""
        self._large.setdefault(socket, socket.transport.get_write_buffer_size())

    def _excused(self, socket: ServerConnection, waiting: int) -> int:
        """Return how many of the bytes that wait are there for a large frame."""
        if waiting <= self._socket_bytes:  # it has gone out
            return self._large.pop(socket)
        return self._large[socket]
