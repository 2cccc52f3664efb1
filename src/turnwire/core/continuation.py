"""A message of the assistant that comes back: what its user answered in it.

Clients send the whole message again once its user approved a tool, or an app
put an answer into it (measured; wire/ui-message-stream 4.2). Only what stands
after its last `step-start` is news. Our own output comes back with it, and is
ignored; a message with nothing in it but that is refused, which stops a client
that would send it for ever.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import harmless
from turnwire.core.bounds import Word
from turnwire.core.known import Known
from turnwire.core.steps import Steps
from turnwire.errors import BadRequest

RESPONSES_MAX: Final = 32
"""Most answers in one message."""

ANSWER_MAX: Final = 100_000
"""Longest answer, in characters of its JSON."""

REASON_MAX: Final = 10_000
"""Longest reason of an approval or a denial, in characters."""

PARTS_MAX: Final = 1_000
"""Most parts after the last `step-start`."""

KNOWN_MAX: Final = 10_000
"""Most parts in all steps. Each is counted, which takes three microseconds."""

_ESCAPES_MAX: Final = 2_000_000
"""Most escapes in the text of a part: it is read as a whole, and each takes its time."""

_STEP: Final = 64
"""Parts that are read in one go."""

_Id = Annotated[str, Meta(min_length=1, max_length=2_048)]
"""An approval's id may carry a signature; it is opaque here."""


class ApprovalResponse(Struct, frozen=True):
    """The user approved, or denied, what a tool is about to do."""

    approval_id: str
    approved: bool
    reason: str | None = None


class QuestionAnswer(Struct, frozen=True):
    """The user answered a question. `answer` is JSON."""

    question_id: str
    answer: Raw
    approval_id: str | None = None
    """What stands there as the question's id of an approval, if it is a text."""


Response: TypeAlias = ApprovalResponse | QuestionAnswer


class Continuation(Struct, frozen=True):
    """Answers, at least one.

    `message_id` is the client's id of the assistant's message, `chat_id` its id
    of the conversation.
    """

    message_id: str | None
    responses: tuple[Response, ...]
    chat_id: str | None = None
    known: Known = Known()


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


class _Data(Struct):
    """What a question says, however it is."""

    state: Raw = Raw()


class _Shown(_Part, rename="camel"):
    """A part, however it is: whatever is of another type is not looked at."""

    id: Raw = Raw()
    tool_call_id: Raw = Raw()
    state: Raw = Raw()
    data: Raw = Raw()
    input: Raw = Raw()


class _Question(Struct):
    data: Raw = Raw(b"null")
    id: _Id | None = None


class _Answered(Struct, rename="camel"):
    state: Word | None = None
    answer: Raw = Raw()
    question_id: _Id | None = None
    approval_id: Raw = Raw()


_CHARACTER_BYTES: Final = 4
"""The longest character in UTF-8."""

_TOO_LONG: Final = f"An answer is longer than {ANSWER_MAX} characters"

_json = msgspec.json.Decoder().decode
_part = msgspec.json.Decoder(_Part).decode
_data = msgspec.json.Decoder(_Data).decode
_shown = msgspec.json.Decoder(_Shown).decode
_tool = msgspec.json.Decoder(_Tool).decode
_approval = msgspec.json.Decoder(_Approval).decode
_question = msgspec.json.Decoder(_Question).decode
_answered = msgspec.json.Decoder(_Answered).decode


def reading(
    message_id: str | None, parts: Sequence[Raw], chat_id: str | None = None
) -> Steps[Continuation]:
    """Read the answers out of the parts of an assistant's message, in steps.

    Raises:
        BadRequest: there is none, or one that cannot be forwarded.

    """
    responses: list[Response] = []
    for part in (yield from _news(parts)):
        found = _response(*part)
        if found is not None:
            responses.append(found)
        yield
    if not responses:
        raise BadRequest("Nothing to forward")
    if len(responses) > RESPONSES_MAX:
        raise BadRequest(f"There are more than {RESPONSES_MAX} answers")
    known = yield from _known(message_id, parts)
    return Continuation(message_id, tuple(responses), chat_id, known)


