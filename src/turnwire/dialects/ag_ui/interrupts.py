"""Interrupts: the questions with which a run ends, and the answers that begin the next run.

Agents spell an interrupt in several ways, and some send the same one in two or three of them. An
interrupt of the run's outcome counts alone; the other spellings count only if there is none.

No interrupt is dropped: the next run must answer all of them. So where one cannot be read, none is
asked, and the run ends with an error (`Verdict.UNREADABLE`).
"""

import enum
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import FEW, ID_MAX, OPEN_QUESTIONS_MAX, HandedOn, Id, SomeId
from turnwire.core.events import Approval, Question
from turnwire.core.wire import json_text, lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui import date_time, decisions
from turnwire.dialects.ag_ui.decisions import About, Action, Actions, Decisions

ON_INTERRUPT: Final = "on_interrupt"
APPROVAL_REQUEST: Final = "function_approval_request"

SPELLINGS: Final = frozenset({ON_INTERRUPT, APPROVAL_REQUEST})
"""The names of CUSTOM events that spell an interrupt."""

UNREADABLE: Final = "interrupt"
"""How an interrupt that cannot be read is counted."""

COMMAND: Final = "command:"
"""How the id of a question begins whose interrupt has no id: `forwardedProps` answer it."""

_OWN: Final = "own:"
"""How the id of a question begins whose interrupt has an id that would be read in another way."""

_READ: Final = (COMMAND, decisions.PREFIX, _OWN)
_NO_ROOM: Final = "the id of its question would be too long"
_APPROVED: Final = "approved"
_NOTHING: Final = Raw(b"{}")
_YES_OR_NO_REASONS: Final = frozenset({"tool_call", "confirmation"})


class Verdict(enum.Enum):
    """How a run ended, by its `outcome`."""

    SUCCESS = enum.auto()
    INTERRUPT = enum.auto()
    UNREADABLE = enum.auto()
    """It asks something that cannot be shown."""
    CANCELLED = enum.auto()


class Interrupt(Struct, frozen=True, kw_only=True):
    """One interrupt, however it was spelled."""

    question_id: str
    text: str | None = None
    reason: str = ""
    call_id: str | None = None
    about: Sequence[About] = ()
    """The calls that it is about, also where it is shown apart from their cards."""
    fields: Mapping[str, Raw] = {}
    """What else the client is shown."""
    asks_yes_or_no: bool = False
    is_decision: bool = False
    """Whether its answer has a yes or a no, maybe with more beside it."""
    takes_reason: bool = True
    """Whether an answer may have a reason beside the yes or the no."""
    is_of_graph: bool = False
    """Whether it comes from a graph, which tells an open interrupt again to each prompt."""
    actions: Actions | None = None
    """The calls that it wants decisions about."""
    requests: Sequence[Action] = ()
    """Those that it wants decisions about which are not just a yes or a no."""

    @property
    def decides(self) -> bool:
        """Whether an answer to it may allow a call."""
        return self.asks_yes_or_no or self.is_decision


class Answered(Struct, frozen=True):
    """The answer to an interrupt. `is_approval`: it asked for a yes or a no, and nothing else."""

    question_id: str
    answer: Raw
    is_approval: bool
    about: Sequence[About] = ()
    is_decision: bool = False

    @property
    def decides(self) -> bool:
        return self.is_approval or self.is_decision


class _Outcome(Struct, frozen=True):
    """The outcome of a run. No field is checked: a wrong one must not hide an interrupt."""

    type: Raw = Raw()
    interrupts: Raw = Raw()


class _Interrupt(Struct, frozen=True, rename="camel"):
    id: Id
    reason: SomeId = ""
    message: HandedOn | None = None
    tool_call_id: SomeId | None = None
    response_schema: Raw = Raw()
    expires_at: Raw = Raw()
    metadata: Raw = Raw()

    def __post_init__(self) -> None:
        if len(_question_id(self.id)) > ID_MAX:
            raise ValueError(_NO_ROOM)


class _Schema(Struct, frozen=True, rename="camel"):
    properties: Annotated[dict[HandedOn, Raw], FEW] = {}
    required: Annotated[list[HandedOn], FEW] = []
    additional_properties: Raw = Raw()


class _Asked(Struct, frozen=True, rename="camel"):
    response_schema: Raw = Raw()


class _Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    """A yes or a no with a reason, and nothing else."""

    approved: bool
    reason: HandedOn


class _GraphValue(Struct, frozen=True):
    raw: Raw = Raw()


class _FunctionCall(Struct, frozen=True):
    call_id: SomeId = ""
    id: SomeId = ""


class _Confirmation(Struct, frozen=True, rename="camel"):
    original_function_call: _FunctionCall = _FunctionCall()


class _Metadata(Struct, frozen=True):
    """What frameworks add to an interrupt, each under its own name."""

    langgraph: _GraphValue | None = None
    adk: _Confirmation = _Confirmation()
    reason: HandedOn | None = None


