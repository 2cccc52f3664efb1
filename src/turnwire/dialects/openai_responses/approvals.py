"""Requests for approvals: the items that ask, and the items that answer them.

A response that asks is over. The answers are the input of the next one, behind the items that they
are to. What must be known of such an item is its id and the label of its server; both travel in the
id of the question, which is signed.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import ID_MAX, HandedOn
from turnwire.core.events import Approval, Question
from turnwire.core.wire import lenient
from turnwire.dialects.openai_responses import items
from turnwire.dialects.openai_responses.items import Item

_SEPARATOR: Final = "/"
"""Between the id of a request, perhaps that of its response, and the label of its server. No id has
it: in that of a response it is escaped."""

DENIED: Final = "The user denied this call"


class Request(Struct, frozen=True):
    """A request for an approval."""

    request_id: str
    label: str
    name: str
    input: Raw

    def question_id(self, response_id: str | None) -> str:
        """The id of its question. `response_id` is what the answer goes on with, if by an id."""
        named = () if response_id is None else (quote(response_id, safe=""),)
        return _SEPARATOR.join((self.request_id, *named, self.label))


class _RequestItem(Struct, frozen=True, tag_field="type", tag="mcp_approval_request"):
    id: str
    name: str
    server_label: str
    arguments: str


class _ResponseItem(
    Struct, frozen=True, tag_field="type", tag="mcp_approval_response", omit_defaults=True
):
    approval_request_id: str
    approve: bool
    reason: str = ""


class _Verdict(Struct, frozen=True):
    """An answer with a reason beside the yes or the no."""

    approved: bool = False
    reason: HandedOn = ""


_decode_verdict = msgspec.json.Decoder(_Verdict).decode


def request_of(item: Item) -> Request | None:
    """Return the request that an item is; None if it cannot be answered."""
    request_id, label = items.word(item.id), items.word(item.server_label)
    name = items.word(item.name)
    if not request_id or not name or _SEPARATOR in request_id:
        return None
    if len(request_id) + len(label) >= ID_MAX:
        return None
    return Request(request_id, label, name, items.input_of(item) or Raw(b"{}"))


def question(request: Request, response_id: str | None) -> Question:
    """The event that asks."""
    approval = Approval(request.request_id, request.name, request.input)
    payload = {
        "kind": "approval",
        "callId": request.request_id,
        "toolName": request.name,
        "serverLabel": request.label,
        "args": request.input,
    }
    return Question(request.question_id(response_id), Raw(msgspec.json.encode(payload)), approval)


def request_id_in(question_id: str) -> str:
    """Return the id of the request that a question is of."""
    return question_id.partition(_SEPARATOR)[0]


def response_id_in(question_id: str) -> str | None:
    """Return the id of the response that asked; None if the question names none."""
    _, *response_ids, _ = question_id.split(_SEPARATOR, 2)
    return next(map(unquote, response_ids), None)


def asking_item(question_id: str, name: str, whole: Raw) -> bytes:
    """The item that asked, again."""
    request_id, _, label = question_id.partition(_SEPARATOR)
    text = safe_json.string(whole)
    arguments = bytes(whole).decode() if text is None else text
    return msgspec.json.encode(_RequestItem(request_id, name, label, arguments))


def is_yes(answer: Raw) -> bool:
    """Whether an answer approves. Whatever is no plain yes denies."""
    return _verdict(answer).approved


def answering_items(answers: Iterable[tuple[str, Raw]]) -> list[bytes]:
    """The items that answer, by the ids of the questions."""
    return [_answering_item(question_id, _verdict(answer)) for question_id, answer in answers]


def _answering_item(question_id: str, verdict: _Verdict) -> bytes:
    request_id = request_id_in(question_id)
    return msgspec.json.encode(_ResponseItem(request_id, verdict.approved, verdict.reason))


def _verdict(answer: Raw) -> _Verdict:
    if bytes(answer) == b"true":
        return _Verdict(approved=True)
    return lenient.field(_decode_verdict, answer) or _Verdict()
