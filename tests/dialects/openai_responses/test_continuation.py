"""Answers in a request of their own: the next response goes on in the client's message."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from support.continued import REQUESTS
from turnwire.core.approvals import subject
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    Conversation,
    Message,
    Text,
    UserMessage,
)
from turnwire.core.events import Approval, Question, TurnStarted
from turnwire.core.rejection import RejectedError
from turnwire.core.requests import DialectOptions, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.openai_responses import OpenAiResponses
from turnwire.dialects.openai_responses.continuation import ContinuationProtocol
from turnwire.dialects.openai_responses.messages import write

CALL = Call("mcpr_1", "delete_file", Raw(b'{"path":"a.txt"}'))
APPROVAL = Approval(CALL.call_id, CALL.name, CALL.input)
QUESTION = "mcpr_1/files"
COPY = ClientCopy(message_id="p1", pending=frozenset({"mcpr_1"}), text_chars=7, text_blocks=1)
RAN = f.tool("mcp_call", name="delete_file", approval_request_id="mcpr_1", output="gone")


def conversation() -> Conversation:
    messages: list[Message] = [
        UserMessage("u1", (Text("Delete it."),)),
        AssistantMessage("p1", (Text("I can. "),), (CALL,)),
    ]
    written = [item for message in messages for item in write(message) if item]
    return Conversation(written, {}, (CALL,))


def continued(*, answer: bool = True, **more: Any) -> ContinuationProtocol:
    reply = QuestionReply(QUESTION, Raw(b"true" if answer else b"false"), subject("p1", APPROVAL))
    given: dict[str, Any] = {
        "user_id": "u1",
        "init_s": 5,
        "message_id": "p1",
        "conversation": conversation(),
        "replies": (reply,),
        "options": DialectOptions(model="m"),
    }
    made = OpenAiResponses().resume(ResumeRequest(**{**given, **more}))
    assert isinstance(made, ContinuationProtocol)
    return made


def sent(made: ContinuationProtocol) -> Any:
    return json.loads(made.connect_request().body)


def test_the_call_that_waited_is_sent_as_what_asked() -> None:
    user, text, asking, answer = sent(continued())["input"]

    assert (user["content"], text["content"]) == ("Delete it.", "I can. ")
    assert asking == {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "delete_file",
        "server_label": "files",
        "arguments": '{"path":"a.txt"}',
    }
    assert answer["approve"] is True


def test_an_agent_that_keeps_the_conversation_gets_the_answer_alone() -> None:
    body = sent(continued(options=DialectOptions(model="m", sends_history=False)))

    assert [item["type"] for item in body["input"]] == ["mcp_approval_response"]
    assert body["conversation"]
    without = sent(continued(conversation=None, waiting=WAITING))
    assert [item["type"] for item in without["input"]] == ["mcp_approval_response"]


WAITING = [TurnStarted("p1"), Question(QUESTION, Raw(b"{}"), APPROVAL)]


def test_it_goes_on_in_the_message() -> None:
    options = StreamOptions(approvals=REQUESTS, client_copy=COPY)
    turn = Turn(continued(), Limits(), UIMessageStream(options))
    stream = turn.handle(Opened(), 0).to_client
    stream += turn.frames([f.item_done(RAN, 0), f.text("Done.", 1), f.completed()], 0).to_client

    assert turn.outcome is Outcome.COMPLETED
    assert b'"tool-output-available","toolCallId":"mcpr_1","output":"gone"' in stream
    assert b"Done." in stream


def test_what_the_log_has_is_not_said_again() -> None:
    made = continued(waiting=WAITING)

    assert made.connection_opened(0).events == ()
    assert made.receive_frame(f.text("Done."), 0) == "Done."


def test_a_no_ends_the_card() -> None:
    made = continued(answer=False)
    (outcome,) = made.connection_opened(0).events[-1:]

    assert getattr(outcome, "error", None) == "The user denied this call"
    assert made.connection_opened(0).events == ()
    assert sent(made)["input"][-1]["approve"] is False


@pytest.mark.parametrize(
    "more",
    [
        {"message_id": "p2"},
        {"replies": (QuestionReply(QUESTION, Raw(b"true")),)},
        {"conversation": None},
        {"conversation": Conversation([], {}, (Call("mcpr_1", "delete_file", Raw(b"{}")),))},
        {"waiting": [TurnStarted("p1")]},
    ],
)
def test_an_answer_to_nothing_that_is_open_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(RejectedError):
        continued(**more)


def test_a_question_of_the_log_that_names_no_call() -> None:
    question = Question(QUESTION, Raw(b"{}"), shown=Raw(b"{}"))
    made = continued(waiting=[TurnStarted("p1"), question], conversation=Conversation([], {}))

    assert [item["type"] for item in sent(made)["input"]] == ["mcp_approval_response"]