class _ApprovalRequest(Struct, frozen=True):
    id: Id
    function_call: _FunctionCall = _FunctionCall()

    def __post_init__(self) -> None:
        if len(_question_id(self.id)) > ID_MAX:
            raise ValueError(_NO_ROOM)


class _Text(Struct, frozen=True):
    """An object of which one field is likely to be the question."""

    question: HandedOn | None = None
    message: HandedOn | None = None
    text: HandedOn | None = None


_decode_outcome = msgspec.json.Decoder(_Outcome).decode
_decode_interrupts = msgspec.json.Decoder(
    Annotated[list[Raw], Meta(max_length=OPEN_QUESTIONS_MAX)]
).decode
_decode_interrupt = msgspec.json.Decoder(_Interrupt).decode
_decode_schema = msgspec.json.Decoder(_Schema).decode
_decode_asked = msgspec.json.Decoder(_Asked).decode
_decode_verdict = msgspec.json.Decoder(_Verdict).decode
_decode_metadata = msgspec.json.Decoder(_Metadata).decode
_decode_request = msgspec.json.Decoder(_ApprovalRequest).decode
_decode_text = msgspec.json.Decoder(_Text).decode


def verdict_of(outcome: Raw, frame_stats: FrameStats) -> tuple[Verdict, Sequence[Interrupt]]:
    """How a run ended, and its interrupts. A run of an unknown outcome ended.

    A run that names interrupts asks, whatever it calls its outcome, unless it was cancelled.
    """
    if not outcome:  # as of nearly all runs
        return Verdict.SUCCESS, ()
    decoded = lenient.field(_decode_outcome, outcome) or _Outcome()
    word = safe_json.short_string(decoded.type)
    if word == "cancelled":
        return Verdict.CANCELLED, ()
    try:
        entries = _decode_interrupts(decoded.interrupts) if _is_present(decoded.interrupts) else ()
        found = [_decode_interrupt(each) for each in entries]
    except msgspec.DecodeError:
        frame_stats.count_left_out(UNREADABLE, len(decoded.interrupts))
        return Verdict.UNREADABLE, ()
    verdict = Verdict.INTERRUPT if found or word == "interrupt" else Verdict.SUCCESS
    return verdict, [_from_outcome(each, frame_stats) for each in found]


def may_be_in(raw: bytes) -> bool:
    """Whether an event that could not be decoded may spell an interrupt."""
    return b"CUSTOM" in raw and any(name.encode() in raw for name in SPELLINGS)


def from_custom(name: str, value: Raw, question_id: str) -> Interrupt | None:
    """The interrupt that a CUSTOM event of one of the `SPELLINGS` spells; None: it is unreadable.

    `question_id` is for an interrupt without an id.
    """
    if name == ON_INTERRUPT:
        text = safe_json.string(value)
        shown = json_text.parsed(text) if text is not None else value
        question_id = COMMAND + question_id
        actions = decisions.actions_in(shown, question_id)
        return Interrupt(
            question_id=question_id,
            text=_text_in(shown) if actions is None else None,
            fields=_present(value=shown),
            is_of_graph=True,
            actions=actions,
            requests=decisions.requests_in(shown) if actions is None else (),
        )
    request = lenient.field(_decode_request, value)
    if request is None:
        return None
    return Interrupt(
        question_id=_question_id(request.id),
        call_id=request.function_call.call_id or None,
        asks_yes_or_no=True,
        fields=_present(value=value),
    )


def asked_again(interrupt: Interrupt, why: str) -> Interrupt:
    """The same interrupt with a text that begins with `why` it is asked again."""
    text = ": ".join(filter(None, (why, interrupt.text)))
    return msgspec.structs.replace(interrupt, text=text)


def question(interrupt: Interrupt, call: tuple[str, Raw] | None, *, as_approval: bool) -> Question:
    """The event of an interrupt.

    `call` are the name and the input of the call that it is about. `as_approval`: an approval of
    that call is asked for, if the interrupt asks for a yes or a no.
    """
    fields = dict(interrupt.fields)
    fields |= _present(text=_encoded(interrupt.text), reason=_encoded(interrupt.reason))
    if not interrupt.asks_yes_or_no:
        return Question(interrupt.question_id, Raw(msgspec.json.encode(fields)))
    fields["kind"] = Raw(b'"approval"')
    if interrupt.call_id is not None and call is not None:
        name, input_ = call
        fields |= {
            "callId": _encoded(interrupt.call_id),
            "toolName": _encoded(name),
            "args": input_,
        }
        if as_approval:
            approval = Approval(interrupt.call_id, name, input_)
            return Question(interrupt.question_id, Raw(msgspec.json.encode(fields)), approval)
    payload = Raw(msgspec.json.encode(fields))
    return Question(interrupt.question_id, payload, shown=payload)


def takes_reason(question: Question) -> bool:
    """Whether an answer to a question that was asked may have a reason."""
    asked = lenient.field(_decode_asked, question.payload)
    return asked is None or _takes_reason(asked.response_schema)


