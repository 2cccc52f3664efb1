"""The answer at a card, while another call of the message has no outcome yet.

The client's message, which comes back with the answer, has that call with the error “No result”.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Raw, Struct

from support import ag_ui_frames as f
from support.ag_ui_decisions import CALL_A, A, outcome, request, value
from support.ag_ui_turn import Played, protocol
from support.continued import REQUESTS
from turnwire.core.approvals import subject
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import ConversationLimits
from turnwire.core.body.conversion import convert_in_steps
from turnwire.core.events import Approval, Event, Question, QuestionClosed
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.steps import run_steps
from turnwire.core.turn.inputs import AgentLeft, Opened, Replied
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.continuation import ContinuationProtocol
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ag_ui import AgUi
from turnwire.testing.client_model import Client

CALL_C = f.whole_call("c2", "weather", '{"city":"Rome"}')
ASKING = (*CALL_A, *CALL_C, f.interrupted(outcome(value(request()))))
BESIDE = {
    "type": "tool-weather",
    "toolCallId": "c2",
    "input": {"city": "Rome"},
    "state": "output-error",
    "errorText": "No result",
    "providerExecuted": True,
}
WAITING = {
    "type": "tool-delete",
    "toolCallId": "c1",
    "input": A,
    "state": "approval-responded",
    "approval": {"id": "signed", "approved": True},
    "providerExecuted": True,
}
ASKED = "decision:0/1:i1"
LOGS = pytest.mark.parametrize("is_logged", [False, True])


class Answered(Struct):
    """The turn of the request that has the answer, and what was sent to the agent."""

    turn: Turn
    client: Client
    sent: list[Any]
    written: bytes = b""

    def do(self, output: Any) -> None:
        self.client.read(output.to_client)
        self.written += output.to_client
        if output.connect is not None:
            self.sent.append(json.loads(output.connect.body))

    def tell(self, *frames: bytes) -> "Answered":
        self.do(self.turn.frames(frames, 0))
        return self

    @property
    def run(self) -> str:
        return str(self.sent[-1]["runId"])

    @property
    def results(self) -> list[tuple[str, str]]:
        """The results that the agent was sent last, in their order."""
        said = self.sent[-1]["messages"]
        return [(each["toolCallId"], each["content"]) for each in said if each["role"] == "tool"]

    def kinds(self, call_id: str) -> list[str]:
        lines = self.written.decode().split("\n")
        told = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        return [each["type"] for each in told if each.get("toolCallId") == call_id]


def answered(*parts: Any, is_logged: bool, earlier: Sequence[Event] = ()) -> Answered:
    """A turn whose client sends its message with these parts back.

    `earlier` is what the log has of the runs before the one that asked.
    """
    asked = Played(
        *(f.started(), *ASKING), native=True, options_of_stream=StreamOptions(approvals=REQUESTS)
    )
    said = [
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
        {"id": f.RUN, "role": "assistant", "parts": [{"type": "step-start"}, *parts]},
    ]
    messages = [Raw(json.dumps(each).encode()) for each in said]
    conversation = run_steps(
        convert_in_steps(messages, AgUi().write_message, ConversationLimits(), pending={"c1"})
    )
    shown = subject(f.RUN, Approval("c1", "delete", Raw(json.dumps(A).encode())))
    reply = QuestionReply(ASKED, Raw(b"true"), shown)
    log = [*earlier, *logged_events(*ASKING)] if is_logged else None
    resumed = AgUi().resume(
        ResumeRequest(
            user_id="u1",
            session_id="s1",
            init_s=5,
            replies=(reply,),
            message_id=f.RUN,
            waiting=log,
            conversation=conversation,
        )
    )
    known = ClientCopy(message_id=f.RUN, pending=frozenset({"c1"}))
    turn = Turn(
        resumed if log is None else ContinuationProtocol(resumed, log, (reply,)),
        Limits(),
        UIMessageStream(StreamOptions(approvals=REQUESTS, client_copy=known)),
    )
    sent = [json.loads(resumed.connect_request().body)]
    goes_on = Answered(turn, asked.client.next_response(), sent)
    goes_on.do(turn.handle(Opened(), 0))
    return goes_on


def logged_events(*frames: bytes) -> Sequence[Event]:
    """What a turn log has of them."""
    source = protocol()
    return [
        event for frame in frames for event in getattr(source.receive_frame(frame, 0), "events", ())
    ]


def card(client: Client, call_id: str) -> Any:
    (found,) = [part for part in client.parts if part.get("toolCallId") == call_id]
    return found


def test_the_messages_below_are_those_of_a_client() -> None:
    options = StreamOptions(approvals=REQUESTS)
    played = Played(f.started(), *ASKING, native=True, options_of_stream=options)

    assert card(played.client, "c2") == BESIDE
    asked = card(played.client, "c1")
    assert {name: asked[name] for name in ("type", "input")} == {
        name: WAITING[name] for name in ("type", "input")
    }


@LOGS
@pytest.mark.parametrize("repeated", [[], CALL_C])
@pytest.mark.parametrize(
    "results",
    [
        [f.result("sunny", "c2", "t2"), f.result("gone")],
        [f.snapshot(f.user(), f.tool("gone"), f.tool("sunny", "c2"))],
    ],
)
def test_its_result_is_at_its_card(
    results: list[bytes], repeated: list[bytes], *, is_logged: bool
) -> None:
    goes_on = answered(BESIDE, WAITING, is_logged=is_logged)
    run = goes_on.run
    goes_on.tell(f.started(run), *repeated, *results, f.text("Done."), f.finished(run))
    goes_on.do(goes_on.turn.handle(AgentLeft(), 0))

    assert goes_on.kinds("c2") == ["tool-output-available"]
    beside, waiting = card(goes_on.client, "c2"), card(goes_on.client, "c1")
    assert (beside["output"], waiting["output"]) == ("sunny", "gone")
    assert (beside["type"], beside["input"]) == ("tool-weather", {"city": "Rome"})
    goes_on.client.close()


@LOGS
def test_a_run_that_does_not_tell_of_it_leaves_its_card_as_it_is(*, is_logged: bool) -> None:
    goes_on = answered(BESIDE, WAITING, is_logged=is_logged)
    goes_on.tell(f.started(goes_on.run), f.result("gone"), f.finished(goes_on.run))

    assert goes_on.kinds("c2") == []
    assert card(goes_on.client, "c2")["errorText"] == "No result"


@LOGS
def test_an_approval_of_it_is_a_question_beside_its_card(*, is_logged: bool) -> None:
    """An agent may ask about its calls one after the other, and the card shows an error."""
    goes_on = answered(BESIDE, WAITING, is_logged=is_logged)
    asks = {"id": "i2", "reason": "tool_call", "toolCallId": "c2"}
    goes_on.tell(f.started(goes_on.run), f.result("gone"), f.interrupted(asks, run=goes_on.run)).do(
        goes_on.turn.handle(AgentLeft(), 0)
    )

    (question,) = [part["data"] for part in goes_on.client.parts if part["type"] == "data-question"]
    shown = {name: question[name] for name in ("kind", "callId", "toolName", "args")}
    assert shown == {
        "kind": "approval",
        "callId": "c2",
        "toolName": "weather",
        "args": {"city": "Rome"},
    }
    goes_on.do(goes_on.turn.handle(Replied(QuestionReply("i2", Raw(b"true")), "u1"), 0))
    goes_on.do(goes_on.turn.handle(Opened(), 0))
    goes_on.tell(f.started(goes_on.run), f.result("sunny", "c2", "t2"), f.finished(goes_on.run))
    assert card(goes_on.client, "c2")["output"] == "sunny"


def test_where_the_log_has_the_call_the_agent_is_told_no_result_that_never_was() -> None:
    assert answered(BESIDE, WAITING, is_logged=True).results == []


def test_where_its_user_was_asked_before_the_agent_is_told_that_it_has_none() -> None:
    """The user may have denied the call, in an answer that only the run before it got."""
    asked = Question("i0", Raw(b"{}"), Approval("c2", "weather", Raw(b'{"city":"Rome"}')))
    no = QuestionClosed("i0", answer=Raw(b"false"))
    goes_on = answered(BESIDE, WAITING, is_logged=True, earlier=[asked, no])

    assert goes_on.results == [("c2", "No result")]


@pytest.mark.attack(
    "a client that sends a call back without a result, in a turn whose questions all have one id",
    "the call may have been denied: the agent gets “No result” for it, so that it does not run it",
)
def test_a_call_is_settled_where_the_agent_has_one_id_for_all_that_it_asks() -> None:
    asked = Question(ASKED, Raw(b"{}"), Approval("c2", "weather", Raw(b'{"city":"Rome"}')))
    no = QuestionClosed(ASKED, answer=Raw(b"false"))
    goes_on = answered(BESIDE, WAITING, is_logged=True, earlier=[asked, no])

    assert goes_on.results == [("c2", "No result")]


@pytest.mark.attack(
    "a client that copies the card of a call without a result",
    "the agent gets “No result” for each copy, so that it runs the call once at most",
)
def test_of_the_copies_of_a_card_one_alone_lacks_a_result() -> None:
    """An agent that found them without results might run each."""
    goes_on = answered(BESIDE, BESIDE, BESIDE, WAITING, is_logged=True)
    assert goes_on.results == [("c2:2", "No result"), ("c2:3", "No result")]
    asks = {"id": "i2", "reason": "input_required", "message": "Why?"}
    results = [f.result("gone"), f.result("sunny", "c2", "t2"), f.text("Hm.")]
    goes_on.tell(f.started(goes_on.run), *results, f.interrupted(asks, run=goes_on.run))
    goes_on.do(goes_on.turn.handle(AgentLeft(), 0))
    goes_on.do(goes_on.turn.handle(Replied(QuestionReply("i2", Raw(b'"so"')), "u1"), 0))

    assert goes_on.results == [
        *(("c2", "sunny"), ("c2:2", "No result"), ("c2:3", "No result"), ("c1", "gone"))
    ]


def test_where_its_user_denies_it_then_the_agent_is_told_so() -> None:
    goes_on = answered(BESIDE, WAITING, is_logged=True)
    for number, reply in enumerate(("false", '"so"', "true")):
        reason = "input_required" if number == 1 else "tool_call"
        asks = {"id": f"i{number + 2}", "reason": reason, "toolCallId": "c2"}
        told = [f.started(goes_on.run), f.text("Hm."), f.interrupted(asks, run=goes_on.run)]
        goes_on.tell(*told).do(goes_on.turn.handle(AgentLeft(), 0))
        given = QuestionReply(f"i{number + 2}", Raw(reply.encode()))
        goes_on.do(goes_on.turn.handle(Replied(given, "u1"), 0))
        goes_on.do(goes_on.turn.handle(Opened(), 0))
        denied = [("c2", "The user denied this call")]
        assert goes_on.results == (denied if number == 1 else [])


@LOGS
@pytest.mark.parametrize(
    ("call_id", "tool", "more"),
    [
        ("c1", "delete", '{"path":"a","force":true}'),
        ("c2", "weather", '{"city":"Rome","unit":"C"}'),
    ],
)
def test_of_a_call_that_a_run_began_again_with_more_input_the_agent_is_sent_what_was_approved(
    call_id: str, tool: str, more: str, *, is_logged: bool
) -> None:
    """The client's message, which the agent is sent too, has less."""
    goes_on = answered(BESIDE, WAITING, is_logged=is_logged)
    before = goes_on.results
    asks = {"id": "i2", "reason": "tool_call", "toolCallId": call_id}
    again = f.whole_call(call_id, tool, more)
    goes_on.tell(f.started(goes_on.run), *again, f.interrupted(asks, run=goes_on.run))
    goes_on.do(goes_on.turn.handle(AgentLeft(), 0))
    goes_on.do(goes_on.turn.handle(Replied(QuestionReply("i2", Raw(b"true")), "u1"), 0))

    *_, last = goes_on.sent[-1]["messages"]
    (sent,) = last["toolCalls"]
    assert (sent["id"], sent["function"]["arguments"]) == (call_id, more)
    assert {*goes_on.results} == {*before, (call_id, "No result")}


