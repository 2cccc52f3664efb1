"""Calls that nobody is asked about, beside one that waits for its user: the next run tells of them.

LangChain's middleware interrupts before any tool runs. Clients answer an approval only when each
other call has an outcome, so these calls get one. What the next run tells replaces it.
"""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.ag_ui_decisions import CALL_A, asked, outcome, request, value
from support.ag_ui_turn import Played, protocol
from support.continued import REQUESTS
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.continuation import ContinuationProtocol
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ag_ui import AgUi

CALL_C = f.whole_call("c2", "weather", '{"city":"Rome"}')
ASKED = f.interrupted(outcome(value(request())))
CITY = {"city": "Rome"}


def state(*messages: Any) -> bytes:
    return f.event("STATE_SNAPSHOT", snapshot={"messages": [*messages]})


def ended(call_id: str, content: str) -> dict[str, Any]:
    return {"type": "tool", "tool_call_id": call_id, "status": "error", "content": content}


def succeeded(call_id: str, content: Any) -> dict[str, Any]:
    return ended(call_id, content) | {"status": "success"}


def conversation(*tools: dict[str, Any]) -> bytes:
    """A snapshot of the messages, in which these are the results of the calls."""
    calls = f.assistant("", c1='{"path":"a"}', c2='{"city":"Rome"}')
    return f.snapshot(f.user(), calls, *tools)


def went_on(*told: bytes) -> Played:
    """A turn with such a call, whose user approved the other one."""
    played = Played(f.started(), *CALL_A, *CALL_C, ASKED).leave()
    (question,) = asked(played)
    assert question["callId"] == "c1"
    assert played.of_call("c2")[-1]["errorText"] == "No result"
    played.reply(question["questionId"], answer=True).open_again()
    run = played.requests[-1]["runId"]
    return played.tell(f.started(run), *told, f.text("Done."), f.finished(run))


@pytest.mark.parametrize("repeated", [[], CALL_C])
def test_its_result_replaces_the_lack_of_one(repeated: list[bytes]) -> None:
    played = went_on(*repeated, f.result("sunny", "c2", "t2"), f.result("gone"))

    assert played.of_call("c2")[-1]["output"] == "sunny"
    assert played.calls()["c2"] == (CITY, "sunny")
    assert [chunk["type"] for chunk in played.of_call("c2")].count("tool-input-start") == 1
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()


def test_of_several_results_the_first_counts() -> None:
    played = went_on(f.result("sunny", "c2", "t2"), f.text("."), f.result("rainy", "c2", "t3"))

    assert played.calls()["c2"] == (CITY, "sunny")


def test_the_next_run_of_an_agent_that_keeps_nothing_is_told_of_no_result() -> None:
    played = went_on()

    assert [each["role"] for each in played.requests[1]["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize(
    "marked",
    [
        [
            f.raw(event="on_tool_end", data={"output": ended("c2", "no sky")}),
            f.result("no sky", "c2", "t2"),
        ],
        [f.result("no sky", "c2", "t2"), state(ended("c2", "no sky"))],
    ],
)
def test_its_failure_is_the_error_that_it_is(marked: list[bytes]) -> None:
    played = went_on(f.result("gone"), f.text("."), *marked)

    assert played.calls() == {"c1": ({"path": "a"}, "gone"), "c2": (CITY, "no sky")}
    assert played.of_call("c2")[-1]["type"] == "tool-output-error"


@pytest.mark.parametrize(
    ("snapshot", "outcome"),
    [
        (conversation(f.tool("sunny", "c2")), ("tool-output-available", "sunny")),
        (conversation(f.tool("no sky", "c2", error="error")), ("tool-output-error", "no sky")),
        (state(succeeded("c2", "sunny")), ("tool-output-available", "sunny")),
        (
            state({"type": "human"}, succeeded("c2", [{"type": "text", "text": "sunny"}])),
            ("tool-output-available", "sunny"),
        ),
        (state(ended("c2", "no sky")), ("tool-output-error", "no sky")),
    ],
)
@pytest.mark.parametrize("repeated", [[], CALL_C])
def test_a_snapshot_alone_may_have_its_outcome(
    repeated: list[bytes], snapshot: bytes, outcome: tuple[str, str]
) -> None:
    played = went_on(f.result("gone"), *repeated, snapshot, f.result("late", "c2", "t2"))

    last = played.of_call("c2")[-1]
    assert (last["type"], last.get("output", last.get("errorText"))) == outcome
    assert played.calls() == {"c1": ({"path": "a"}, "gone"), "c2": (CITY, outcome[1])}
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()


def test_what_a_user_says_in_the_place_of_a_tool_comes_before_what_the_model_says() -> None:
    """The middleware makes a result of it, which stands in the state alone."""
    config = {"action_name": "delete", "allowed_decisions": ["respond"]}
    told = f.interrupted(outcome(value(request(), configs=[config])))
    played = Played(f.started(), *CALL_A, told).leave()
    (question,) = asked(played)
    said = {"decisions": [{"type": "respond", "message": "nope"}]}
    played.reply(question["questionId"], said).open_again()
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), state(succeeded("c1", "nope")), f.text("So."), f.finished(run))

    assert played.calls() == {"c1": ({"path": "a"}, "nope")}
    assert played.kinds.index("tool-output-available") < played.kinds.index("text-delta")
    played.client.close()


