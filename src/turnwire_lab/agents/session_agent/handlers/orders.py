"""The smaller things a client may ask for (§3): take back, undo, look, decide."""

from collections.abc import Callable
from typing import Final

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.handlers import questions
from turnwire_lab.agents.session_agent.handlers.asked import (
    Approve,
    Command,
    Deny,
    Diff,
    Promote,
    Replace,
    Revert,
    Review,
    Withdraw,
)
from turnwire_lab.agents.session_agent.handlers.attachments import sift
from turnwire_lab.agents.session_agent.handlers.intake import Intake, tell_withdrawn
from turnwire_lab.agents.session_agent.state.channel import DEFAULT, Channel
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import State
from turnwire_lab.agents.session_agent.state.tally import removed

Order = Approve | Command | Deny | Diff | Promote | Replace | Revert | Review | Withdraw

COMMANDS: Final = frozenset({"undo", "redo", "compact", "new-session"})


def obey(
    state: State, intake: Intake, order: Order, by: str, reply: Callable[[Json], None]
) -> None:
    match order:
        case Approve(invocation_id=found, action_id=action):
            _decide(state, found, action, by, reply)
        case Deny(invocation_id=found):
            _decide(state, found, "cancel", by, reply)
        case Command(command=command):
            _command(state, command, reply)
        case Diff():
            file = {"path": "a.txt", "status": "modified", "diff": "+1"}
            frame = {"type": "diff", "requestId": state.new_id(), "data": {"files": [file]}}
            state.tell(frame)
        case Review():
            frame = {"type": "review-result", "requestId": state.new_id(), "data": {"files": []}}
            state.tell(frame)
        case Revert(message_id=message_id):
            _revert(state, message_id)
        case Withdraw():
            if (row := _withdraw(state, by)) is not None:
                tell_withdrawn(state, row)
                state.tell({"type": "queue.state", "data": {"pending": None}})
        case Promote():
            if (row := _withdraw(state, by)) is not None:
                tell_withdrawn(state, row)
                intake.submit(_again(state, row), "steer")
        case Replace():
            if (row := _withdraw(state, by)) is not None:
                tell_withdrawn(state, row)
            _replace(state, intake, order, by)


def _decide(state: State, found: str, action: str, by: str, reply: Callable[[Json], None]) -> None:
    why = questions.decide(state, found, action, by)
    if why is not None:
        # The third shape of an error (§4.2).
        reply({"type": "error", "error": why, "promptId": found})


def _command(state: State, command: str, reply: Callable[[Json], None]) -> None:
    if command not in COMMANDS:
        reply({"type": "error", "message": f"Unknown command: {command}"})
        return
    frame = {"type": "command-result", "requestId": state.new_id(), "command": command}
    state.tell(frame | {"result": "done"})


def _revert(state: State, message_id: str | None) -> None:
    """That entry and everything after it."""
    if message_id not in state.entries:
        return
    ids = list(state.entries)
    gone = ids[ids.index(message_id) :]
    for entry in gone:
        del state.entries[entry]
    state.tell({"type": "messages.removed", "messageIds": gone})


def _withdraw(state: State, by: str) -> Row | None:
    """The head of the queue, of whichever user."""
    head = state.rows.head
    if head is not None:
        state.rows.remove(head)
        state.tally.deleted.append(removed(state.id, head, by))
    return head


def _again(state: State, row: Row) -> Row:
    return Row(
        state.new_id(), row.content, state.seconds(), row.channel, row.user_id, files=row.files
    )


def _replace(state: State, intake: Intake, order: Replace, by: str) -> None:
    thread = order.thread_id
    channel = DEFAULT if thread is None else Channel("thread", thread, thread)
    files = sift(order.attachments or [], state.revision).parts
    content = order.content or ""
    if content or files:
        row = Row(state.new_id(), content, state.seconds(), channel, by, files=files)
        intake.submit(row, "steer")
