"""The answers that a turn goes on with: recorded, redacted or not, a replay has them."""

import msgspec
from msgspec import Raw

from turnwire.core.approvals import subject
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.events import Approval, Question, TurnStarted
from turnwire.core.recording.recorded_answers import (
    RecordedAnswers,
    RecordedCall,
    RecordedReply,
    answers_of,
)
from turnwire.core.recording.redact import Redactor
from turnwire.core.requests import QuestionReply, ResumeRequest

CALL = Call("c1", "delete", Raw(b'{"who":"ann"}'))
OTHER = Call("c2", "delete", Raw(b"{}"))
PENDING = Conversation((b"secret",), {}, (OTHER, CALL))
SUBJECT = subject("m1", Approval("c1", "delete", CALL.input))
REPLY = QuestionReply("i1", Raw(b'{"approved":true,"reason":"ann"}'), SUBJECT)
PLAIN = ResumeRequest(user_id="u1", init_s=5)


def asked(*replies: QuestionReply) -> ResumeRequest:
    return ResumeRequest(
        user_id="u1", init_s=5, replies=replies, message_id="m1", conversation=PENDING
    )


def test_answers_to_calls_that_wait() -> None:
    recorded = answers_of(asked(REPLY))

    assert recorded == RecordedAnswers(
        "m1",
        (RecordedReply("i1", REPLY.answer, "c1"),),
        (
            RecordedCall("c2", "delete", Raw(b"{}")),
            RecordedCall("c1", "delete", CALL.input),
        ),
    )
    again = recorded.continue_with(PLAIN)
    assert (again.replies, again.message_id, again.waiting) == ([REPLY], "m1", None)
    assert again.conversation == Conversation((), {}, PENDING.pending)


def test_redacted_they_answer_the_same_calls() -> None:
    recorded = answers_of(asked(REPLY))
    assert recorded is not None

    redacted = recorded.redacted(Redactor())

    assert b"ann" not in msgspec.json.encode(redacted)
    again = redacted.continue_with(PLAIN)
    assert again.conversation is not None
    call = again.conversation.pending[1]
    assert (call.call_id, call.name) == ("c1", "delete")
    approval = Approval(call.call_id, call.name, call.input)
    assert again.replies[0].subject == subject("m1", approval)


def test_an_answer_to_another_question_has_a_turn_that_asked_it() -> None:
    recorded = answers_of(asked(REPLY, QuestionReply("i2", Raw(b'"so"'))))
    assert recorded is not None

    again = recorded.continue_with(PLAIN)

    assert recorded.replies[1].call_id is None
    assert again.waiting == [
        TurnStarted("m1"),
        Question("i1", Raw(b"{}"), Approval("c1", "delete", CALL.input)),
        Question("i2", Raw(b"{}")),
    ]


def test_of_a_request_without_answers_or_without_a_conversation_nothing_is_kept() -> None:
    assert answers_of(asked()) is None
    assert answers_of(msgspec.structs.replace(asked(REPLY), conversation=None)) is None
    unnamed = answers_of(msgspec.structs.replace(asked(REPLY), message_id=None))
    assert unnamed is not None
    assert (unnamed.message_id, unnamed.replies[0].call_id) == ("", None)
