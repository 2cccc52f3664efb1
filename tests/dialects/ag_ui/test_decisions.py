"""Interrupts that want decisions about calls: what the client is asked, and what the agent gets."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.ag_ui_decisions import (
    CALL_A,
    CALL_B,
    NO,
    SINGLE,
    TWO,
    WHOLE_TEXT,
    WHOLE_TEXT_OF_TWO,
    YES,
    A,
    B,
    asked,
    config,
    outcome,
    request,
    value,
)
from support.ag_ui_turn import Played
from support.continued import REQUESTS
from turnwire.core.bounds import ID_MAX, OPEN_QUESTIONS_MAX
from turnwire.core.turn.outcome import Outcome
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.dialects.ag_ui.decisions import INPUT_SHOWN_MAX, Decisions, actions_in
from turnwire.dialects.ag_ui.interrupts import COMMAND
from turnwire.dialects.ag_ui.turn import NOT_TAKEN, UNREADABLE_QUESTION


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def resumed(played: Played) -> Any:
    """What the next run begins with, by interrupt."""
    return {each["interruptId"]: each["payload"] for each in played.requests[-1]["resume"]}


def test_each_call_is_a_question_and_all_decisions_begin_the_next_run() -> None:
    played = Played(f.started(), *CALL_A, *CALL_B, f.interrupted(outcome(TWO))).leave()
    first, second = asked(played)

    assert [first["kind"], first["callId"], first["args"]] == ["approval", "c1", A]
    assert [first["text"], second["text"]] == ["May delete run?", "And b?"]
    assert (second["callId"], "value" in first, "options" in first) == ("c2", False, False)
    played.reply(second["questionId"], {"approved": False, "reason": "Keep it"})
    assert len(played.requests) == 1
    played.reply(first["questionId"], answer=True).open_again()
    assert resumed(played) == {"i1": {"decisions": [YES, NO | {"message": "Keep it"}]}}
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), f.result("gone"), f.text("Done."), f.finished(run))
    assert played.turn.outcome is Outcome.COMPLETED


def test_the_older_spelling_is_answered_by_a_command() -> None:
    told = f.custom("on_interrupt", json.dumps(TWO))
    played = Played(f.started(), *CALL_A, *CALL_B, told, f.finished()).leave()
    for each in asked(played):
        played.reply(each["questionId"], answer=True)

    assert played.requests[-1]["forwardedProps"] == {
        "command": {"resume": {"decisions": [YES, YES]}}
    }
    assert "resume" not in played.requests[-1]


def test_an_approval_is_requested_at_the_card_of_each_call() -> None:
    options = StreamOptions(approvals=REQUESTS)
    played = Played(
        *(f.started(), *CALL_A, *CALL_B, f.interrupted(outcome(TWO))),
        native=True,
        options_of_stream=options,
    )

    assert list(played.client.approvals.values()) == ["c1", "c2"]
    assert played.turn.outcome is Outcome.ASKED


@pytest.mark.parametrize(
    ("answer", "decisions"),
    [
        (True, [YES, YES]),
        ("approve", [YES, YES]),
        ({"approved": True, "reason": "fine"}, [YES, YES]),
        (False, [NO, NO]),
        ("deny", [NO, NO]),
        ({"approved": False, "reason": "Keep it"}, [NO | {"message": "Keep it"}] * 2),
        ({"approved": False, "reason": ""}, [NO, NO]),
        ({"approved": True, "decisions": [NO, NO]}, [NO, NO]),
        ("what?", [NO, NO]),
        ({"decisions": [NO | {"message": "x"}, YES]}, [NO | {"message": "x"}, YES]),
        ({"decisions": [{"type": "respond", "message": "x"}, YES]}, [NO, NO]),
        ({"decisions": [NO | {"message": 7}, YES]}, [NO, NO]),
        ({"decisions": [NO | {"more": 7}, YES]}, [NO, NO]),
        ({"decisions": [YES]}, [NO, NO]),
        ({"decisions": [YES, {"type": "edit", "edited_action": request()}]}, [NO, NO]),
        ({"decisions": [YES, {"type": "edit"}]}, [NO, NO]),
        ({"decisions": [YES, YES], "more": 1}, [NO, NO]),
    ],
)
def test_one_answer_about_several_calls_decides_about_each(answer: Any, decisions: Any) -> None:
    played = Played(f.started(), f.text("a"), f.interrupted(outcome(TWO))).leave()
    (question,) = asked(played)

    played.reply(question["questionId"], answer)

    assert resumed(played) == {"i1": {"decisions": decisions}}


def test_what_is_sent_of_a_list_is_what_was_read_of_it() -> None:
    """An agent may read the same bytes in another way, for example a name that comes twice."""
    decided = Decisions()
    decided.take("decision:all/1:i1", Raw(b'{"decisions":[{"type":"approve","type":"reject"}]}'))

    assert bytes(decided.payloads()["i1"]) == b'{"decisions":[{"type":"reject"}]}'


def test_a_prompt_that_the_graph_swallowed_asks_again() -> None:
    (question,) = asked(Played(f.started(), f.interrupted(outcome(TWO))))

    assert question["text"] == f"{NOT_TAKEN}: {WHOLE_TEXT_OF_TWO}"


@pytest.mark.parametrize("spelling", ["outcome", "event"])
@pytest.mark.parametrize("has_call", [False, True])
@pytest.mark.parametrize(
    ("answer", "decision"),
    [(True, YES), ({"approved": False, "reason": "no"}, NO | {"message": "no"})],
)
def test_an_interrupt_about_one_call_gets_one_decision(
    spelling: str, answer: Any, decision: Any, *, has_call: bool
) -> None:
    told = (
        [f.interrupted(outcome(SINGLE, toolCallId="c1"))]
        if spelling == "outcome"
        else [f.custom("on_interrupt", json.dumps(SINGLE)), f.finished()]
    )
    calls = CALL_A if has_call else [f.text("a")]
    played = Played(f.started(), *calls, *told).leave()
    (question,) = asked(played)
    played.reply(question["questionId"], answer)

    assert question["text"] == ("May delete run?" if has_call else WHOLE_TEXT)
    assert (question.get("callId"), "options" in question) == (
        ("c1", False) if has_call else (None, True)
    )
    if spelling == "outcome":
        assert resumed(played) == {"i1": decision}
    else:
        assert played.requests[-1]["forwardedProps"]["command"]["resume"] == decision


def test_several_interrupts_get_their_own_decisions() -> None:
    told = f.interrupted(
        outcome(value(request())), outcome(value(request(args=B)), "i2"), {"id": "i3"}
    )
    played = Played(f.started(), *CALL_A, *CALL_B, told).leave()
    first, second, third = asked(played)
    played.reply(first["questionId"], answer=True).reply(second["questionId"], answer=False)
    played.reply(third["questionId"], {"any": 1})

    assert resumed(played) == {
        "i1": {"decisions": [YES]},
        "i2": {"decisions": [NO]},
        "i3": {"any": 1},
    }


@pytest.mark.parametrize(
    "value",
    [
        None,
        "approve?",
        [],
        {"action_requests": 7, "review_configs": []},
        value(),
        value(request(), configs=[]),
        value(request(), configs=[config("another")]),
        value(request(), configs=[config("delete", "approve")]),
        value(request(), configs=[config("delete", "reject", "edit")]),
        value(request(), configs=[config(), config("delete", "approve")]),
        value(request(), configs=[{"action_name": "delete"}]),
        value(request(), configs=[config("delete", *(["approve"] * 1_001))]),
        value(request(), configs=[config()] * (OPEN_QUESTIONS_MAX + 1)),
        value(*([request()] * (OPEN_QUESTIONS_MAX + 1)), configs=[config()]),
        value({"name": 7}),
        {"type": "tool_approval"},
        {"type": "another", **request()},
        {**SINGLE, "tool_call_id": "c" * (ID_MAX + 1)},
    ],
)
def test_any_other_value_is_a_question_whose_answer_is_sent_as_it_is(value: Any) -> None:
    played = Played(f.started(), *CALL_A, f.interrupted(outcome(value))).leave()
    played.reply("i1", {"decisions": [{"type": "edit"}]})

    assert actions_in(raw(value), "i1") is None
    assert "kind" not in asked(played)[0]
    assert resumed(played) == {"i1": {"decisions": [{"type": "edit"}]}}


@pytest.mark.parametrize("own_id", ["decision:0/1:i1", "decision:alone:i1", "command:x", "own:i1"])
@pytest.mark.parametrize(
    ("told", "answer", "sent"),
    [
        ({}, "Rome", "Rome"),
        ({"reason": "confirmation"}, True, {"approved": True}),
        (outcome(value(request())), True, {"decisions": [YES]}),
    ],
)
def test_an_interrupt_whose_id_looks_like_these_gets_its_own_answer(
    own_id: str, told: Any, answer: Any, sent: Any
) -> None:
    played = Played(f.started(), f.text("a"), f.interrupted(told | {"id": own_id})).leave()
    (question,) = asked(played)

    assert resumed(played.reply(question["questionId"], answer)) == {own_id: sent}
    assert played.requests[-1]["forwardedProps"] == {}


@pytest.mark.parametrize("own_id", ["decision:alone:i1", "command:x"])
def test_a_request_whose_id_looks_like_these_gets_its_own_answer(own_id: str) -> None:
    told = f.custom("function_approval_request", {"id": own_id})
    played = Played(f.started(), f.text("a"), told, f.finished()).leave()
    (question,) = asked(played)

    assert resumed(played.reply(question["questionId"], answer=True)) == {
        own_id: {"approved": True}
    }


def test_two_interrupts_that_one_command_would_answer_are_not_asked() -> None:
    """The mode `per_call` with two calls, in the older spelling: the chat would wait for ever."""
    second = {**SINGLE, "tool_call_id": "c2", "args": B}
    spelled = [f.custom("on_interrupt", json.dumps(each)) for each in (SINGLE, second)]
    played = Played(f.started(), *CALL_A, *CALL_B, *spelled, f.finished()).leave()

    assert (played.client.error, asked(played)) == (UNREADABLE_QUESTION, [])
    assert played.protocol.frame_stats.left_out == {"interrupt": 1}


def test_two_that_are_in_the_outcome_too_are_asked() -> None:
    second = {**SINGLE, "tool_call_id": "c2", "args": B}
    spelled = [f.custom("on_interrupt", json.dumps(each)) for each in (SINGLE, second)]
    told = f.interrupted(outcome(SINGLE), outcome(second, "i2"))
    played = Played(f.started(), *CALL_A, *CALL_B, *spelled, told).leave()
    first, other = asked(played)
    played.reply(first["questionId"], answer=True).reply(other["questionId"], answer=False)

    assert resumed(played) == {"i1": YES, "i2": NO}


def test_an_id_that_leaves_no_room_is_that_of_a_question() -> None:
    assert actions_in(raw(TWO), "i" * (ID_MAX - 20)) is not None
    assert actions_in(raw(TWO), "i" * (ID_MAX - 2)) is None


LONG = (
    f'delete "{"x" * (INPUT_SHOWN_MAX - 1)}… (cut: these are the first 1,000 of 2,002 characters)'
)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (request(), "May delete run?"),
        (request(description=""), 'delete {"path": "a"}'),
        (request(description=7), 'delete {"path": "a"}'),
        ({"name": "delete"}, "delete {}"),
        (request(args="x" * 2_000, description=None), LONG),
    ],
)
def test_the_text_at_a_card_is_the_description_or_the_name_and_the_input(
    action: Any, text: str
) -> None:
    found = actions_in(raw(value(action)), "i1")

    assert found is not None
    assert found.calls[0].text == text


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (request(), WHOLE_TEXT),
        (request(description=""), 'delete {"path": "a"}'),
        (request(args="x" * 998), f'May delete run?\ndelete "{"x" * 998}"'),
        (request(args="x" * 2_000), f"May delete run?\n{LONG}"),
    ],
)
def test_the_text_without_a_card_has_the_name_and_the_input_and_says_where_it_is_cut(
    action: Any, text: str
) -> None:
    found = actions_in(raw(value(action)), "i1")

    assert found is not None
    assert found.whole_text == text


def payloads(*answers: tuple[str, Any]) -> Any:
    decided = Decisions()
    taken = [decided.take(question_id, raw(answer)) for question_id, answer in answers]
    return taken, {each: json.loads(bytes(sent)) for each, sent in decided.payloads().items()}


def test_a_call_without_an_answer_is_rejected() -> None:
    assert payloads(("decision:1/3:i1", True)) == ([True], {"i1": {"decisions": [NO, YES, NO]}})


@pytest.mark.parametrize(
    ("question_id", "sent"),
    [
        ("decision:7/2:i1", {"i1": {"decisions": [NO, NO]}}),
        ("decision:0/1:decision:0/1:i1", {"decision:0/1:i1": {"decisions": [YES]}}),
        (f"decision:all/1:{COMMAND}p:0", {f"{COMMAND}p:0": {"decisions": [YES]}}),
        ("decision:alone:i\n1", {"i\n1": YES}),
    ],
)
def test_the_id_of_a_question_says_what_its_answer_decides(question_id: str, sent: Any) -> None:
    assert payloads((question_id, True)) == ([True], sent)


@pytest.mark.parametrize(
    "question_id", ["i1", "decision:", "decision:0/1:", "decision:100/1:i", "decision:x/1:i"]
)
def test_any_other_id_is_none_of_these(question_id: str) -> None:
    assert payloads((question_id, True)) == ([False], {})


DENIED = {"type": "tool", "tool_call_id": "c1", "status": "error", "content": "Keep it"}


def state(*messages: Any) -> bytes:
    return f.event("STATE_SNAPSHOT", snapshot={"messages": [*messages]})


def denied(*told: bytes) -> Played:
    played = Played(f.started(), *CALL_A, f.interrupted(outcome(value(request())))).leave()
    (question,) = asked(played)
    played.reply(question["questionId"], answer=False).open_again()
    run = played.requests[-1]["runId"]
    return played.tell(f.started(run), *told, f.text("Kept."), f.finished(run))


def test_a_denied_call_has_its_outcome_before_what_the_model_says() -> None:
    """The graph does not run it, so no event tells its result."""
    played = denied(state({"type": "human"}, DENIED))

    assert played.of_call()[-1]["errorText"] == "Keep it"
    assert played.kinds.index("tool-output-error") < played.kinds.index("text-delta")
    played.client.close()


def test_a_failure_of_an_earlier_turn_is_not_that_of_a_denied_call() -> None:
    played = denied(state(DENIED, {"type": "human"}))

    assert played.of_call()[-1]["errorText"] == "No result"


def test_a_failed_call_of_this_run_waits_for_its_event() -> None:
    failed = {**DENIED, "tool_call_id": "c2"}
    played = denied(*CALL_B, state(failed), f.result("no", "c2", "t2"), state(DENIED))

    assert played.of_call("c2")[-1]["errorText"] == "no"
