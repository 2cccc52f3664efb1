"""Approvals: the questions with which a response ends, and the answers that begin the next one.

An answer goes into the message that asked, at the part of its call. So it needs the call: its name
and its input, as the user saw them.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.body.conversation import Call
from turnwire.core.bounds import HandedOn
from turnwire.core.events import Approval, Question
from turnwire.core.wire import lenient
from turnwire.dialects.ui_stream.messages import CallPiece

_SIGNED: Final = "#signature="
"""Stands between the id of an approval and its signature in the id of a question. The signature
has to be kept somewhere until the answer comes, to whatever process."""


class Asked(Struct, frozen=True):
    """A request for an approval."""

    approval_id: str
    call_id: str
    signature: str | None = None
    text: str | None = None

    @property
    def question_id(self) -> str:
        return self.approval_id + (f"{_SIGNED}{self.signature}" if self.signature else "")


class Answered(Struct, frozen=True):
    """The answer to a request for an approval. `answer` is JSON."""

    question_id: str
    call: Call
    answer: Raw


class _Verdict(Struct, frozen=True):
    approved: bool = False
    reason: HandedOn | None = None


class _Approval(Struct, omit_defaults=True):
    id: str
    approved: bool | None = None
    reason: str | None = None
    signature: str | None = None


_decode_verdict = msgspec.json.Decoder(_Verdict).decode
_encode = msgspec.json.encode


def question(asked: Asked, call: Call) -> Question:
    """The event of a request for the approval of this call."""
    fields = {
        "kind": Raw(b'"approval"'),
        "callId": _text(call.call_id),
        "toolName": _text(call.name),
        "args": call.input,
    }
    if asked.text:
        fields["text"] = _text(asked.text)
    approval = Approval(call.call_id, call.name, call.input)
    return Question(asked.question_id, Raw(_encode(fields)), approval)


def parts(answers: Iterable[Answered]) -> Mapping[str, bytes]:
    """The parts of the calls that these answers are about, by the id of the call.

    The input in a part is what the user saw, whatever the client says of it.
    """
    return {each.call.call_id: _part(each) for each in answers}


def denial(answer: Raw) -> str | None:
    """Why the user denies a call; None: no denial, or one without a reason."""
    verdict = _verdict(answer)
    return None if verdict.approved else verdict.reason or None


def _part(answered: Answered) -> bytes:
    approval_id, _, signature = answered.question_id.partition(_SIGNED)
    verdict = _verdict(answered.answer)
    approval = _Approval(approval_id, verdict.approved, verdict.reason, signature or None)
    ending = b',"state":"approval-responded","approval":' + _encode(approval) + b"}"
    return CallPiece.of(answered.call) + ending


def _verdict(answer: Raw) -> _Verdict:
    """What an answer means. Only `true`, or an object that says so, is a yes."""
    if bytes(answer) in {b"true", b"false"}:
        return _Verdict(bytes(answer) == b"true")
    reason = safe_json.string(answer)
    if reason is not None:
        return _Verdict(reason=safe_json.join_surrogates(reason))
    return lenient.field(_decode_verdict, answer) or _Verdict()


def _text(text: str) -> Raw:
    return Raw(_encode(safe_json.join_surrogates(text)))
