"""What extensions ask their user: each question that waits gets exactly one answer.

An extension waits for ever for an answer that nobody gives, unless it set a time: then it decides
by itself, and does not say so. A `confirm` may be about anything, also about a tool that is to run:
so it is an approval, of which the user sees all that the extension shows.
"""

from typing import Final

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td
from pi_dialect import commands, frames

NOBODY: Final = "The agent asks something, but nobody can answer, so it goes on without an answer"
TOO_MANY: Final = "The agent asks too much at once: a question was left without an answer"
LEFT_OUT: Final = "question that nobody can answer"

CONFIRM: Final = "confirm"
_ASKS: Final = frozenset({CONFIRM, "select", "input", "editor"})
"""The methods that wait for an answer."""
_DENIED: Final = frozenset({b"false", b"null"})


class _Asked(Struct, frozen=True):
    """A question that is open. `until` is when the extension decides by itself."""

    method: str
    options: tuple[str, ...]
    until: float


class _Answer(Struct, frozen=True, rename="camel"):
    """An answer that is an object: a verdict, or what was chosen or written."""

    approved: bool | None = None
    confirmed: bool | None = None
    value: td.HandedOn | None = None
    option_id: td.HandedOn | None = None


_decode_answer = msgspec.json.Decoder(_Answer).decode


class Dialogs:
    """The questions that are open, by the extension's id."""

    def __init__(self, frame_stats: td.FrameStats, *, has_answers: bool) -> None:
        """`has_answers`: whether an answer can reach the turn that asks."""
        self._frame_stats = frame_stats
        self._has_answers = has_answers
        self._open: dict[str, _Asked] = {}

    @property
    def deadline(self) -> float:
        """When an extension decides by itself, in seconds."""
        return min((each.until for each in self._open.values()), default=td.NEVER)

    def take(self, request: frames.ExtensionUiRequest, now: float) -> td.Decoded:
        """Return the question, or the status that the extension shows."""
        if request.method not in _ASKS:
            return td.Decoded(self._shown(request))
        if not self._has_answers:
            return self._refuse(request.id, NOBODY)
        if len(self._open) >= td.OPEN_QUESTIONS_MAX:
            return self._refuse(request.id, TOO_MANY)
        until = td.NEVER if not request.timeout else now + max(0.0, request.timeout / 1000)
        self._open[request.id] = _Asked(request.method, tuple(request.options), until)
        return td.Decoded([_question(request)])

    def refuse(self, request_id: str) -> list[bytes]:
        """Return the answer that is none, for a question of a turn that ends."""
        return [commands.answer(request_id, cancelled=True)]

    def reply(self, reply: td.QuestionReply) -> td.Decoded:
        """Send the answer of the user."""
        asked = self._open.pop(reply.question_id, None)
        if asked is None:
            return td.Decoded()
        answer = commands.answer(reply.question_id, **_fields(asked, reply.answer))
        closed = td.QuestionClosed(reply.question_id, answer=reply.answer)
        return td.Decoded([closed], to_agent=[answer])

    def expire(self, now: float) -> list[td.Event]:
        """Close the questions that their extensions answered by themselves."""
        over = [key for key, asked in self._open.items() if asked.until <= now]
        for key in over:
            del self._open[key]
        return [td.QuestionClosed(key, expired=True) for key in over]

    def cancel(self) -> list[bytes]:
        """Return the answers that are none, for all that are open."""
        asked, self._open = self._open, {}
        return [answer for key in asked for answer in self.refuse(key)]

    def _refuse(self, request_id: str, why: str) -> td.Decoded:
        self._frame_stats.count_left_out(LEFT_OUT, 0)
        return td.Decoded([td.AgentStatus("question", why)], to_agent=self.refuse(request_id))

    def _shown(self, request: frames.ExtensionUiRequest) -> list[td.Event]:
        if request.method == "notify":
            return [td.AgentStatus("notify", request.message)]
        if request.method == "setStatus":
            return [td.AgentStatus("status", request.status_text)] if request.status_text else []
        self._frame_stats.count_left_out("display of an extension", 0)
        return []


def _question(request: frames.ExtensionUiRequest) -> td.Event:
    text = "\n\n".join(each for each in (request.title, request.message) if each)
    shown = {
        "text": text,
        "method": request.method,
        "options": request.options or None,
        "placeholder": request.placeholder,
        "prefill": request.prefill,
    }
    kept = {name: value for name, value in shown.items() if value is not None}
    if request.method != CONFIRM:
        return td.Question(request.id, Raw(msgspec.json.encode(kept)))
    payload = Raw(msgspec.json.encode({"kind": "approval", **kept}))
    return td.Question(request.id, payload, shown=payload)


def _fields(asked: _Asked, answer: Raw) -> dict[str, object]:
    """Return what the answer of a user means to the extension."""
    try:
        given = _decode_answer(answer)
    except msgspec.DecodeError:
        given = _Answer()
    if asked.method == CONFIRM:
        is_yes = bytes(answer) == b"true" or True in {given.approved, given.confirmed}
        is_no = False in {given.approved, given.confirmed}
        return {"confirmed": is_yes and not is_no}
    value = given.option_id if given.value is None else given.value
    try:
        value = frames.decode_text(answer)
    except msgspec.DecodeError:
        if value is None and bytes(answer) not in _DENIED and given == _Answer():
            value = bytes(answer).decode()
    is_offered = asked.method != "select" or value in asked.options
    return {"value": value} if value is not None and is_offered else {"cancelled": True}
