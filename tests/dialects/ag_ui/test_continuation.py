"""A client that answers approvals in a request of its own: the next run goes on in its message."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from turnwire.core.agent import AgentProtocol
from turnwire.core.approvals import subject
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.events import (
    Approval,
    Event,
    Phase,
    Question,
    ToolUpdate,
    TurnStarted,
)
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ag_ui import AgUi

MESSAGE = "run-1"
CALL = Call("c1", "delete", Raw(b'{"a":1}'))
PENDING = Conversation([b'{"id":"u1"}', b'{"id":"run-1"}'], {}, (CALL,))


def signed(
    turn: str = MESSAGE, args: bytes = b'{"a": 1}', answer: bytes = b"true"
) -> QuestionReply:
    return QuestionReply("i1", Raw(answer), subject(turn, Approval("c1", "delete", Raw(args))))


def resumed(*replies: QuestionReply, **asked: Any) -> AgentProtocol:
    given: dict[str, Any] = {"message_id": MESSAGE, "conversation": PENDING, **asked}
    return AgUi().resume(
        ResumeRequest(user_id="u1", session_id="s1", init_s=5, replies=replies, **given)
    )


def sent(protocol: AgentProtocol) -> Any:
    return json.loads(protocol.connect_request().body)


def test_the_answers_begin_the_next_run_of_the_same_thread() -> None:
    request = sent(resumed(signed()))

    assert request["resume"] == [
        {"interruptId": "i1", "status": "resolved", "payload": {"approved": True}}
    ]
    assert request["messages"] == [{"id": "u1"}, {"id": "run-1"}]
    assert request["runId"].startswith("run-1-")
    assert request["runId"] == sent(resumed(signed()))["runId"]
    assert request["runId"] != sent(resumed(signed(answer=b"false")))["runId"]


KNOWN = ClientCopy(message_id=MESSAGE, pending=frozenset({"c1"}), text_chars=3, text_blocks=1)


@pytest.mark.parametrize("repeated", [[], f.whole_call("c1", "delete", '{"a":1}')])
def test_the_result_goes_to_the_card_that_the_client_has(repeated: list[bytes]) -> None:
    protocol = resumed(signed())
    run = sent(protocol)["runId"]
    turn = Turn(protocol, Limits(), UIMessageStream(StreamOptions(client_copy=KNOWN)))
    written = turn.handle(Opened(), 0).to_client
    frames = [f.started(run), *repeated, f.result("gone"), f.text("Done."), f.finished(run)]
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
        QuestionReply("i1", Raw(b"true"), b"forged"),
        QuestionReply("i1", Raw(b"true"), None),
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


def test_the_results_are_sent_again_if_the_run_asks_again() -> None:
    protocol = resumed(signed())
    run = sent(protocol)["runId"]
    protocol.connection_opened(0)
    asks = {"id": "i2", "reason": "input_required", "message": "Why?"}
    for frame in (f.started(run), f.result("gone"), f.text("Hm."), f.interrupted(asks, run=run)):
        protocol.receive_frame(frame, 0)

    request = protocol.reply(QuestionReply("i2", Raw(b'"so"')), "u1", 0).connect

    assert request is not None
    said = json.loads(request.body)
    assert [each.get("role", each["id"]) for each in said["messages"]] == [
        *("u1", "run-1", "tool", "assistant")
    ]
    assert said["runId"] == "run-1-2"


@pytest.mark.parametrize(
    ("answer", "roles"), [(b"false", ["tool", "assistant"]), (b"true", ["assistant"])]
)
def test_a_call_that_was_denied_has_that_as_its_result_if_the_run_asks_again(
    answer: bytes, roles: list[str]
) -> None:
    protocol = resumed(signed(answer=answer))
    request = sent(protocol)
    asks = {"id": "i2", "reason": "input_required", "message": "Why?"}
    run = request["runId"]
    for frame in (f.started(run), f.text("Hm."), f.interrupted(asks, run=run)):
        protocol.receive_frame(frame, 0)
    again = protocol.reply(QuestionReply("i2", Raw(b'"so"')), "u1", 0).connect

    assert request["messages"] == [{"id": "u1"}, {"id": "run-1"}]
    assert again is not None
    assert [each["role"] for each in json.loads(again.body)["messages"][2:]] == roles


def kept(*more: Event) -> Sequence[Event]:
    """The events of a turn that waits."""
    approval = Approval("c1", "delete", Raw(b'{"a":1}'))
    return [
        TurnStarted("run-7"),
        ToolUpdate(call_id="c0", tool_name="x", phase=Phase.COMPLETED, result=Raw(b"1")),
        ToolUpdate(call_id="c1", tool_name="delete", phase=Phase.RUNNING, args=Raw(b'{"a":1}')),
        Question("i1", Raw(b"{}"), approval),
        *more,
    ]


def test_a_turn_log_knows_what_waits_and_repeats_it_itself() -> None:
    protocol = resumed(QuestionReply("i1", Raw(b"true")), waiting=kept(), conversation=None)
    request = sent(protocol)

    assert request["resume"][0]["payload"] == {"approved": True}
    assert request["runId"].startswith("run-7-")
    assert protocol.connection_opened(0).events == ()
    protocol.receive_frame(f.started(request["runId"]), 0)
    called = f.whole_call("c1", "delete", '{"a": 1}')
    for repeated in (*f.whole_call("c0", "x"), f.result("1", "c0", "t0"), *called):
        told = protocol.receive_frame(repeated, 0)
        assert not getattr(told, "events", ())


@pytest.mark.parametrize(
    "call",
    [
        Call("c1", "delete", Raw(b'{"a":2}')),
        Call("c1", "read", Raw(b'{"a":1}')),
        Call("c2", "delete", Raw(b'{"a":1}')),
    ],
)
@pytest.mark.attack("an approval at a card whose input the client changed", "it is refused")
def test_a_card_that_shows_another_call_than_the_log_has_is_refused(call: Call) -> None:
    """The agent is sent the client's message, and would run what that says."""
    changed = Conversation([b'{"id":"run-7"}'], {}, (call,))

    with pytest.raises(RejectedError) as refused:
        resumed(signed("run-7"), waiting=kept(), conversation=changed)

    assert refused.value.rejection is Rejection.CLOSED


