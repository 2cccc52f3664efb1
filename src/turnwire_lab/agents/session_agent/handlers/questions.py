"""Questions and approvals: the frames of each revision, and how questions end (§4.4)."""

from collections.abc import Sequence

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import Pending, Reply, State

EXPIRED = "__expired__"
FAILED = "__failed__"

_ACTIONS: list[Json] = [
    {"id": "allow_once", "label": "Allow", "description": "Just now", "style": "primary"},
    {"id": "allow_session", "label": "Allow for Session"},
    {"id": "allow_always", "label": "Always Allow"},
    {"id": "cancel", "label": "Cancel", "style": "danger"},
]


def ask(state: State, row: Row, question_id: str, text: str, options: Sequence[str]) -> None:
    expires_at = state.now().timestamp() + state.habits.question_s
    if state.revision == "R":
        frame: Json = {
            "type": "question",
            "questionId": question_id,
            "text": text,
            "options": list(options),
            "expiresAt": int(expires_at),  # seconds, where A and V have milliseconds
            **row.channel.fields(),
        }
    else:
        if not row.channel.known:
            return  # `row_without_channel`: no client gets it (§4.4)
        where = row.channel.with_thread()
        actions = [{"id": f"option_{n}", "label": label} for n, label in enumerate(options)]
        prompt = {
            "id": question_id,
            "sessionId": state.id,
            "type": "question",
            "title": text,
            "actions": actions,
            "expiresAt": int(expires_at * 1000),
            "context": {"options": list(options), **where},
        }
        frame = {"type": "interactive_prompt", "prompt": prompt, **where}
    _wait(state, Pending(question_id, "question", row, expires_at, frame), state.habits.question_s)


def ask_approval(state: State, row: Row, invocation_id: str, tool: str, params: Json) -> None:
    """A and V. Its channel is in the context only."""
    expires_at = state.now().timestamp() + state.habits.approval_s
    service, _, action = tool.partition(":")
    prompt = {
        "id": invocation_id,
        "sessionId": state.id,
        "type": "approval",
        "title": "Action requires approval",
        "body": f"Run {tool}",
        "actions": _ACTIONS,
        "expiresAt": int(expires_at * 1000),
        "context": {
            "toolId": tool,
            "service": service,
            "actionId": action,
            "params": params,
            "riskLevel": "high",
            "invocationId": invocation_id,
            **row.channel.fields(),
        },
    }
    frame = {"type": "interactive_prompt", "prompt": prompt}
    pending = Pending(invocation_id, "approval", row, expires_at, frame)
    _wait(state, pending, state.habits.approval_s)


def answer(state: State, question_id: str, value: Reply) -> None:
    """Anybody may answer; what is answered or expired already is ignored (§4.4)."""
    pending = state.pending.get(question_id)
    if pending is None or pending.kind != "question":
        return
    _forget(state, pending)
    if state.revision == "R":
        state.tell_status(questionAnswered=question_id, answer=value)
    else:
        # The frame names the owner, whichever user answered.
        _tell_resolved(state, pending, {"value": value, "resolvedBy": state.owner})
    state.runner.answer(question_id, value)


def decide(state: State, invocation_id: str, action: str, by: str) -> str | None:
    """Resolve an approval; why it cannot be, for the sender alone."""
    pending = state.pending.get(invocation_id)
    if pending is None or pending.kind != "approval":
        return "No such prompt is pending"
    if by != state.owner:
        return "Only the session owner can resolve this prompt"
    _forget(state, pending)
    failing = bool(pending.frame["prompt"]["context"]["params"].get("fails")) and action != "cancel"
    outcome = FAILED if failing else action
    _tell_resolved(state, pending, {"actionId": outcome, "resolvedBy": by})
    state.runner.answer(invocation_id, outcome)
    return None


def asked_on(state: State, key: str) -> str | None:
    """The question that waits on that channel, for prompts that answer it (§3)."""
    for pending in state.pending.values():
        if pending.kind == "question" and pending.row.channel.key == key:
            return pending.id
    return None


def forget(state: State, row: Row) -> None:
    """The turn is over. No client needs a frame."""
    for pending in list(state.pending.values()):
        if pending.row is row:
            _forget(state, pending)


def _wait(state: State, pending: Pending, wait_s: float) -> None:
    state.pending[pending.id] = pending
    state.tell(pending.frame)
    pending.deadline = state.later(wait_s, lambda: _expire(state, pending))


def _expire(state: State, pending: Pending) -> None:
    pending.deadline = None  # it is what runs now
    _forget(state, pending)
    if state.revision == "R":
        state.tell_status(questionExpired=pending.id)
    else:
        state.tell(
            {
                "type": "interactive_prompt_expired",
                "promptId": pending.id,
                "promptType": pending.kind,
                "context": {},
            }
        )
    state.runner.answer(pending.id, EXPIRED)


def _forget(state: State, pending: Pending) -> None:
    state.pending.pop(pending.id, None)
    if pending.deadline is not None:
        pending.deadline.cancel()


def _tell_resolved(state: State, pending: Pending, resolution: Json) -> None:
    state.tell(
        {
            "type": "interactive_prompt_resolved",
            "promptId": pending.id,
            "promptType": pending.kind,
            "resolution": resolution,
        }
    )
