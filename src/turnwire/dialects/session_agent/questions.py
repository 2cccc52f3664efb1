"""Questions and approvals (page 4.4): frames to events, and answers to frames.

The event does not depend on the revision of the wire. It has `questionId`, `text`, `options`
and `expiresAt` in milliseconds; an approval also has `promptType`, `body`, `actions` and
`context`. A question is answered with a text or a boolean. An approval is approved or denied;
its actions are the ways to approve it.

Pages are sections of docs/wire/session-agent.md.
"""

from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import FEW, HandedOn, SomeId
from turnwire.core.events import Question as QuestionEvent
from turnwire.core.requests import Channel
from turnwire.core.wire import lenient, open_questions
from turnwire.dialects.session_agent import commands
from turnwire.dialects.session_agent.frames import (
    Expired,
    InteractivePrompt,
    PromptContext,
    PromptData,
    Question,
)

QUESTION: Final = "question"
APPROVAL: Final = "approval"

_ALLOW: Final = "allow_once"
_CANCEL: Final = "cancel"
_APPROVES: Final = (True, "approve", _ALLOW)
_DENIES: Final = (False, "deny", _CANCEL)

QuestionFrame: TypeAlias = Question | InteractivePrompt


class Answer(Struct, frozen=True):
    """A frame that answers, and the value with which the agent will confirm the answer."""

    frame: bytes
    confirmed_value: str | bool


class _Action(Struct, frozen=True):
    label: HandedOn


class _ActionId(Struct, frozen=True):
    id: SomeId


class _Response(Struct, frozen=True):
    """The answer that a client gives to a tool that asks for approval."""

    approved: bool
    reason: HandedOn | None = None


class _ApprovalContext(Struct, frozen=True, rename="camel"):
    invocation_id: SomeId | None = None


_number = msgspec.json.Decoder(float).decode
_actions = msgspec.json.Decoder(Annotated[list[_Action], FEW]).decode
_action_ids = msgspec.json.Decoder(Annotated[list[_ActionId], FEW]).decode
_context = msgspec.json.Decoder(PromptContext).decode
_response = msgspec.json.Decoder(_Response).decode
_approval_context = msgspec.json.Decoder(_ApprovalContext).decode


class OpenQuestions(open_questions.OpenQuestions[Channel]):
    """The open questions, by id: those of our turn, and those of other channels."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def add_ours(self, question_id: str) -> None:
        super().add_ours(question_id)
        # It may have been reported before our turn was known.
        self._elsewhere.pop((question_id, self._channel), None)

    def closed(self, question_id: str, named_channel: Channel | None) -> bool:
        """A question was closed, on this channel if the frame names one.

        Returns whether it was an open question of our turn.
        """
        elsewhere = [
            key
            for key in self._elsewhere
            if key[0] == question_id and named_channel in {None, key[1]}
        ]
        is_ours = named_channel in {None, self._channel}
        return self._close(question_id, elsewhere, may_be_ours=is_ours)


def to_event(frame: QuestionFrame) -> QuestionEvent:
    """The event of either frame type."""
    return question_event(frame) if isinstance(frame, Question) else prompt_event(frame)


def question_event(frame: Question) -> QuestionEvent:
    """The event of a question of R, whose `expiresAt` is in seconds (page 9, trap 16)."""
    return _event(
        frame.question_id,
        text=frame.text,
        options=frame.options,
        expiresAt=_milliseconds(frame.expires_at, per_unit=1_000),
    )


def prompt_event(frame: InteractivePrompt) -> QuestionEvent:
    """The event of a question or an approval of A and V."""
    prompt = frame.prompt
    expires_at = _milliseconds(prompt.expires_at, per_unit=1)
    if prompt.type == QUESTION:
        options = context(prompt.context).options or _labels(prompt.actions)
        return _event(prompt.id, text=prompt.title, options=options, expiresAt=expires_at)
    approval_fields = {"body": prompt.body, "actions": prompt.actions, "context": prompt.context}
    shown = {"text": prompt.title, "promptType": prompt.type, **approval_fields}
    question = _event(prompt.id, **shown, expiresAt=expires_at)
    if prompt.type != APPROVAL:
        return question
    return msgspec.structs.replace(question, shown=_payload(prompt.id, **shown))


def answer(frame: QuestionFrame, value: Raw) -> Answer | None:
    """The answer to a question; None if the question does not accept this value."""
    if isinstance(frame, InteractivePrompt) and frame.prompt.type == APPROVAL:
        return _answer_approval(frame.prompt, value)
    text = plain(value)
    return Answer(commands.answer(question_id(frame), text), text)


def question_id(frame: QuestionFrame) -> str:
    return frame.question_id if isinstance(frame, Question) else frame.prompt.id


def channel(frame: QuestionFrame) -> Channel:
    if isinstance(frame, Question):
        return frame.channel
    return frame.named_channel or context(frame.prompt.context).channel


def expired_channel(frame: Expired) -> Channel | None:
    """The channel that an expiry names, in the frame or in its context; None if neither does."""
    return frame.named_channel or context(frame.context).named_channel


def context(raw: Raw) -> PromptContext:
    """The context of a prompt. An approval names its channel only there (page 4.4)."""
    return lenient.field(_context, raw) or PromptContext()


def plain(raw: Raw) -> str | bool:
    """A JSON value as a text or a boolean; any other value becomes its JSON text."""
    data = bytes(raw)
    if data in {b"true", b"false"}:
        return data == b"true"
    text = safe_json.string(raw)
    return safe_json.join_surrogates(data.decode() if text is None else text)


def _event(question_id: str, **fields: Any) -> QuestionEvent:
    return QuestionEvent(question_id, _payload(question_id, **fields))


def _payload(question_id: str, **fields: Any) -> Raw:
    """The payload of an event: JSON with the present fields in a fixed order."""
    names = ("text", "options", "promptType", "body", "actions", "expiresAt", "context")
    present = {name: fields[name] for name in names if fields.get(name)}
    return Raw(msgspec.json.encode({"questionId": question_id, **present}))


def _labels(raw: Raw) -> list[str] | None:
    return [action.label for action in lenient.field(_actions, raw) or ()] or None


def _milliseconds(raw: Raw, *, per_unit: int) -> int | None:
    try:
        return round(_number(raw) * per_unit)
    except (msgspec.DecodeError, OverflowError):
        return None


def _answer_approval(approval: PromptData, value: Raw) -> Answer | None:
    decision, reason = plain(value), None
    if bytes(value).startswith(b"{"):
        try:
            response = _response(value)
        except (msgspec.DecodeError, RecursionError):
            return None
        decision, reason = response.approved, response.reason
    invocation_id = _invocation_id(approval)
    if decision in _DENIES:
        return Answer(commands.deny(invocation_id, reason), _CANCEL)
    if decision in _APPROVES:
        return Answer(commands.approve(invocation_id, _ALLOW), _ALLOW)
    if isinstance(decision, str) and decision in _read_action_ids(approval.actions):
        return Answer(commands.approve(invocation_id, decision), decision)
    return None


def _invocation_id(approval: PromptData) -> str:
    approval_context = lenient.field(_approval_context, approval.context)
    return (approval_context and approval_context.invocation_id) or approval.id


def _read_action_ids(raw: Raw) -> list[str]:
    return [action.id for action in lenient.field(_action_ids, raw) or ()]