@pytest.mark.parametrize(
    "echo",
    [
        conversation(f.tool("No result", "c2", error="No result")),
        conversation(f.tool("No result", "c2")),
        state(ended("c2", "No result")),
        state(succeeded("c2", "sunny"), {"type": "human"}),
    ],
)
def test_what_is_no_outcome_of_it_does_not_take_the_place_of_one(echo: bytes) -> None:
    """An agent repeats the conversation that it was sent, and its earlier turns."""
    played = went_on(echo, f.text("."), f.result("sunny", "c2", "t2"))

    assert played.calls()["c2"] == (CITY, "sunny")
    assert [chunk["type"] for chunk in played.of_call("c2")].count("tool-output-error") == 1


@pytest.mark.parametrize(
    "other",
    [
        f.whole_call("c2", "weather", '{"city":"Oslo"}'),
        f.whole_call("c2", "news", '{"city":"Rome"}'),
    ],
)
def test_another_call_with_its_id_has_a_card_of_its_own(other: list[bytes]) -> None:
    played = went_on(*other, f.result("rainy", "c2", "t2"), f.result("gone"))

    told = [json.loads(frame) for frame in other]
    name, given = told[0]["toolCallName"], json.loads(told[1]["delta"])
    assert played.calls() == {
        "c1": ({"path": "a"}, "gone"),
        "c2": (CITY, "No result"),
        "c2#2": (given, "rainy"),
    }
    (card,) = [part for part in played.client.parts if part.get("toolCallId") == "c2#2"]
    assert card["type"] == f"tool-{name}"
    played.client.close()


def test_a_call_that_its_user_changed_has_a_card_that_shows_what_ran() -> None:
    """The middleware runs it under the id that it had, and tells its input."""
    config = {"action_name": "delete", "allowed_decisions": ["edit", "reject"]}
    told = f.interrupted(outcome(value(request(), configs=[config])))
    played = Played(f.started(), *CALL_A, told).leave()
    (question,) = asked(played)
    changed = {"name": "delete", "args": {"path": "b"}}
    decisions = {"decisions": [{"type": "edit", "edited_action": changed}]}
    played.reply(question["questionId"], decisions).open_again()
    run = played.requests[-1]["runId"]
    ran = f.whole_call("c1", "delete", '{"path": "b"}')
    played.tell(f.started(run), *ran, f.result("b is gone"), f.text("So."), f.finished(run))

    assert played.calls() == {
        "c1": ({"path": "a"}, "No result"),
        "c1#2": ({"path": "b"}, "b is gone"),
    }
    played.client.close()


def test_what_a_framework_adds_to_an_input_is_not_shown() -> None:
    more = f.whole_call("c2", "weather", '{"state":{"secret":1},"city":"Rome"}')
    played = went_on(*more, f.result("sunny", "c2", "t2"), f.result("gone"))

    assert played.calls()["c2"] == (CITY, "sunny")
    assert b"secret" not in played.written


