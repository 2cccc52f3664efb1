"""The questions of one turn: a `data-question` chunk when a question opens, another when it closes.

Use: `Questions` keeps the open questions of a turn; its methods return the chunks.

Both chunks of a question have the same id, so a client that renders the part sees one card
that changes from open to resolved or expired. If the client supports it, an approval is
requested at the card of its tool instead (`core.approvals`); then that
card shows how the question ended: by the outcome of the call.
"""

import contextlib
from collections.abc import Collection
from typing import Annotated

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import FEW, KEPT_BYTES_MAX, OPEN_QUESTIONS_MAX
from turnwire.core.events import Question, QuestionClosed
from turnwire.core.ui_stream import chunks

_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode


class Questions:
    """The questions of one turn that are still open, by id."""

    __slots__ = ("_open", "_requested")

    def __init__(self) -> None:
        self._open: dict[str, dict[str, Raw]] = {}
        self._requested: dict[str, str] = {}
        """The client's ids of the calls whose approval is requested, by question id."""

    def __len__(self) -> int:
        return len(self._open) + len(self._requested)

    @property
    def calls_to_pause_at(self) -> Collection[str]:
        """The client's ids of the calls whose approval is requested, so that the message may pause.

        Empty while another question is open: the message may not pause then.
        """
        return () if self._open else self._requested.values()

    def is_requested(self, call_id: str | None) -> bool:
        """Whether an approval of a call is requested. `call_id` is the client's id of the call."""
        return call_id in self._requested.values()

    @property
    def is_full(self) -> bool:
        """Whether no more approvals may be requested. Further ones are sent as questions."""
        return len(self._requested) >= OPEN_QUESTIONS_MAX

    def request(self, question_id: str, approval_id: str, call_id: str) -> list[chunks.Chunk]:
        """Request an approval at the card of its call. `call_id` is the client's id of the call."""
        self._requested[question_id] = call_id
        return [chunks.ToolApprovalRequest(approval_id, call_id)]

    def mark_replied(self, question_id: str) -> None:
        """Record that our client has answered a requested approval."""
        self._requested.pop(question_id, None)

    def ask(self, question: Question) -> list[chunks.Chunk]:
        """Open a question. If it is open already, its chunk is sent again with the new payload.

        Beyond `OPEN_QUESTIONS_MAX`, the oldest open question is closed as expired.
        """
        result: list[chunks.Chunk] = []
        if question.question_id not in self._open and len(self._open) >= OPEN_QUESTIONS_MAX:
            result += self.close(QuestionClosed(next(iter(self._open)), expired=True))
        sanitized = bytes(safe_json.sanitize(question.payload))
        payload: dict[str, Raw] = {}
        if sanitized.startswith(b"{"):
            # A question with unreadable fields is sent without them.
            with contextlib.suppress(RecursionError, msgspec.ValidationError):
                payload = _fields(sanitized)
        result.append(_chunk(question.question_id, payload, "open"))
        kept = payload if len(question.payload) <= KEPT_BYTES_MAX else {}
        self._open[question.question_id] = kept
        return result

    def close(self, closed: QuestionClosed) -> list[chunks.Chunk]:
        """Close a question. Returns no chunk if the question is not open."""
        self._requested.pop(closed.question_id, None)
        payload = self._open.pop(closed.question_id, None)
        if payload is None:
            return []
        if closed.answer is not None:
            payload["answer"] = safe_json.sanitize(closed.answer)
        return [_chunk(closed.question_id, payload, "expired" if closed.expired else "resolved")]

    def expire(self) -> list[chunks.Chunk]:
        """Close all open questions as expired, at the end of the turn."""
        return [
            chunk
            for question_id in list(self._open)
            for chunk in self.close(QuestionClosed(question_id, expired=True))
        ]


def _chunk(question_id: str, payload: dict[str, Raw], state: str) -> chunks.Chunk:
    """Return the `data-question` chunk: the payload with the question's id and its state."""
    shown_id = safe_json.join_surrogates(question_id)
    encoded = msgspec.json.encode({**payload, "questionId": shown_id, "state": state})
    return chunks.DataQuestion(shown_id, Raw(encoded))
