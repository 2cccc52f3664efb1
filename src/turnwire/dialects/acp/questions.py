"""Permissions: what the agent asks for before a call runs, and what it is sent for an answer.

A permission with an option that allows once is an approval: a yes is that option, a no one that
rejects. Nobody allows a thing for ever with a yes: for that, the answer is the id of the option.
A permission without such an option is a question with its options. Nothing is allowed that cannot
be shown to a user (`permissions`).

The call waits while the connection is open. So no stream may end at an approval, as it does on
wires where the agent asks in a response that is over: each is a question in the stream.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import OPEN_QUESTIONS_MAX, HandedOn
from turnwire.core.events import Question
from turnwire.core.wire import lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import frames
from turnwire.dialects.acp.calls import AskedCall
from turnwire.dialects.acp.frames import Option, PermissionParams

_ALLOW_ONCE: Final = "allow_once"
NO_OPTION: Final = "option of a permission"
_REJECT: Final = ("reject_once", "reject_always")


class Asked(Struct, frozen=True):
    """A permission that is asked for."""

    request_id: Raw
    """That of the agent's request, as it wrote it."""
    options: Sequence[tuple[str | int, str | None]]
    """The id and the kind of each."""


class _Verdict(Struct, frozen=True):
    approved: bool | None = None
    option_id: HandedOn | int | None = msgspec.field(default=None, name="optionId")


_decode_verdict = msgspec.json.Decoder(_Verdict).decode
_encode = msgspec.json.encode


def offered(asked: PermissionParams, frame_stats: FrameStats) -> Sequence[Option]:
    """The options of a permission that can be read, and that there is room for."""
    elements = lenient.field(frames.elements, asked.options) or []
    options = list(lenient.each(frames.option, elements))[:OPEN_QUESTIONS_MAX]
    for _ in range(len(elements) - len(options)):
        frame_stats.count_left_out(NO_OPTION, 0)
    return options


def question(
    question_id: str, title: str | None, options: Sequence[Option], call: AskedCall, call_id: str
) -> Question:
    """The event of a permission about a call. It has everything that the agent shows of it."""
    offers = [
        {"optionId": each.option_id, "name": each.name or "", "kind": each.kind or ""}
        for each in options
    ]
    fields = {
        "callId": Raw(_encode(call_id)),
        "toolName": Raw(_encode(call.name)),
        "args": call.input,
        **call.shown,
        "options": Raw(_encode(offers)),
    }
    if title:
        fields["text"] = Raw(_encode(title))
    if all(each.kind != _ALLOW_ONCE for each in options):
        return Question(question_id, Raw(_encode(fields)))
    payload = Raw(_encode({"kind": Raw(b'"approval"'), **fields}))
    return Question(question_id, payload, shown=payload)


def chosen(asked: Asked, answer: Raw) -> str | int | None:
    """The id of the option that an answer means; None if it means none: then nothing is allowed.

    A no is a no, whatever option is named beside it.
    """
    verdict = lenient.field(_decode_verdict, answer) or _Verdict()
    named = safe_json.string(answer) or verdict.option_id
    if verdict.approved is False:
        return _rejecting(asked)
    if named is not None:
        is_offered = any(option_id == named for option_id, _ in asked.options)
        return named if is_offered else _rejecting(asked)
    if bytes(answer) == b"true" or verdict.approved is True:
        return _of_kind(asked, _ALLOW_ONCE, *_REJECT)
    return _rejecting(asked)


def _rejecting(asked: Asked) -> str | int | None:
    return _of_kind(asked, *_REJECT)


def _of_kind(asked: Asked, *kinds: str) -> str | int | None:
    """The id of the first option of the first of these kinds that there is."""
    found = (option_id for kind in kinds for option_id, is_of in asked.options if is_of == kind)
    return next(found, None)