def without_reason(answer: Raw) -> Raw | None:
    """The yes or the no of an answer that has a reason beside it; None for any other answer."""
    verdict = lenient.field(_decode_verdict, answer)
    return None if verdict is None else Raw(msgspec.json.encode(verdict.approved))


def resume_fields(answers: Collection[Answered]) -> tuple[Raw | None, Raw]:
    """The fields `resume` and `forwardedProps` of the run that these answers begin."""
    if not answers:  # as of each first run
        return None, _NOTHING
    payloads: dict[str, Raw] = {}
    decided = Decisions()
    for each in answers:
        if each.is_approval and decided.take(each.question_id, each.answer):
            continue
        payloads[each.question_id] = _payload(each.answer, is_approval=each.is_approval)
    entries, forwarded = [], _NOTHING
    for interrupt_id, payload in (payloads | decided.payloads()).items():
        if interrupt_id.startswith(COMMAND):
            forwarded = Raw(b'{"command":{"resume":%b}}' % bytes(payload))
            continue
        own_id = interrupt_id.removeprefix(_OWN)
        entries.append({"interruptId": own_id, "status": "resolved", "payload": payload})
    return (Raw(msgspec.json.encode(entries)) if entries else None), forwarded


def _payload(answer: Raw, *, is_approval: bool) -> Raw:
    """An answer as agents want it: a yes or a no is an object."""
    if is_approval and bytes(answer) in {b"true", b"false"}:
        return Raw(b'{"approved":%b}' % bytes(answer))
    return answer


def _from_outcome(found: _Interrupt, frame_stats: FrameStats) -> Interrupt:
    metadata = lenient.field(_decode_metadata, found.metadata) or _Metadata()
    value = Raw() if metadata.langgraph is None else metadata.langgraph.raw
    question_id = _question_id(found.id)
    actions = decisions.actions_in(value, question_id)
    text = _text_in(value) if actions is None else None
    return Interrupt(
        question_id=question_id,
        text=found.message or text or metadata.reason,
        reason=found.reason,
        # Of an invented call that only asks: the call that it asks about.
        call_id=metadata.adk.original_function_call.id or found.tool_call_id or None,
        is_of_graph=metadata.langgraph is not None,
        actions=actions,
        requests=decisions.requests_in(value) if actions is None else (),
        asks_yes_or_no=_asks_yes_or_no(found),
        is_decision=_has_yes_or_no(found),
        takes_reason=_takes_reason(found.response_schema),
        fields=_present(
            responseSchema=found.response_schema,
            expiresAt=_expires_at(found.expires_at, frame_stats),
            value=value,
        ),
    )


def _question_id(interrupt_id: str) -> str:
    """The id of a question whose answer is sent to the interrupt of this id."""
    return f"{_OWN}{interrupt_id}" if interrupt_id.startswith(_READ) else interrupt_id


def _expires_at(raw: Raw, frame_stats: FrameStats) -> Raw:
    """Until when an interrupt waits, in milliseconds of the epoch, as in all questions.

    Empty, and counted, if it is no point of time: it could not be heeded.
    """
    if not _is_present(raw):
        return Raw()
    read = date_time.milliseconds(safe_json.string(raw) or "")
    if read is None:
        frame_stats.count_left_out("expiresAt of an interrupt", len(raw))
        return Raw()
    return Raw(b"%d" % read)


def _asks_yes_or_no(found: _Interrupt) -> bool:
    """Whether a yes or a no is an answer: by the schema of the answer, else by the reason."""
    schema = lenient.field(_decode_schema, found.response_schema)
    if schema is None or not schema.properties:
        return found.reason in _YES_OR_NO_REASONS
    return _APPROVED in schema.properties and set(schema.required) <= {_APPROVED}


def _has_yes_or_no(found: _Interrupt) -> bool:
    """Whether the schema of the answer has a place for a yes or a no."""
    schema = lenient.field(_decode_schema, found.response_schema)
    return schema is not None and _APPROVED in schema.properties


def _takes_reason(schema: Raw) -> bool:
    """Whether the schema of an answer allows a reason. An agent may refuse what it does not."""
    read = lenient.field(_decode_schema, schema)
    is_closed = read is not None and bytes(read.additional_properties) == b"false"
    return read is None or not is_closed or "reason" in read.properties


def _text_in(value: Raw) -> str | None:
    """The question in a value of any shape, if there is one."""
    if (text := safe_json.string(value)) is not None:
        return text
    found = lenient.field(_decode_text, value)
    return None if found is None else found.question or found.message or found.text


def _encoded(text: str | None) -> Raw:
    return Raw(msgspec.json.encode(safe_json.join_surrogates(text))) if text else Raw()


def _is_present(value: Raw) -> bool:
    return bool(value) and bytes(value) != b"null"


def _present(**fields: Raw) -> dict[str, Raw]:
    return {name: value for name, value in fields.items() if _is_present(value)}
