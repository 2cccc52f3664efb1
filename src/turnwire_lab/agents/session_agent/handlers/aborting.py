"""Stopping what runs, and what that takes along (§5.5)."""

from turnwire_lab.agents.session_agent.state.channel import NOWHERE, Channel
from turnwire_lab.agents.session_agent.state.state import State
from turnwire_lab.agents.session_agent.state.tally import Aborted, removed


def abort(state: State, channel: Channel, by: str | None, line: int | None = None) -> None:
    """Send the abort to all clients at once; the runner's answer comes later."""
    scope = _scope(state, channel)
    ended = None if line is None else state.ended.get(line)
    late = None if ended is None else state.sockets.sent - ended
    # R and A do not look at the channel at all.
    state.tell_idle(channel.fields() if state.revision == "V" else {})
    if state.revision == "R":
        # The queued prompts of all users go too, and no frame says so (§5.5).
        delete_queued(state, by, line)
    state.note("user.abort", "Aborted by a user", by)
    stopped = state.runner.abort(scope) if state.connected else ()
    abort = Aborted(
        session_id=state.id,
        by=by,
        line=line,
        thread=scope.thread,
        stopped=stopped,
        late=late,
    )
    state.tally.aborts.append(abort)


def delete_queued(state: State, by: str | None, line: int | None = None) -> int:
    rows = state.rows.queued
    for row in rows:
        state.rows.remove(row)
        state.tally.deleted.append(removed(state.id, row, by, line))
    return len(rows)


def _scope(state: State, channel: Channel) -> Channel:
    """Only V, and only for a thread: anything else is an abort of the whole session."""
    if state.revision == "V" and channel.type == "thread" and channel.id is not None:
        return Channel("thread", channel.id, channel.id)
    return NOWHERE
