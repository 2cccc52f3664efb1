"""A client that answers approvals in a request of its own: the turn goes on in its message."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Raw

from support import ui_chunks as f
from turnwire.core.agent import AgentProtocol
from turnwire.core.approvals import subject
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import AssistantMessage, Call, Conversation, Text, UserMessage
from turnwire.core.events import Approval, Event, Phase, Question, ToolUpdate, TurnStarted
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import DialectOptions, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ui_stream import UiStream

MESSAGE = "run-1"
CALL = Call("c1", "delete", Raw(b'{"a":1}'))
WRITTEN = [
    item
    for message in (
        UserMessage("u1", (Text("go"),)),
        AssistantMessage(MESSAGE, (Text("Well."),), (CALL,)),
    )
    for item in UiStream().write_message(message)
]
PENDING = Conversation(WRITTEN, {}, (CALL,))
ALONE = Conversation([], {}, (CALL,))


def signed(
    turn: str = MESSAGE, args: bytes = b'{"a": 1}', answer: bytes = b"true"
) -> QuestionReply:
    return QuestionReply("a1", Raw(answer), subject(turn, Approval("c1", "delete", Raw(args))))


def resumed(*replies: QuestionReply, **asked: Any) -> AgentProtocol:
    given: dict[str, Any] = {"message_id": MESSAGE, "conversation": PENDING, **asked}
    return UiStream().resume(
        ResumeRequest(user_id="u1", session_id="s1", init_s=5, replies=replies, **given)
    )


def sent(protocol: AgentProtocol) -> Any:
    return json.loads(protocol.connect_request().body)


def test_the_answer_is_in_the_message_that_asked() -> None:
    request = sent(resumed(signed()))

    assert request["messageId"] == MESSAGE
    assert request["messages"][1] == {
        "id": MESSAGE,
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "text", "text": "Well."},
            {
                "type": "tool-delete",
                "toolCallId": "c1",
                "input": {"a": 1},
                "state": "approval-responded",
                "approval": {"id": "a1", "approved": True},
            },
        ],
    }


KNOWN = ClientCopy(message_id=MESSAGE, pending=frozenset({"c1"}), text_chars=5, text_blocks=1)


@pytest.mark.parametrize("repeated", [[], [f.given("c1", "delete", input={"a": 1})]])
def test_the_result_goes_to_the_card_that_the_client_has(repeated: list[bytes]) -> None:
    turn = Turn(resumed(signed()), Limits(), UIMessageStream(StreamOptions(client_copy=KNOWN)))
    written = turn.handle(Opened(), 0).to_client
    frames = [f.start(messageId="m9"), *repeated, f.output("gone"), f.text("Done."), f.finish()]
    written += turn.frames(frames, 1).to_client

    chunks = [
        json.loads(line[6:]) for line in written.decode().split("\n") if line.startswith("data: {")
    ]
    assert [chunk["type"] for chunk in chunks] == [
        *("start", "tool-output-available", "start-step", "text-start", "text-delta", "text-end"),
        *("finish-step", "finish"),
    ]
    assert chunks[0]["messageId"] == MESSAGE
    assert chunks[3]["id"] == "run-1:t1"


@pytest.mark.parametrize(
    "reply",
    [
        signed(turn="run-9"),
        signed(args=b'{"a": 2}'),
        QuestionReply("a1", Raw(b"true"), b"forged"),
        QuestionReply("a1", Raw(b"true"), None),
    ],
)
def test_an_answer_that_was_signed_for_something_else_is_refused_before_a_dial(
    reply: QuestionReply,
) -> None:
    with pytest.raises(RejectedError) as refused:
        resumed(reply)

    assert refused.value.rejection is Rejection.CLOSED


def test_without_calls_that_wait_there_is_nothing_to_answer() -> None:
    with pytest.raises(RejectedError):
        resumed(signed(), conversation=None)


@pytest.mark.parametrize("history", [True, False])
def test_a_turn_that_asks_again_goes_on_in_the_same_message(history: bool) -> None:  # noqa: FBT001
    options = DialectOptions(sends_history=history)
    protocol = resumed(signed(), options=options, conversation=PENDING if history else ALONE)
    sent(protocol)
    protocol.connection_opened(0)
    for frame in (f.output("gone"), f.text("Hm."), f.given("c2"), f.ask("a2", "c2"), f.finish()):
        protocol.receive_frame(frame, 0)

    request = protocol.reply(QuestionReply("a2", Raw(b"false")), "u1", 0).connect

    assert request is not None
    *_, message = json.loads(request.body)["messages"]
    calls = [part for part in message["parts"] if "state" in part]
    assert message["id"] == MESSAGE
    assert [(part["toolCallId"], part["state"]) for part in calls] == [
        *(("c1", "output-available"), ("c2", "approval-responded"))
    ]


def kept(*more: Event) -> Sequence[Event]:
    """The events of a turn that waits."""
    approval = Approval("c1", "delete", Raw(b'{"a":1}'))
    return [
        TurnStarted("run-7"),
        ToolUpdate(call_id="c1", tool_name="delete", phase=Phase.RUNNING, args=Raw(b'{"a":1}')),
        Question("a1", Raw(b"{}"), approval),
        *more,
    ]


def test_a_turn_log_knows_what_waits_and_repeats_it_itself() -> None:
    protocol = resumed(QuestionReply("a1", Raw(b"true")), waiting=kept(), conversation=None)
    (message,) = sent(protocol)["messages"]

    assert message["id"] == "run-7"
    assert message["parts"][-1]["approval"] == {"id": "a1", "approved": True}
    assert protocol.connection_opened(0).events == ()


def test_what_was_asked_counts_and_not_what_the_client_says_of_it() -> None:
    forged = Call("c1", "delete", Raw(b'{"a":"everything"}'))
    written = list(UiStream().write_message(AssistantMessage("run-7", (), (forged,))))
    protocol = resumed(
        QuestionReply("a1", Raw(b"true")),
        waiting=kept(),
        conversation=Conversation(written, {}, (forged,)),
    )

    (message,) = sent(protocol)["messages"]
    assert message["parts"][-1]["input"] == {"a": 1}


@pytest.mark.parametrize("waiting", [kept(), kept(Question("a9", Raw(b"{}"))), []])
def test_an_answer_to_what_does_not_wait_is_refused(waiting: Sequence[Event]) -> None:
    with pytest.raises(RejectedError):
        resumed(QuestionReply("a9", Raw(b"true")), waiting=waiting)
