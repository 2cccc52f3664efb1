"""What an answer becomes on this wire (page 4.4).

A question takes a text or a boolean; an approval is approved or denied, and
its actions say in which ways.
"""

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire.core import harmless
from turnwire.core.bounds import FEW, HandedOn, SomeId
from turnwire.dialects.session_agent import asking, outgoing
from turnwire.dialects.session_agent.asking import APPROVAL
from turnwire.dialects.session_agent.channel import Channel
from turnwire.dialects.session_agent.wire import InteractivePrompt, PromptData, Question

Asked: TypeAlias = Question | InteractivePrompt

_ALLOW: Final = "allow_once"
_CANCEL: Final = "cancel"
_APPROVES: Final = (True, "approve", _ALLOW)
_DENIES: Final = (False, "deny", _CANCEL)


class Answer(Struct, frozen=True):
    """A frame that answers, and what the agent will say was answered."""

    frame: bytes
    taken: str | bool


class _Action(Struct, frozen=True):
    id: SomeId


class _Response(Struct, frozen=True):
    """As clients respond to a tool that asks for approval."""

    approved: bool
    reason: HandedOn | None = None


class _Context(Struct, frozen=True, rename="camel"):
    invocation_id: SomeId | None = None


_actions = msgspec.json.Decoder(Annotated[list[_Action], FEW]).decode
_response = msgspec.json.Decoder(_Response).decode
_context = msgspec.json.Decoder(_Context).decode


def question_id(asked: Asked) -> str:
    return asked.question_id if isinstance(asked, Question) else asked.prompt.id


def channel(asked: Asked) -> Channel:
    return asked.channel if isinstance(asked, Question) else asking.channel(asked)


def answer(asked: Asked, given: Raw) -> Answer | None:
    """The answer to a question; None if it takes no such answer."""
    if isinstance(asked, InteractivePrompt) and asked.prompt.type == APPROVAL:
        return _decided(asked.prompt, given)
    text = plain(given)
    return Answer(outgoing.answer(question_id(asked), text), text)


def plain(raw: Raw) -> str | bool:
    """A text or a boolean; anything else as its JSON."""
    data = bytes(raw)
    if data in {b"true", b"false"}:
        return data == b"true"
    text = harmless.string(raw)
    return harmless.mend(data.decode() if text is None else text)


def _decided(approval: PromptData, given: Raw) -> Answer | None:
    said, reason = plain(given), None
    if bytes(given).startswith(b"{"):
        try:
            response = _response(given)
        except (msgspec.DecodeError, RecursionError):
            return None
        said, reason = response.approved, response.reason
    invocation_id = _invocation(approval)
    if said in _DENIES:
        return Answer(outgoing.deny(invocation_id, reason), _CANCEL)
    if said in _APPROVES:
        return Answer(outgoing.approve(invocation_id, _ALLOW), _ALLOW)
    if isinstance(said, str) and said in _named(approval.actions):
        return Answer(outgoing.approve(invocation_id, said), said)
    return None


def _invocation(approval: PromptData) -> str:
    try:
        return _context(approval.context).invocation_id or approval.id
    except msgspec.DecodeError:
        return approval.id


def _named(actions: Raw) -> list[str]:
    try:
        return [action.id for action in _actions(actions)]
    except msgspec.DecodeError:
        return []