@pytest.mark.attack("one approval that the client puts at the cards of two calls", "it is refused")
def test_one_approval_is_not_for_two_calls() -> None:
    both = Conversation(PENDING.written, {}, (CALL, Call("c2", "format", Raw(b"{}"))))

    with pytest.raises(RejectedError):
        resumed(signed(), conversation=both)


def test_the_card_of_the_call_that_the_log_has_may_spell_it_in_another_way() -> None:
    same = Conversation([b'{"id":"run-7"}'], {}, (Call("c1", "delete", Raw(b'{"a": 1.0}')),))

    protocol = resumed(signed("run-7"), waiting=kept(), conversation=same)

    assert sent(protocol)["messages"] == [{"id": "run-7"}]


@pytest.mark.parametrize(
    ("agents", "browsers"),
    [(b"1.0", b"1"), (b"1e2", b"100"), (b"-0.0", b"0"), (b"[0.10]", b"[0.1]"), (b"1e21", b"1e+21")],
)
def test_an_input_that_went_through_a_browser_is_the_same(agents: bytes, browsers: bytes) -> None:
    card = Call("c1", "delete", Raw(b'{"a":%b}' % browsers))

    protocol = resumed(
        signed(args=b'{"a":%b}' % agents), conversation=Conversation([], {}, (card,))
    )

    assert sent(protocol)["resume"][0]["payload"] == {"approved": True}


def test_a_reason_that_the_agent_would_refuse_is_not_sent() -> None:
    schema = b'{"responseSchema":{"properties":{"approved":{}},"additionalProperties":false}}'
    approval = Approval("c1", "delete", Raw(b'{"a":1}'))
    asked = [*kept()[:-1], Question("i1", Raw(schema), approval)]
    reply = QuestionReply("i1", Raw(b'{"approved":false,"reason":"no"}'))

    protocol = resumed(reply, waiting=asked, conversation=None)

    assert sent(protocol)["resume"][0]["payload"] == {"approved": False}
    assert protocol.frame_stats.left_out == {"reason of an answer": 1}


def test_an_answer_to_what_does_not_wait_is_refused() -> None:
    with pytest.raises(RejectedError):
        resumed(QuestionReply("i9", Raw(b"true")), waiting=kept())


def test_a_turn_without_questions_is_only_followed() -> None:
    """A recording has no answers."""
    protocol = AgUi().resume(ResumeRequest(user_id="u1", init_s=5))

    assert "resume" not in sent(protocol)
    assert protocol.connection_opened(0).events == ()