def test_an_agent_that_asks_again_is_sent_each_call_with_its_own_result() -> None:
    other = f.whole_call("c2", "weather", '{"city":"Oslo"}')
    again = {"id": "i2", "reason": "input_required", "message": "Why?"}
    played = went_on(
        *(*other, f.result("rainy", "c2", "t2"), f.result("gone")),
        f.interrupted(again, run=f"{f.RUN}-2"),
    )
    played.leave().reply("i2", "so")

    said = played.requests[-1]["messages"]
    inputs = [
        (each["id"], each["function"]["arguments"])
        for message in said
        for each in message.get("toolCalls", ())
    ]
    assert inputs == [
        *(("c1", '{"path":"a"}'), ("c2", '{"city":"Rome"}'), ("c2", '{"city":"Oslo"}'))
    ]
    results = [(each["toolCallId"], each["content"]) for each in said if each["role"] == "tool"]
    assert sorted(results) == [("c1", "gone"), ("c2", "No result"), ("c2", "rainy")]
    places = [message.get("toolCallId", message["id"]) for message in said]
    assert places[-2:] == ["c2:message:1", "c2"]


@pytest.mark.parametrize(
    ("answer", "told", "asks", "results"),
    [
        (False, [], {"reason": "input_required"}, [("c1", "The user denied this call")]),
        (
            {"approved": False},
            [],
            {"reason": "input_required"},
            [("c1", "The user denied this call")],
        ),
        (False, [f.result("Kept")], {"reason": "input_required"}, [("c1", "Kept")]),
        (False, [], {"reason": "tool_call", "toolCallId": "c1"}, []),
        (True, [], {"reason": "input_required"}, []),
        ({"approved": True}, [], {"reason": "input_required"}, []),
    ],
)
def test_an_agent_that_asks_again_is_sent_no_denied_call_without_a_result(
    answer: Any, told: list[bytes], asks: dict[str, Any], results: list[tuple[str, str]]
) -> None:
    """It might run the call: the run that got the denial is over."""
    played = Played(f.started(), *CALL_A, ASKED).leave()
    played.reply("decision:0/1:i1", answer).open_again()
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), *told, f.text("Hm."), f.interrupted({"id": "i2", **asks}, run=run))
    played.leave().reply("i2", answer=True)

    first, second = (each["messages"] for each in played.requests[1:])
    assert not [each for each in first if each["role"] == "tool"]
    found = [(each["toolCallId"], each["content"]) for each in second if each["role"] == "tool"]
    assert found == results


def test_a_run_that_does_not_tell_of_it_leaves_it_as_it_is() -> None:
    played = went_on(f.result("gone"))

    assert played.calls()["c2"] == (CITY, "No result")
    assert [chunk["type"] for chunk in played.of_call("c2")].count("tool-output-error") == 1
    played.client.close()


def test_at_a_card_the_stream_of_the_answer_has_its_result() -> None:
    """The turn log has the turn up to there."""
    played = Played(
        *(f.started(), *CALL_A, *CALL_C, ASKED),
        native=True,
        options_of_stream=StreamOptions(approvals=REQUESTS),
    )
    assert (played.turn.outcome, list(played.client.approvals.values())) == (Outcome.ASKED, ["c1"])
    assert played.calls()["c2"] == (CITY, "No result")
    played.client.close()

    source = protocol()
    told = [each for frame in (*CALL_A, *CALL_C, ASKED) for each in events(source, frame)]
    reply = QuestionReply("decision:0/1:i1", Raw(b"true"))
    resumed = AgUi().resume(
        ResumeRequest(
            user_id="u1",
            session_id="s1",
            init_s=5,
            replies=(reply,),
            message_id=f.RUN,
            waiting=told,
        )
    )
    known = ClientCopy(message_id=f.RUN, pending=frozenset({"c1"}))
    turn = Turn(
        ContinuationProtocol(resumed, told, (reply,)),
        Limits(),
        UIMessageStream(StreamOptions(approvals=REQUESTS, client_copy=known)),
    )
    client = played.client.next_response()
    run = played.body(resumed.connect_request().body)["runId"]
    frames = [f.started(run), *CALL_C, f.result("sunny", "c2", "t2"), f.result("gone")]
    client.read(turn.handle(Opened(), 0).to_client)
    client.read(turn.frames([*frames, f.text("Done."), f.finished(run)], 0).to_client)
    client.read(turn.handle(AgentLeft(), 0).to_client)

    client.close()
    cards = {part["toolCallId"]: part.get("output") for part in client.parts if "input" in part}
    assert cards == {"c1": "gone", "c2": "sunny"}


def events(source: Any, frame: bytes) -> list[Any]:
    decoded = source.receive_frame(frame, 0)
    return [*getattr(decoded, "events", ())]
