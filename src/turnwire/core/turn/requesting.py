"""Chunks of a question: an approval request at its tool call, or a question with a signed id."""

from turnwire.core.approvals import ApprovalIssuer, with_id
from turnwire.core.events import Question
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.translator import Translator


def question_chunks(
    question: Question,
    last: Question | None,
    turn_id: str | None,
    approvals: ApprovalIssuer | None,
    translator: Translator,
    now: float,
) -> list[Chunk]:
    """The chunks of a question: an approval request if the client supports it, else a question.

    `last` is the state of the question after all events that came with it: None if it is closed,
    and another object if it was asked again.
    """
    if approvals is None:
        return translator.feed(question)
    approval, approval_id = question.approval, approvals.approval_id(turn_id, question, now)
    with_approval_id = with_id(question, approval_id)
    can_request = approvals.native and turn_id is not None
    if not can_request or approval is None or approval_id is None:
        return translator.feed(with_approval_id)
    if last is not question:  # closed or asked again meanwhile
        return translator.feed_closed_request(with_approval_id, approval)
    return translator.request(with_approval_id, approval, approval_id)
