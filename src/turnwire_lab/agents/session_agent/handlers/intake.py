"""What becomes of a prompt (§5.3): it is refused, answered at once, collected, queued or begun."""

from collections.abc import Callable
from typing import Final

from turnwire_lab.agents.session_agent.habits import QueueMode
from turnwire_lab.agents.session_agent.handlers import aborting, dispatching, questions
from turnwire_lab.agents.session_agent.handlers.asked import Prompt
from turnwire_lab.agents.session_agent.handlers.attachments import sift
from turnwire_lab.agents.session_agent.handlers.lifecycle import wake
from turnwire_lab.agents.session_agent.handlers.slash import swallow
from turnwire_lab.agents.session_agent.state.channel import Channel
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import State
from turnwire_lab.agents.session_agent.state.tally import removed

SEPARATOR: Final = "\n\n---\n\n"
MISSING: Final = "Missing content or attachments"


class Intake:
    """The way in of one session's prompts."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._collected: dict[str, list[Row]] = {}

    def take(self, asked: Prompt, by: str, line: int, complain: Callable[[str], None]) -> None:
        """Take one prompt of a user. Only its sender gets complaints about it."""
        state = self._state
        content = asked.content or ""
        channel = asked.channel(state.revision)
        files = asked.attachments or []
        if state.revision == "V" and not files and swallow(state, content, channel, by):
            return
        sifted = sift(files, state.revision)
        for mime in sifted.refused:
            complain(f"Unsupported file type: {mime}")  # and the prompt goes on without it
        if not content and not sifted.parts:
            complain(MISSING)
            return
        row = self._row(content, channel, by)
        row.line = line
        row.files = sifted.parts
        self.submit(row, self._mode(asked, channel))

    def ask(self, content: str, channel: Channel, by: str | None) -> None:
        """A prompt that came without a socket."""
        self.submit(self._row(content, channel, by), "followup")

    def submit(self, row: Row, mode: QueueMode) -> None:
        state = self._state
        match mode:
            case "collect":
                self._collect(row)
            case "steer":
                if state.busy and dispatching.must_wait(state, row):
                    row.steering = state.revision != "R"
                    aborting.abort(state, row.channel, row.user_id, row.line)
                self._accept(row)
            case "followup":
                self._accept(row)

    def flush(self) -> None:
        """Ask everything that was collected, without waiting for more."""
        for key in list(self._collected):
            self._flush(key)

    def _row(self, content: str, channel: Channel, by: str | None) -> Row:
        state = self._state
        return Row(state.new_id(), content, state.seconds(), channel, by)

    def _mode(self, asked: Prompt, channel: Channel) -> QueueMode:
        state = self._state
        orchestrator = state.revision == "V" and state.id.startswith("orchestrator:")
        if orchestrator and any(r.channel.key == channel.key for r in state.rows.processing):
            return "steer"  # whatever was asked for (§3)
        return asked.queue_mode or state.habits.queue_mode

    def _accept(self, row: Row) -> None:
        state = self._state
        if self._answers(row):
            return
        waits = dispatching.must_wait(state, row)
        if state.revision == "R":
            # Clients get it at once, even if it has to wait (§5.3).
            dispatching.echo(state, row, dequeued=False)
        if not waits:
            self._open_thread(row)
            dispatching.echo(state, row, dequeued=False)
            dispatching.begin(state, row)
            return
        self._queue(row)
        wake(state)

    def _queue(self, row: Row) -> None:
        state = self._state
        if state.revision == "R":
            state.rows.add(row)
            state.note("prompt.queued", row.content[:80], row.user_id)
            state.tell_status(promptQueued=True, queuePosition=len(state.rows.queued))
            return
        self._evict(row)
        state.rows.add(row)
        state.note("prompt.queued", row.content[:80], row.user_id)
        thread = row.channel.thread
        data = {"pending": row.pending()} | ({} if thread is None else {"threadId": thread})
        state.tell({"type": "queue.state", "data": data})
        details: dict[str, object] = {}
        if state.revision == "V":
            reason = "busy" if state.ready else "waking"
            details = {"queueReason": reason, "messageId": row.id, **row.channel.with_thread()}
        state.tell_status(promptQueued=True, queuePosition=len(state.rows.queued), **details)

    def _evict(self, by: Row) -> None:
        """There is one place to wait for a whole session, and the last to come gets it (§5.3)."""
        state = self._state
        if by.steering:
            return
        for row in state.rows.queued:
            if row.kind == "user" and not row.steering:
                state.rows.remove(row)
                state.tally.evicted.append(removed(state.id, row, by.user_id))
                tell_withdrawn(state, row)

    def _answers(self, row: Row) -> bool:
        """V: the owner's next prompt on the channel of a question is its answer (§3)."""
        state = self._state
        if state.revision != "V" or row.user_id != state.owner or row.channel.type is None:
            return False
        question_id = questions.asked_on(state, row.channel.key)
        if question_id is None:
            return False
        questions.answer(state, question_id, row.content)
        return True

    def _open_thread(self, row: Row) -> None:
        state, thread = self._state, row.channel.thread
        if thread is not None and thread not in state.threads:
            state.threads.add(thread)
            state.tell({"type": "thread.created", "threadId": thread})

    def _collect(self, row: Row) -> None:
        """Echoed under its own id, joined with what follows, asked again under a new one."""
        state, key = self._state, row.channel.key
        dispatching.echo(state, row, dequeued=False)
        waiting = self._collected.setdefault(key, [])
        waiting.append(row)
        self._tell_collected(row.channel, len(waiting), pending=True)
        if len(waiting) == 1:
            state.later(state.habits.collect_s, lambda: self._flush(key))

    def _flush(self, key: str) -> None:
        rows = self._collected.pop(key, [])
        if not rows:
            return
        last = rows[-1]
        self._tell_collected(last.channel, len(rows), pending=False)
        joined = self._row(SEPARATOR.join(r.content for r in rows), last.channel, last.user_id)
        joined.files = [part for row in rows for part in row.files]
        self._accept(joined)

    def _tell_collected(self, channel: Channel, count: int, *, pending: bool) -> None:
        where = channel.with_thread() if self._state.revision == "V" else {}
        self._state.tell_status(collectPending=pending, collectCount=count, **where)


def tell_withdrawn(state: State, row: Row) -> None:
    data = {"threadId": None, **row.pending()}
    state.tell({"type": "queue.withdrawn", "data": data})


def remind(state: State, content: str, channel: Channel) -> None:
    """A turn without a prompt of a user: a reminder, a child session that is done (§5.4)."""
    state.tell_entry("system", content, parts=None)
    row = Row(state.new_id(), content, state.seconds(), channel, kind="system", echoed=True)
    if dispatching.must_wait(state, row):
        state.rows.add(row)
    else:
        dispatching.begin(state, row)
