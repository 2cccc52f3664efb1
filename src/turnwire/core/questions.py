"""The questions of one turn: each is told when it opens and again when it closes.

`data-question` keeps its id, so a client that renders the part sees one card
that changes from open to resolved or expired. An approval may be requested at
its tool's card instead, where the client knows that (`core.approval`); then the
card tells the rest: how the call ended.
"""

import contextlib
from collections.abc import Collection, Iterable
from typing import Annotated

import msgspec
from msgspec import Raw

from turnwire.core import chunks, harmless
from turnwire.core.bounds import FEW, KEPT_BYTES_MAX
from turnwire.core.events import Event, Question, QuestionClosed

OPEN_MAX = 64
"""Questions open at once. Past it the oldest is told as expired."""

_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode


class Questions:
    """The questions of one turn that are still open, by id."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, Raw]] = {}
        self._requested: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._open) + len(self._requested)

    @property
    def requested(self) -> Collection[str]:
        """The calls whose approval is requested; empty while another question is open too."""
        return () if self._open else self._requested.values()

    @property
    def is_full(self) -> bool:
        """Whether no more approvals may be requested; they are told as questions then."""
        return len(self._requested) >= OPEN_MAX

    def request(self, question_id: str, approval_id: str, call_id: str) -> list[chunks.Chunk]:
        """Request an approval at the card of its call, which is known there by this id."""
        self._requested[question_id] = call_id
        return [chunks.ToolApprovalRequest(approval_id, call_id)]

    def replied(self, question_id: str) -> None:
        """A requested approval needs no answer any more: our client gave one."""
        self._requested.pop(question_id, None)

    def ask(self, question: Question) -> list[chunks.Chunk]:
        """Tell an open question; asked again under its id, it is told anew."""
        told: list[chunks.Chunk] = []
        if question.question_id not in self._open and len(self._open) >= OPEN_MAX:
            told += self.close(QuestionClosed(next(iter(self._open)), expired=True))
        shown = bytes(harmless.value(question.payload))
        payload: dict[str, Raw] = {}
        if shown.startswith(b"{"):
            # It is asked all the same, without them.
            with contextlib.suppress(RecursionError, msgspec.ValidationError):
                payload = _fields(shown)
        told.append(_chunk(question.question_id, payload, "open"))
        kept = payload if len(question.payload) <= KEPT_BYTES_MAX else {}
        self._open[question.question_id] = kept
        return told

    def close(self, closed: QuestionClosed) -> list[chunks.Chunk]:
        """Tell that a question is closed; nothing if it is not open."""
        self._requested.pop(closed.question_id, None)
        payload = self._open.pop(closed.question_id, None)
        if payload is None:
            return []
        if closed.answer is not None:
            payload["answer"] = harmless.value(closed.answer)
        return [_chunk(closed.question_id, payload, "expired" if closed.expired else "resolved")]

    def expire(self) -> list[chunks.Chunk]:
        """The turn is over: nobody waits for these answers any more."""
        return [
            chunk
            for question_id in list(self._open)
            for chunk in self.close(QuestionClosed(question_id, expired=True))
        ]


def left_open(told: Iterable[Event]) -> dict[str, Question]:
    """The questions that are open after all of this, each as it was asked last."""
    waiting: dict[str, Question] = {}
    for event in told:
        match event:
            case Question(question_id):
                waiting[question_id] = event
            case QuestionClosed(question_id):
                waiting.pop(question_id, None)
            case _:
                pass
    return waiting


def _chunk(question_id: str, payload: dict[str, Raw], state: str) -> chunks.Chunk:
    shown_id = harmless.mend(question_id)
    encoded = msgspec.json.encode({**payload, "questionId": shown_id, "state": state})
    return chunks.DataQuestion(shown_id, Raw(encoded))
