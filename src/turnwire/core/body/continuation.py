"""Reads the answers out of an assistant message that a client sends back.

Use: `read_in_steps(message_id, parts)` returns a `Continuation`: the answers, and a `ClientCopy`
of what the client has of the message.

Clients send the whole message again after the user approved a tool, or an app
put an answer into it (measured; wire/ui-message-stream 4.2). Only the parts
after its last `step-start` can be new. The gateway's own output comes back with the
message, and is ignored. A message without an answer is refused, which stops a client
that would send it forever.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.approvals import APPROVAL_ID_MAX
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import Conversation
from turnwire.core.bounds import Word
from turnwire.core.steps import Steps
from turnwire.errors import BadRequest

RESPONSES_MAX: Final = 32
"""Most answers in one message."""

ANSWER_MAX: Final = 100_000
"""Longest answer, in characters of its JSON."""

REASON_MAX: Final = 10_000
"""Longest reason of an approval or a denial, in characters."""

STEP_PARTS_MAX: Final = 1_000
"""Most parts after the last `step-start`."""

MESSAGE_PARTS_MAX: Final = 10_000
"""Most parts in all steps together. To count one part takes three microseconds."""

_ESCAPES_MAX: Final = 2_000_000
"""Most escapes in the text of a part. The text is decoded in one go, and each escape takes time."""

_PARTS_AT_ONCE: Final = 64
"""Parts that are counted in one go."""

_Id = Annotated[str, Meta(min_length=1, max_length=APPROVAL_ID_MAX)]
"""The id of an approval may hold a signature. This module does not look into it."""


class ApprovalResponse(Struct, frozen=True):
    """The user approved or denied a tool call."""

    approval_id: str
    approved: bool
    reason: str | None = None
    call_id: str | None = None
    """The call at whose card the user answered: the client's word."""


class QuestionAnswer(Struct, frozen=True):
    """The user answered a question. `answer` is JSON."""

    question_id: str
    answer: Raw
    approval_id: str | None = None
    """The `approvalId` that the question's data names, if it is a string."""
    call_id: str | None = None
    """The call that the question's data names, if it is an approval: the client's word."""


Response: TypeAlias = ApprovalResponse | QuestionAnswer


class Continuation(Struct, frozen=True):
    """The answers of a message, at least one, and what the client has of the message.

    `message_id` is the client's id of the assistant's message, `chat_id` is the client's id
    of the chat.
    """

    message_id: str | None
    responses: tuple[Response, ...]
    chat_id: str | None = None
    client_copy: ClientCopy = ClientCopy()
    conversation: Conversation | None = None
    """What is sent to an agent that does not keep it."""

    @property
    def size(self) -> int:
        """About how much memory the conversation takes, in bytes."""
        return 0 if self.conversation is None else self.conversation.size


class _Part(Struct):
    type: Word
    text: Raw = Raw()


class _Approval(Struct):
    id: _Id
    approved: bool
    reason: Annotated[str, Meta(max_length=REASON_MAX)] | None = None


class _Tool(Struct, rename="camel"):
    state: Word | None = None
    provider_executed: bool | None = None
    approval: Raw = Raw()
    tool_call_id: Raw = Raw()


class _LenientData(Struct):
    """The data of a question, with a `state` of any type."""

    state: Raw = Raw()


class _LenientPart(_Part, rename="camel"):
    """A part with fields of any type. A value of an unexpected type is ignored later."""

    id: Raw = Raw()
    tool_call_id: Raw = Raw()
    state: Raw = Raw()
    data: Raw = Raw()
    input: Raw = Raw()
    preliminary: Raw = Raw()


class _Question(Struct):
    data: Raw = Raw(b"null")
    id: _Id | None = None


class _QuestionData(Struct, rename="camel"):
    state: Word | None = None
    answer: Raw = Raw()
    question_id: _Id | None = None
    approval_id: Raw = Raw()
    call_id: Raw = Raw()


_CHARACTER_BYTES: Final = 4
"""Most bytes of a character in UTF-8."""

_TOO_LONG: Final = f"An answer is longer than {ANSWER_MAX} characters"

_json = msgspec.json.Decoder().decode
_part = msgspec.json.Decoder(_Part).decode
_lenient_data = msgspec.json.Decoder(_LenientData).decode
_lenient_part = msgspec.json.Decoder(_LenientPart).decode
_tool = msgspec.json.Decoder(_Tool).decode
_approval = msgspec.json.Decoder(_Approval).decode
_question = msgspec.json.Decoder(_Question).decode
_question_data = msgspec.json.Decoder(_QuestionData).decode


def read_in_steps(
    message_id: str | None, parts: Sequence[Raw], chat_id: str | None = None
) -> Steps[Continuation]:
    """Read the answers out of the parts of an assistant's message, in steps.

    Raises:
        BadRequest: there is no answer, or one that cannot be forwarded.

    """
    responses: list[Response] = []
    for part in (yield from _last_step(parts)):
        response = _response(*part)
        if response is not None:
            responses.append(response)
        yield
    if not responses:
        raise BadRequest("Nothing to forward")
    if len(responses) > RESPONSES_MAX:
        raise BadRequest(f"There are more than {RESPONSES_MAX} answers")
    client_copy = yield from _client_copy(message_id, parts)
    return Continuation(message_id, tuple(responses), chat_id, client_copy)


