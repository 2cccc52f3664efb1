"""A run that ends with questions: they are asked once, and their answers begin the next run."""

from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played, plain, protocol
from turnwire.core.agent import AbortScope
from turnwire.core.body.conversation import Conversation
from turnwire.core.requests import DialectOptions
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.ag_ui.turn import HISTORY_MAX, NOT_TAKEN, TOO_LONG, UNREADABLE_QUESTION

ASK = {"id": "i1", "reason": "input_required", "message": "Where to?"}
APPROVE = {"id": "i1", "reason": "tool_call", "toolCallId": "c1", "message": "Delete?"}
GRAPH = {"id": "i1", "reason": "x", "metadata": {"langgraph": {"raw": 1}}}
CALL = f.whole_call("c1", "delete", '{"a":1}')


def test_a_question_is_answered_beside_the_stream_and_the_next_run_goes_on_in_the_message() -> None:
    played = Played(f.started(), f.text("Hm. "), f.text_end(), f.interrupted(ASK)).leave()
    assert played.turn.outcome is None
    assert played.protocol.abort_scope is AbortScope.NONE
    assert played.client.questions == {"i1": "open"}

    played.reply("i1", "Rome").open_again()
    first, second = played.requests
    played.tell(f.started(second["runId"]), f.text("Rome!", "m2"), f.finished(second["runId"]))

    assert second["threadId"] == first["threadId"]
    assert second["runId"] == f"{f.RUN}-2"
    assert second["resume"] == [{"interruptId": "i1", "status": "resolved", "payload": "Rome"}]
    assert [m["role"] for m in second["messages"]] == ["user", "assistant"]
    assert second["messages"][1]["content"] == "Hm. "
    assert played.client.text == "Hm. Rome!"
    assert played.client.questions == {"i1": "resolved"}
    assert played.kinds.count("start") == 1
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()


def test_an_approval_is_a_question_for_a_client_that_asks_for_none() -> None:
    played = Played(f.started(), *CALL, f.interrupted(APPROVE)).leave().reply("i1", answer=True)

    assert played.requests[1]["resume"][0]["payload"] == {"approved": True}
    (call,) = played.requests[1]["messages"][1]["toolCalls"]
    assert call["function"] == {"name": "delete", "arguments": '{"a":1}'}
    run = played.requests[1]["runId"]
    played.open_again().tell(f.started(run), f.result("gone"), f.text("Done."), f.finished(run))
    assert [chunk["type"] for chunk in played.of_call()][-1] == "tool-output-available"
    assert played.kinds.count("tool-input-available") == 1
    played.client.close()