def _known(message_id: str | None, parts: Sequence[Raw]) -> Steps[Known]:
    """What the client has of the message, all steps of it."""
    if len(parts) > KNOWN_MAX:
        raise BadRequest("The last message has too many parts")
    chars, count = Counter[str](), Counter[str]()
    calls: dict[str, _Shown] = {}
    asked: set[str] = set()
    for number, raw in enumerate(parts):
        part = _shown(raw)
        count[part.type] += 1
        if part.type in {"text", "reasoning"}:
            chars[part.type] += _length(part.text)
        if (its_id := _open_call(part)) is not None:
            calls[its_id] = part
        if (its_id := _open_question(part)) is not None:
            asked.add(its_id)
        if number % _STEP == 0:
            yield
    return Known(
        message_id=message_id,
        text=chars["text"],
        texts=count["text"],
        reasoning=chars["reasoning"],
        reasonings=count["reasoning"],
        files=count["file"],
        sources=count["source-url"],
        pending=frozenset(asked | calls.keys()),
        blank=frozenset(its_id for its_id, part in calls.items() if not part.input),
    )


def _length(text: Raw) -> int:
    if bytes(text).count(b"\\") > _ESCAPES_MAX:
        raise BadRequest("A text of the last message is too long")
    return len(harmless.string(text) or "")


def _open_question(part: _Shown) -> str | None:
    """The id of a question that waits for its end; None if this part is none."""
    if part.type != "data-question" or _state(part.data) != "open":
        return None
    return harmless.short(part.id)


def _open_call(part: _Shown) -> str | None:
    """The id of a call that waits for its end; None if this part is none."""
    if not _is_tool(part.type):
        return None
    ended = harmless.string(part.state) in {"output-available", "output-error", "output-denied"}
    return None if ended else harmless.short(part.tool_call_id)


def _is_tool(kind: str) -> bool:
    return kind == "dynamic-tool" or kind.startswith("tool-")


def _state(data: Raw) -> str | None:
    try:
        return harmless.string(_data(data or b"{}").state)
    except msgspec.ValidationError:
        return None


def _news(parts: Sequence[Raw]) -> Steps[Sequence[tuple[str, Raw]]]:
    """The parts after the last `step-start`, in order, each with its type."""
    news: list[tuple[str, Raw]] = []
    for part in reversed(parts):
        kind = _part(part).type
        if kind == "step-start":
            break
        if len(news) == PARTS_MAX:
            raise BadRequest("The last message has too many parts")
        news.append((kind, part))
        yield
    return news[::-1]


def _response(kind: str, part: Raw) -> Response | None:
    if kind == "data-question":
        return _answer(part)
    return _approved(part) if _is_tool(kind) else None


def _approved(part: Raw) -> ApprovalResponse | None:
    tool = _tool(part)
    if tool.state == "approval-responded":
        given = _approval(tool.approval or b"null")
        return ApprovalResponse(given.id, given.approved, given.reason or None)
    if tool.state in {"output-available", "output-error"} and not tool.provider_executed:
        raise BadRequest("A tool output of the client cannot be forwarded: tools run at the agent")
    return None


def _answer(part: Raw) -> QuestionAnswer | None:
    """The answer that an app put into a question, and said so by its state.

    A question that the agent resolved has its answer too, and another state.
    """
    question = _question(part)
    told = _answered(question.data)
    if told.state != "answered" or not told.answer:
        return None
    if memoryview(told.answer).nbytes > ANSWER_MAX * _CHARACTER_BYTES:
        raise BadRequest(_TOO_LONG)
    # `Raw` is skipped over, not looked into: only here are its strings known to be whole.
    if not isinstance(_json(told.answer), str | bool | list | dict):
        raise BadRequest("An answer is neither a text, a boolean, a list nor an object")
    if len(bytes(told.answer).decode()) > ANSWER_MAX:
        raise BadRequest(_TOO_LONG)
    question_id = question.id or told.question_id
    if question_id is None:
        raise BadRequest("An answer names no question")
    return QuestionAnswer(question_id, told.answer.copy(), harmless.string(told.approval_id))
