"""What the object of one session keeps, and how it sends frames. It decides nothing."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import DEAD, Habits, Revision, Status
from turnwire_lab.agents.session_agent.state.audit import AuditLog
from turnwire_lab.agents.session_agent.state.channel import Channel
from turnwire_lab.agents.session_agent.state.message import Entry, TurnEntry
from turnwire_lab.agents.session_agent.state.rows import Row, Rows
from turnwire_lab.agents.session_agent.state.sockets import Sockets
from turnwire_lab.agents.session_agent.state.tally import Stopped, Tally

ENTRIES: Final = 400
"""Entries kept; older ones are forgotten, since a demo may run for weeks."""


Reply = str | bool
"""The answer to a question."""


class Runner(Protocol):
    """The other half: it works on prompts and reports what becomes of them."""

    def begin(self, row: Row) -> None: ...
    def abort(self, channel: Channel) -> tuple[Stopped, ...]: ...
    def answer(self, question_id: str, answer: Reply) -> None: ...
    def drop(self) -> None: ...


@dataclass(slots=True, eq=False)
class Pending:
    """A question or an approval that waits for a person."""

    id: str
    kind: Literal["question", "approval"]
    row: Row
    expires_at: float
    """Epoch seconds; each revision has its own unit."""
    frame: Json
    """The frame that all clients got, for sockets that join later."""
    deadline: asyncio.Task[None] | None = None


class State:
    runner: Runner

    def __init__(
        self,
        session_id: str,
        *,
        habits: Habits,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        group: asyncio.TaskGroup,
        changed: Callable[[], None],
        tally: Tally,
    ) -> None:
        self.id = session_id
        self.habits = habits
        self.now = now
        self.new_id = new_id
        self.tally = tally
        self.owner = habits.owner
        self.status: Status = habits.status
        self.connected = habits.status == "running"
        """Whether the runner has a line to the session. It may not be ready yet."""
        self.ready = self.connected
        """Whether the runner was idle once since it connected; before that prompts wait (§7)."""
        self.sockets = Sockets(buffer_bytes=habits.buffer_bytes, changed=changed)
        self.audit = AuditLog(habits.revision, now)
        self.rows = Rows(ties_backwards=habits.ties_backwards and habits.revision == "R")
        self.entries: dict[str, Entry | TurnEntry] = {}
        self.pending: dict[str, Pending] = {}
        self.ended: dict[int, int] = {}
        """Sockets whose turn has ended, each with the count of frames sent until then."""
        self.threads: set[str] = set()
        self.introduced: set[str] = set()
        """Users whose details have been looked up."""
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def revision(self) -> Revision:
        return self.habits.revision

    @property
    def dead(self) -> bool:
        return self.status in DEAD

    @property
    def busy(self) -> bool:
        return bool(self.rows.processing)

    def seconds(self) -> int:
        return int(self.now().timestamp())

    def tell(self, frame: Json) -> None:
        self.sockets.tell(frame)

    def tell_status(self, **data: object) -> None:
        """All of its optional fields are inside `data` (§4.3)."""
        self.tell({"type": "status", "data": data})

    def tell_idle(self, channel: Json) -> None:
        self.tell({"type": "agentStatus", "status": "idle", **channel})

    def note(self, event: str, summary: str, actor: str | None = None) -> None:
        """Write a row of the audit log; all clients get it."""
        frame = self.audit.add(event, summary, actor)
        if self.habits.noise:
            self.tell(frame)

    def keep(self, entry: Entry | TurnEntry) -> None:
        self.entries[entry.id] = entry
        while len(self.entries) > ENTRIES:
            del self.entries[next(iter(self.entries))]

    def tell_entry(
        self, role: str, content: str, *, parts: object, channel: Channel | None = None
    ) -> str:
        """What is neither a prompt nor a turn: system words, forwarded ones, pictures (§4.2)."""
        fields = {
            "id": self.new_id(),
            "role": role,
            "content": content,
            "parts": parts,
            "createdAt": self.seconds(),
        }
        entry = Entry(fields, channel or Channel())
        self.keep(entry)
        self.tell({"type": "message", "data": entry.written()})
        return entry.id

    def later(self, delay_s: float, act: Callable[[], None]) -> asyncio.Task[None]:
        """Do it after that time; infinite: never. It ends with the agent."""

        async def wait() -> None:
            # Infinity is no time to an event loop.
            await (asyncio.sleep(delay_s) if math.isfinite(delay_s) else asyncio.Event().wait())
            act()

        return self.start(wait())

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """A task that ends with the session."""
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
