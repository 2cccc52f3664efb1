"""Questions and approvals in their two forms, told alike (page 4.4).

What a client is told does not depend on the revision: `questionId`, `text`,
`options`, `expiresAt` in milliseconds; an approval has `promptType`, `body`,
`actions` and `context` besides.
"""

from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import FEW, HandedOn
from turnwire.core.events import Question as Asked
from turnwire.core.questions import OPEN_MAX
from turnwire.dialects.session_agent.channel import Channel
from turnwire.dialects.session_agent.wire import Expired, InteractivePrompt, PromptContext, Question

QUESTION: Final = "question"
APPROVAL: Final = "approval"


class Asking:
    """The questions that are open, by id: those of our turn, and those of other channels."""

    OTHERS_MAX: ClassVar = 256

    def __init__(self, ours: Channel) -> None:
        self._ours = ours
        self._open: dict[str, None] = {}
        self._elsewhere: dict[tuple[str, Channel], None] = {}

    def asked(self, question_id: str) -> None:
        if len(self._open) >= OPEN_MAX:
            del self._open[next(iter(self._open))]
        self._open[question_id] = None
        self._elsewhere.pop((question_id, self._ours), None)  # told before ours was known

    def elsewhere(self, question_id: str, its: Channel) -> None:
        """Another turn asks this: an answer that names no channel may be to it."""
        if len(self._elsewhere) >= self.OTHERS_MAX:
            del self._elsewhere[next(iter(self._elsewhere))]
        self._elsewhere[question_id, its] = None

    def closed(self, question_id: str, named: Channel | None) -> bool:
        """A question was closed, on this channel if one is named. True: it was ours, and open.

        Where it may as well be another turn's of the same id, neither is.
        """
        others = [
            key for key in self._elsewhere if key[0] == question_id and named in {None, key[1]}
        ]
        ours = question_id in self._open and named in {None, self._ours}
        if ours + len(others) != 1:
            return False
        for key in others:
            del self._elsewhere[key]
        if ours:
            del self._open[question_id]
        return ours


class _Action(Struct, frozen=True):
    label: HandedOn


_number = msgspec.json.Decoder(float).decode
_actions = msgspec.json.Decoder(Annotated[list[_Action], FEW]).decode
_context = msgspec.json.Decoder(PromptContext).decode


def question(asked: Question) -> Asked:
    """A question of R, whose `expiresAt` is in seconds (page 9, trap 16)."""
    return _asked(
        asked.question_id,
        text=asked.text,
        options=asked.options,
        expiresAt=_ms(asked.expires_at, per_unit=1_000),
    )


def prompt(asked: InteractivePrompt) -> Asked:
    """A question or an approval of A and V."""
    told = asked.prompt
    expires_at = _ms(told.expires_at, per_unit=1)
    if told.type == QUESTION:
        options = context(told.context).options or _labels(told.actions)
        return _asked(told.id, text=told.title, options=options, expiresAt=expires_at)
    more = {"body": told.body, "actions": told.actions, "context": told.context}
    shown = {"text": told.title, "promptType": told.type, **more}
    question = _asked(told.id, **shown, expiresAt=expires_at)
    if told.type != APPROVAL:
        return question
    return msgspec.structs.replace(question, shown=_told(told.id, **shown))


def told(asked: Question | InteractivePrompt) -> Asked:
    """Either of them."""
    return question(asked) if isinstance(asked, Question) else prompt(asked)


def context(raw: Raw) -> PromptContext:
    """An approval names its channel only there (page 4.4)."""
    try:
        return _context(raw)
    except msgspec.DecodeError:
        return PromptContext()


def channel(asked: InteractivePrompt) -> Channel:
    return asked.named or context(asked.prompt.context).channel


def closed_on(expired: Expired) -> Channel | None:
    """The channel that the end of a question names, in the frame or in its context."""
    return expired.named or context(expired.context).named


def _asked(question_id: str, **fields: Any) -> Asked:
    return Asked(question_id, _told(question_id, **fields))


def _told(question_id: str, **fields: Any) -> Raw:
    """The same fields as JSON, in one order."""
    order = ("text", "options", "promptType", "body", "actions", "expiresAt", "context")
    told = {name: fields[name] for name in order if fields.get(name)}
    return Raw(msgspec.json.encode({"questionId": question_id, **told}))


def _labels(raw: Raw) -> list[str] | None:
    try:
        return [action.label for action in _actions(raw)] or None
    except msgspec.DecodeError:
        return None


def _ms(raw: Raw, *, per_unit: int) -> int | None:
    try:
        return round(_number(raw) * per_unit)
    except (msgspec.DecodeError, OverflowError):
        return None