NO = {"approved": False, "reason": "not now"}
CLOSED_SCHEMA = {"type": "object", "properties": {"approved": {}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("more", "sent", "left_out"),
    [
        ({}, NO, {}),
        (
            {"responseSchema": CLOSED_SCHEMA},
            {"approved": False},
            {"reason of an answer": 1},
        ),
    ],
)
def test_a_denial_has_its_reason_where_the_agent_takes_one(
    more: Any, sent: Any, left_out: Any
) -> None:
    played = Played(f.started(), *CALL, f.interrupted(APPROVE | more)).leave().reply("i1", NO)

    assert played.requests[1]["resume"][0]["payload"] == sent
    assert played.protocol.frame_stats.left_out == left_out


def test_the_answer_to_a_question_is_sent_as_it_is_whatever_its_schema() -> None:
    asks = {**ASK, "responseSchema": {**CLOSED_SCHEMA, "required": ["city"]}}
    played = Played(f.started(), f.text("a"), f.interrupted(asks)).leave().reply("i1", NO)

    assert played.requests[1]["resume"][0]["payload"] == NO


def test_a_run_that_repeats_the_call_that_waited_makes_no_second_card() -> None:
    played = Played(f.started(), *CALL, f.interrupted(APPROVE)).leave().reply("i1", answer=True)
    run = played.requests[1]["runId"]

    played.open_again().tell(f.started(run), *CALL, f.result("gone"), f.text("."), f.finished(run))

    assert played.kinds.count("tool-input-start") == 1
    assert played.kinds.count("tool-output-available") == 1
    played.client.close()


def test_where_the_agent_forgot_its_thread_the_card_that_waited_gets_no_result() -> None:
    """It then answers to nobody, as LangGraph does on an empty thread."""
    played = Played(f.started(), *CALL, f.interrupted(APPROVE)).leave().reply("i1", answer=True)
    run = played.requests[1]["runId"]

    played.open_again().tell(f.started(run), f.text("How can I help?"), f.finished(run))

    assert played.of_call()[-1]["errorText"] == "No result"
    assert played.client.text == "How can I help?"
    played.client.close()


def test_the_next_run_begins_when_all_questions_have_an_answer() -> None:
    played = Played(f.started(), f.text("a"), f.interrupted(ASK, {**ASK, "id": "i2"})).leave()

    played.reply("i1", "x").reply("i1", "twice").reply("i9", "unknown")
    assert len(played.requests) == 1
    played.reply("i2", "y")

    assert [entry["payload"] for entry in played.requests[1]["resume"]] == ["x", "y"]


def test_an_agent_may_ask_again_in_the_next_run() -> None:
    played = Played(f.started(), f.text("a"), f.interrupted(ASK)).leave().reply("i1", "x")
    run = played.requests[1]["runId"]
    played.open_again().tell(f.started(run), f.text("b", "m2"), f.interrupted(ASK, run=run)).leave()
    assert played.client.questions == {"i1": "open"}

    played.reply("i1", "y")

    assert played.requests[2]["runId"] == f"{f.RUN}-3"
    assert played.requests[2]["resume"][0]["payload"] == "y"


def test_the_next_run_is_sent_each_delta_of_the_turn() -> None:
    deltas = [f.text(f"{number} ") for number in range(600)]
    played = Played(f.started(), *deltas, f.interrupted(ASK)).leave().reply("i1", "x")

    said = played.requests[1]["messages"][1]["content"]
    assert said == "".join(f"{number} " for number in range(600))


def test_an_agent_that_keeps_the_conversation_is_sent_the_answers_alone() -> None:
    played = Played(
        *(f.started(), f.text("a"), f.interrupted(ASK)), options=DialectOptions(sends_history=False)
    )

    played.leave().reply("i1", "x")

    assert played.requests[1]["messages"] == []


def test_a_turn_that_is_too_long_cannot_go_on_after_an_answer() -> None:
    long = Conversation([b'{"content":"%b"}' % (b"x" * HISTORY_MAX)], {})
    played = Played(f.started(), f.text("a"), f.interrupted(ASK), conversation=long).leave()

    played.reply("i1", "x")

    assert played.client.error == TOO_LONG
    assert len(played.requests) == 1
    played.client.close()


def test_a_turn_whose_memory_was_needed_goes_on_and_fails_after_an_answer() -> None:
    played = Played(f.started(), f.text("a"))
    assert played.protocol.kept_bytes > len("a")

    played.protocol.forget()
    played.tell(f.text("b"), f.interrupted(ASK)).leave()
    assert played.protocol.kept_bytes == 0
    played.reply("i1", "x")

    assert played.client.text == "ab"
    assert played.client.error == TOO_LONG
    played.client.close()


def test_of_one_question_in_three_spellings_one_is_asked() -> None:
    confirm = f.whole_call("c9", "confirm_changes", '{"function_name":"delete"}')
    request = {"id": "i1", "function_call": {"call_id": "c1", "name": "delete"}}
    played = Played(
        *(f.started(), *CALL, f.custom("function_approval_request", request), *confirm),
        *(f.custom("on_interrupt", '{"question": "Delete?"}'), f.interrupted(APPROVE)),
    )

    assert played.kinds.count("data-question") == 1
    assert played.of_call("c9") == []
    assert played.protocol.frame_stats.doubled == 5


def test_a_confirmation_that_stands_alone_is_a_call() -> None:
    confirm = f.whole_call("c9", "confirm_changes", '{"a":1}')

    played = Played(f.started(), *confirm, f.finished())

    assert [chunk["type"] for chunk in played.of_call("c9")][-1] == "tool-output-error"
    assert played.of_call("c9")[-2]["input"] == {"a": 1}


def test_the_older_spelling_alone_is_a_question_and_is_answered_by_a_command() -> None:
    played = Played(
        *(f.started(), f.text("a"), f.custom("on_interrupt", '{"question": "Delete?"}')),
        f.finished(),
    ).leave()
    (question_id,) = played.client.questions

    played.reply(question_id, "yes")

    assert played.requests[1]["forwardedProps"] == {"command": {"resume": "yes"}}
    assert "resume" not in played.requests[1]


def test_other_calls_do_not_stay_open_at_a_question() -> None:
    played = Played(f.started(), *CALL, *f.whole_call("c2"), f.interrupted(APPROVE))

    assert played.of_call("c2")[-1]["errorText"] == "No result"
    assert played.of_call("c1")[-1]["type"] == "tool-input-available"


def test_at_a_question_that_names_no_call_all_calls_stay_open() -> None:
    """The next run may have their results."""
    played = Played(f.started(), *CALL, f.interrupted(ASK)).leave().reply("i1", "yes")
    run = played.requests[1]["runId"]

    played.open_again().tell(f.started(run), f.result("gone"), f.text("."), f.finished(run))

    assert played.of_call()[-1]["output"] == "gone"


def test_one_that_is_no_approval_makes_all_of_them_questions() -> None:
    played = protocol(*CALL)

    events = plain(played.receive_frame(f.interrupted(APPROVE, {**ASK, "id": "i2"}), 0))

    assert [name for name, _ in events] == ["Question", "Question"]
    assert all("approval" not in fields for _, fields in events)


MALFORMED = f.custom("function_approval_request", {"no": "id"})
UNDECODABLE = f.custom("on_interrupt", '"Delete?"').replace(b"{", b'{"subagentRunId":7,', 1)


@pytest.mark.parametrize(
    "told",
    [
        [f.interrupted({"no": "id"})],
        [f.interrupted(ASK, {"no": "id"})],
        [f.custom("on_interrupt", '"Delete?"'), f.interrupted({"no": "id"})],
        [MALFORMED, f.finished()],
        [f.custom("on_interrupt", '"Delete?"'), MALFORMED, f.finished()],
        [UNDECODABLE, f.finished()],
        [f.custom("on_interrupt", '"x"'), UNDECODABLE[:-1], f.finished()],
        [MALFORMED, f.finished(outcome={"type": "interrupt"})],
    ],
)
def test_an_interrupt_that_cannot_be_read_is_an_error(told: list[bytes]) -> None:
    played = Played(f.started(), f.text("a"), *CALL, *told)

    assert (played.client.error, played.client.questions) == (UNREADABLE_QUESTION, {})
    assert played.turn.outcome is Outcome.FAILED
    assert played.of_call()[-1]["errorText"] == "No result"
    played.client.close()


def test_an_interrupt_that_is_also_in_the_outcome_need_not_be_readable_twice() -> None:
    played = Played(f.started(), *CALL, MALFORMED, UNDECODABLE, f.interrupted(APPROVE))

    assert played.client.questions == {"i1": "open"}


def test_an_event_of_another_run_that_cannot_be_read_is_no_interrupt_of_ours() -> None:
    elsewhere = [f.started("another"), UNDECODABLE, f.finished("another")]
    played = Played(*elsewhere, f.started(), f.text("a"), f.finished())

    assert played.turn.outcome is Outcome.COMPLETED


def test_the_next_run_is_not_blamed_for_what_the_one_before_asked() -> None:
    played = Played(f.started(), *CALL, MALFORMED, f.interrupted(APPROVE)).leave()
    played.reply("i1", answer=True).open_again()
    run = played.requests[1]["runId"]

    played.tell(f.started(run), f.result("gone"), f.text("."), f.finished(run))

    assert played.turn.outcome is Outcome.COMPLETED


SWALLOWED = pytest.mark.parametrize(
    ("told", "question_id"),
    [
        (
            [
                f.custom("on_interrupt", '{"question": "delete Paris?"}'),
                f.interrupted(GRAPH | {"message": "delete Paris?"}),
            ],
            "i1",
        ),
        (
            [f.custom("on_interrupt", '{"question": "delete Paris?"}'), f.finished()],
            f"command:{f.RUN}:0",
        ),
    ],
)


@SWALLOWED
def test_a_prompt_that_a_waiting_graph_swallowed_asks_the_question_again(
    told: list[bytes], question_id: str
) -> None:
    played = Played(f.started(), *told)

    assert played.client.questions == {question_id: "open"}
    (asked,) = (chunk["data"] for chunk in played.chunks if chunk["type"] == "data-question")
    assert asked["text"] == f"{NOT_TAKEN}: delete Paris?"
    played.leave().reply(question_id, "yes").open_again()
    run = played.requests[1]["runId"]
    played.tell(f.started(run), f.text("Gone."), f.finished(run))
    assert played.client.text == "Gone."
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()


@SWALLOWED
def test_where_no_answer_reaches_the_turn_a_swallowed_prompt_is_an_error(
    told: list[bytes], question_id: str
) -> None:
    played = Played(f.started(), *told, options=DialectOptions(has_turn_log=False))

    assert question_id not in played.client.questions
    assert played.client.error == f"{NOT_TAKEN}: delete Paris?"
    assert played.turn.outcome is Outcome.FAILED


def test_a_question_without_a_text_is_asked_again_with_the_reason_alone() -> None:
    played = Played(f.started(), f.interrupted(GRAPH))

    (asked,) = (chunk["data"] for chunk in played.chunks if chunk["type"] == "data-question")
    assert asked["text"] == NOT_TAKEN


def test_a_graph_that_worked_before_it_asks_took_the_prompt() -> None:
    played = Played(f.started(), f.event("STEP_STARTED", stepName="x"), f.interrupted(GRAPH))

    assert played.client.questions == {"i1": "open"}


def test_nothing_counts_while_the_turn_waits() -> None:
    played = Played(f.started(), f.text("a"), f.interrupted(ASK))

    played.tell(f.text("b"), f.failed("x"), f.finished(), f.started(), f.text("c"))

    assert played.client.text == "a"
    assert played.client.questions == {"i1": "open"}
    assert played.protocol.frame_stats.foreign == 5
