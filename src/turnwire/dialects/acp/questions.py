"""Permissions: what the agent asks for before a call runs, and what it is sent for an answer.

A permission with an option that allows once is an approval: a yes is that option, a no one that
rejects. Nobody allows a thing for ever with a yes: for that, the answer is the id of the option.
A permission without such an option is a question with its options.

The call waits while the connection is open. So no stream may end at an approval, as it does on
wires where the agent asks in a response that is over: each is a question in the stream.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import HandedOn
from turnwire.core.events import Question
from turnwire.core.wire import lenient
from turnwire.dialects.acp.frames import Option, PermissionParams

_ALLOW_ONCE: Final = "allow_once"
_REJECT: Final = ("reject_once", "reject_always")


class Asked(Struct, frozen=True):
    """A permission that is asked for. `request_id` is that of the agent's request."""

    request_id: Raw
    options: Sequence[Option]


class _Verdict(Struct, frozen=True):
    approved: bool | None = None
    option_id: HandedOn | None = msgspec.field(default=None, name="optionId")


_decode_verdict = msgspec.json.Decoder(_Verdict).decode
_encode = msgspec.json.encode


def question(question_id: str, asked: PermissionParams, name: str, given: Raw) -> Question:
    """The event of a permission about a call of this name and input."""
    options = [
        {"optionId": each.option_id, "name": each.name, "kind": each.kind} for each in asked.options
    ]
    fields = {
        "callId": Raw(_encode(asked.tool_call.tool_call_id)),
        "toolName": Raw(_encode(name)),
        "args": given,
        "options": Raw(_encode(options)),
    }
    if asked.tool_call.title:
        fields["text"] = Raw(_encode(asked.tool_call.title))
    if _of_kind(asked.options, _ALLOW_ONCE) is None:
        payload = Raw(_encode(fields))
        return Question(question_id, payload)
    payload = Raw(_encode({"kind": Raw(b'"approval"'), **fields}))
    return Question(question_id, payload, shown=payload)


def chosen(asked: Asked, answer: Raw) -> str | None:
    """The id of the option that an answer means; None if it means none: then nothing is allowed."""
    option_id = safe_json.string(answer)
    verdict = lenient.field(_decode_verdict, answer) or _Verdict()
    option_id = option_id or verdict.option_id
    if option_id is not None:
        ids = {each.option_id for each in asked.options}
        return option_id if option_id in ids else _rejecting(asked.options)
    if bytes(answer) == b"true" or verdict.approved is True:
        return _of_kind(asked.options, _ALLOW_ONCE) or _rejecting(asked.options)
    return _rejecting(asked.options)


def _rejecting(options: Sequence[Option]) -> str | None:
    return next(filter(None, (_of_kind(options, kind) for kind in _REJECT)), None)


def _of_kind(options: Sequence[Option], kind: str) -> str | None:
    return next((each.option_id for each in options if each.kind == kind), None)
