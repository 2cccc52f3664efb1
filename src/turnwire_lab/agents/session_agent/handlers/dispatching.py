"""From the queue to the runner and back: who goes next, and what a completion sets off (§5.3)."""

from typing import Any

from turnwire_lab.agents.session_agent.caller import details
from turnwire_lab.agents.session_agent.state.message import Entry
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import State


def must_wait(state: State, row: Row) -> bool:
    """R and A work on one prompt at a time, V on one a channel."""
    if not state.ready or state.dead:
        return True
    return _taken(state, row)


def begin(state: State, row: Row) -> None:
    """Give the prompt to the runner, which reports later, from another task."""
    state.rows.add(row)
    row.state = "processing"
    row.attempts += 1
    state.runner.begin(row)


def echo(state: State, row: Row, *, dequeued: bool) -> None:
    """Send the user's entry to all clients, once."""
    if row.echoed:
        return
    row.echoed = True
    entry = row.entry(_author(state, row), nulls=dequeued, threads=state.revision != "R")
    state.keep(Entry(entry))
    state.tell({"type": "message", "data": entry})
    state.note("user.prompt", row.content[:80], row.user_id)


def complete(state: State, row: Row | None) -> None:
    """A prompt is done: what goes next, or that nothing does."""
    if state.revision == "R":
        # An acknowledged abort of R completes whatever is running (§5.5).
        for other in state.rows.processing:
            state.rows.remove(other)
    elif row is not None:
        state.rows.remove(row)
    state.note("agent.turn_complete", "Turn complete")
    if drain(state) or state.busy:
        return
    # V: the thread is never named, since the row is deleted before it is looked up (§5.6).
    ids = {"messageId": row.id} if state.revision == "V" and row is not None else {}
    state.tell_status(runnerBusy=False, **ids)


def drain(state: State) -> bool:
    """Give the runner what it has room for; whether there was any."""
    if not state.ready or state.dead:
        return False
    begun = False
    for row in state.rows.queued:
        if not _taken(state, row):
            _dequeue(state, row)
            begun = True
    return begun


def _dequeue(state: State, row: Row) -> None:
    row.state = "processing"
    ids: dict[str, Any] = {}
    if state.revision != "R" and row.kind == "user":
        echo(state, row, dequeued=True)
        thread = row.channel.thread
        state.tell({"type": "queue.state", "data": {"pending": None, "threadId": thread}})
    if state.revision == "V":
        ids = {"messageId": row.id, **row.channel.with_thread()}
    state.tell_status(promptDequeued=True, remaining=len(state.rows.queued), **ids)
    begin(state, row)


def _taken(state: State, row: Row) -> bool:
    processing = state.rows.processing
    if state.revision != "V":
        return bool(processing)
    return any(other.channel.key == row.channel.key for other in processing)


def _author(state: State, row: Row) -> dict[str, Any]:
    if row.user_id is None:  # asked without a socket (§9.20)
        return dict.fromkeys(("authorId", "authorEmail", "authorName", "authorAvatarUrl"))
    known = details(row.user_id)
    if state.revision == "V" and row.user_id not in state.introduced:
        known = {"name": None, "email": "", "avatarUrl": None}  # right after a socket opened
    return {
        "authorId": row.user_id,
        "authorEmail": known["email"],
        "authorName": known["name"],
        "authorAvatarUrl": known["avatarUrl"],
    }