def test_without_a_log_the_agent_is_told_that_the_call_has_none() -> None:
    """That it has none yet is the client's word: of any call, also of one that needs approval."""
    goes_on = answered(BESIDE, WAITING, is_logged=False)

    assert goes_on.results == [("c2", "No result")]


@LOGS
@pytest.mark.parametrize(
    "other",
    [
        BESIDE | {"input": {"city": "Oslo"}},
        BESIDE | {"type": "tool-delete"},
        BESIDE | {"toolCallId": "c9"},
    ],
)
@pytest.mark.attack(
    "a client that makes up a call without a result, about which nobody was asked",
    "the agent gets “No result” for it, so that it does not run it",
)
def test_a_call_that_the_client_made_up_has_an_error_as_its_result(
    other: Any, *, is_logged: bool
) -> None:
    """An agent that found it without a result might run it."""
    goes_on = answered(other, WAITING, is_logged=is_logged)

    assert goes_on.results == [(other["toolCallId"], "No result")]


@LOGS
def test_a_run_after_the_next_one_is_told_its_result_in_its_place(*, is_logged: bool) -> None:
    goes_on = answered(BESIDE, WAITING, is_logged=is_logged)
    asks = {"id": "i2", "reason": "input_required", "message": "Why?"}
    results = [f.result("gone"), f.result("sunny", "c2", "t2"), f.text("Hm.")]
    goes_on.tell(f.started(goes_on.run), *results, f.interrupted(asks, run=goes_on.run))
    goes_on.do(goes_on.turn.handle(AgentLeft(), 0))
    goes_on.do(goes_on.turn.handle(Replied(QuestionReply("i2", Raw(b'"so"')), "u1"), 0))

    assert len(goes_on.sent) == 2
    assert goes_on.results == [("c2", "sunny"), ("c1", "gone")]