def _client_copy(message_id: str | None, parts: Sequence[Raw]) -> Steps[ClientCopy]:
    """Count what the client has of the message, in all its steps."""
    if len(parts) > MESSAGE_PARTS_MAX:
        raise BadRequest("The last message has too many parts")
    chars, count = Counter[str](), Counter[str]()
    open_calls: dict[str, _LenientPart] = {}
    open_questions: set[str] = set()
    for number, raw in enumerate(parts):
        part = _lenient_part(raw)
        count[part.type] += 1
        if part.type in {"text", "reasoning"}:
            chars[part.type] += _length(part.text)
        elif part.type.startswith("data-") and bytes(part.id) in {b"", b"null"}:
            count["data"] += 1
        if (item_id := _open_call(part)) is not None:
            open_calls[item_id] = part
        if (item_id := _open_question(part)) is not None:
            open_questions.add(item_id)
        if number % _PARTS_AT_ONCE == 0:
            yield
    return ClientCopy(
        message_id=message_id,
        text_chars=chars["text"],
        text_blocks=count["text"],
        reasoning_chars=chars["reasoning"],
        reasoning_blocks=count["reasoning"],
        files=count["file"],
        sources=count["source-url"],
        data=count["data"],
        pending=frozenset(open_questions | open_calls.keys()),
        without_input=frozenset(
            call_id for call_id, part in open_calls.items() if not _has_input(part)
        ),
    )


def _length(text: Raw) -> int:
    """Return the characters of a JSON string; 0 for any other value."""
    if bytes(text).count(b"\\") > _ESCAPES_MAX:
        raise BadRequest("A text of the last message is too long")
    return len(safe_json.string(text) or "")


def _open_question(part: _LenientPart) -> str | None:
    """Return the id of an open question; None if the part is not one."""
    if part.type != "data-question" or _state(part.data) != "open":
        return None
    return safe_json.short_string(part.id)


def _open_call(part: _LenientPart) -> str | None:
    """Return the id of a tool call without an outcome; None if the part is not one."""
    if not _is_tool(part.type):
        return None
    state = safe_json.string(part.state)
    is_final = state == "output-available" and bytes(part.preliminary) != b"true"
    has_ended = is_final or state in {"output-error", "output-denied"}
    return None if has_ended else safe_json.short_string(part.tool_call_id)


def _has_input(part: _LenientPart) -> bool:
    """Whether a tool call has its whole input. Clients show an input while it comes in pieces."""
    return bool(part.input) and safe_json.string(part.state) != "input-streaming"


def _is_tool(kind: str) -> bool:
    return kind == "dynamic-tool" or kind.startswith("tool-")


def _state(data: Raw) -> str | None:
    try:
        return safe_json.string(_lenient_data(data or b"{}").state)
    except msgspec.ValidationError:
        return None


def _last_step(parts: Sequence[Raw]) -> Steps[Sequence[tuple[str, Raw]]]:
    """Return the parts after the last `step-start`, in order, each with its type."""
    last_parts: list[tuple[str, Raw]] = []
    for part in reversed(parts):
        kind = _part(part).type
        if kind == "step-start":
            break
        if len(last_parts) == STEP_PARTS_MAX:
            raise BadRequest("The last message has too many parts")
        last_parts.append((kind, part))
        yield
    return last_parts[::-1]


def _response(kind: str, part: Raw) -> Response | None:
    if kind == "data-question":
        return _question_answer(part)
    return _approval_response(part) if _is_tool(kind) else None


def _approval_response(part: Raw) -> ApprovalResponse | None:
    tool = _tool(part)
    if tool.state == "approval-responded":
        approval = _approval(tool.approval or b"null")
        call_id = safe_json.short_string(tool.tool_call_id)
        return ApprovalResponse(approval.id, approval.approved, approval.reason or None, call_id)
    if tool.state in {"output-available", "output-error"} and not tool.provider_executed:
        raise BadRequest("A tool output of the client cannot be forwarded: tools run at the agent")
    return None


def _question_answer(part: Raw) -> QuestionAnswer | None:
    """Return the answer that an app put into a question; None if the state is not `answered`.

    A question that the agent resolved holds an answer too, but has another state.
    """
    question = _question(part)
    data = _question_data(question.data)
    if data.state != "answered" or not data.answer:
        return None
    if memoryview(data.answer).nbytes > ANSWER_MAX * _CHARACTER_BYTES:
        raise BadRequest(_TOO_LONG)
    # The decoder skips a `Raw` without a check of its strings. This decodes them.
    if not isinstance(_json(data.answer), str | bool | list | dict):
        raise BadRequest("An answer is neither a text, a boolean, a list nor an object")
    if len(bytes(data.answer).decode()) > ANSWER_MAX:
        raise BadRequest(_TOO_LONG)
    question_id = question.id or data.question_id
    if question_id is None:
        raise BadRequest("An answer names no question")
    return QuestionAnswer(
        question_id,
        data.answer.copy(),
        safe_json.string(data.approval_id),
        safe_json.short_string(data.call_id),
    )
