"""Turns: where they begin and how they end."""

from typing import Any

import pytest

from support import ui_chunks as f
from support.ui_stream_turn import TURN, Played, plain, protocol
from turnwire.core.agent import ALIVE, AbortScope
from turnwire.core.events import Reason
from turnwire.core.requests import DialectOptions
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.ui_stream.calls import INPUTS_MAX
from turnwire.dialects.ui_stream.progress import DENIED, REASON_MAX
from turnwire.dialects.ui_stream.transcript import KEPT_MAX
from turnwire.dialects.ui_stream.turn import HISTORY_MAX, NO_CHUNKS, TOO_LONG, UNREADABLE_QUESTION

TOLD = (f.start(messageId="m7"), f.step(), f.text_start(), f.text("Hello"), f.text_end())
ENDED = ["finish-step", "finish"]


def test_the_message_has_our_id_whatever_the_agent_calls_it() -> None:
    for begin in ([f.start(messageId="m7")], [f.start()], []):
        played = Played(*begin, f.text("a"), f.finish())

        assert played.chunks[0] == {"type": "start", "messageId": TURN}
        played.client.close()


def test_a_finish_reason_is_no_field_of_ours() -> None:
    """The oldest clients refuse one."""
    played = Played(*TOLD, f.finish(finishReason="stop", messageMetadata={"a": 1}))

    assert played.chunks[-1] == {"type": "finish"}
    assert played.turn.outcome is Outcome.COMPLETED


@pytest.mark.parametrize(
    "ending",
    [
        [f.finish()],
        [f.DONE],
        [f.finish(), f.DONE],
        [f.finish(), f.DONE, f.DONE],
        [f.DONE, f.finish()],
        [b" [DONE] "],
        [f.finish(), f.text("late"), f.data("late", 1), f.error("late"), f.DONE],
        [f.finish(finishReason="length")],
    ],
)
def test_a_turn_ends_once_however_its_end_is_told(ending: list[bytes]) -> None:
    played = Played(*TOLD, *ending).leave()

    assert played.turn.outcome is Outcome.COMPLETED
    assert (played.client.text, played.kinds[-2:]) == ("Hello", ENDED)
    assert played.protocol.frame_stats.malformed == 0
    played.client.close()


def test_a_body_that_ends_without_a_verdict_is_interrupted() -> None:
    played = Played(*TOLD).leave()

    assert played.turn.outcome is Outcome.INTERRUPTED
    assert played.kinds[-3:] == ["finish-step", "error", "finish"]


def test_a_failed_tool_and_then_an_error_for_the_whole_turn() -> None:
    played = Played(*TOLD, f.given(), f.error("tool broke"), f.step_end(), f.finish(), f.DONE)

    assert played.of_call()[-1]["errorText"] == "No result"
    assert (played.turn.outcome, played.client.error) == (Outcome.FAILED, "tool broke")
    assert played.kinds.count("error") == 1
    played.client.close()


@pytest.mark.parametrize("told", [7, None, {"message": "boom"}, ["x"], "\0"])
def test_an_error_has_a_text_whatever_it_is(told: Any) -> None:
    played = Played(f.error(told), f.DONE)

    assert played.turn.outcome is Outcome.FAILED
    assert played.client.error


@pytest.mark.parametrize("reason", ["length", "content-filter"])
def test_an_answer_that_is_not_whole_says_why(reason: str) -> None:
    told = plain(protocol(f.start()).receive_frame(f.finish(finishReason=reason), 0))

    assert told == [("TurnFinished", {"reason": Reason.END_TURN, "cut_short": reason})]


def test_a_finish_that_says_error_is_one() -> None:
    played = Played(*TOLD, f.finish(finishReason="error"))

    assert played.turn.outcome is Outcome.FAILED


def test_an_abort_is_the_end() -> None:
    played = Played(*TOLD, f.given(), f.chunk("abort", reason="x"), f.step_end(), f.DONE)

    assert played.turn.outcome is Outcome.CANCELED
    assert played.kinds[-3:] == ["finish-step", "abort", "finish"]
    assert played.of_call()[-1]["errorText"] == "Canceled"


def test_a_call_that_waits_without_a_word_of_it_has_no_result() -> None:
    """An agent that was made for `ai` 5 does not say that it waits for an approval."""
    played = Played(*TOLD, f.given(), f.step_end(), f.finish(finishReason="tool-calls"), f.DONE)

    assert played.of_call()[-1]["errorText"] == "No result"
    played.client.close()


def test_a_text_with_half_of_a_pair_in_each_of_two_deltas() -> None:
    halves = [f.text("X").replace(b"X", half) for half in (rb"\ud83d", rb"\ude00")]

    assert Played(f.start(), *halves, f.finish()).client.text == "\U0001f600"


def test_data_that_is_no_strict_json_is_shown_as_far_as_it_goes() -> None:
    played = Played(f.start(), b'{"type":"data-x","data":NaN}')

    assert played.chunks[-1] == {"type": "data-x", "data": None}


def test_what_cannot_be_read_is_counted() -> None:
    made = protocol(f.start(), *f.NOISE)
    stats = made.frame_stats

    assert stats.unrecognised == {"new-chunk": 1}
    assert (stats.malformed, stats.foreign) == (10, 0)
    assert sum(stats.left_out.values()) == 10


def test_life_is_told_from_silence() -> None:
    made = protocol(f.start())

    assert made.receive_frame(f.step(), 0) == ALIVE
    assert made.receive_frame(f.text(""), 0) is None
    assert made.receive_frame(f.text("a"), 0) == "a"
    assert made.receive_frame(f.text("b"), 0) == "b"
    assert made.receive_frame(f.text(""), 0) is None
    assert made.receive_frame(f.thought(""), 0) is None
    assert made.receive_frame(b"ping", 0) is None
    assert made.tick(0).events == ()
    assert list(made.prepare_frame(f.text("a" * 100)))


def test_the_first_chunk_begins_the_turn() -> None:
    assert plain(protocol().receive_frame(f.text("a"), 0))[0] == (
        "TurnStarted",
        {"turn_id": TURN},
    )
    assert plain(protocol().receive_frame(f.data("x", 1), 0))[0][0] == "TurnStarted"


def test_what_an_abort_would_stop() -> None:
    made = protocol(f.start())
    assert (made.abort_scope, list(made.abort())) == (AbortScope.OURS, [])
    made.client_detached()
    made.unwatched()
    made.mark_stale()
    told = plain(made.receive_frame(f.finish(), 0))
    assert told == [("TurnFinished", {"reason": Reason.END_TURN})]
    assert made.abort_scope is AbortScope.NONE
    assert made.receive_frame(f.data("x", 1), 0) is None
    assert made.receive_frame(f.text("x"), 0) is None
    assert made.frame_stats.foreign == 2


ASKED = (*TOLD, f.given(input={"path": "a"}), f.ask(), f.step_end(), f.finish(), f.DONE)


def test_an_approval_is_asked_when_the_response_is_over_and_answered_in_the_next() -> None:
    played = Played(*ASKED[:-2])
    assert played.client.questions == {}

    played.tell(*ASKED[-2:]).leave()
    (question,) = [c["data"] for c in played.chunks if c["type"] == "data-question"]
    assert (question["kind"], question["args"]) == ("approval", {"path": "a"})
    assert played.turn.outcome is None

    played.reply("unknown", answer=True)
    assert len(played.requests) == 1
    request = played.reply("a1", answer=True).requests[1]
    assert request["messageId"] == TURN
    assert [message["role"] for message in request["messages"]] == ["user", "assistant"]
    asked, answer = request["messages"]
    assert asked["id"] != answer["id"] == TURN
    assert [part["type"] for part in answer["parts"]] == ["step-start", "text", "tool-weather"]
    assert answer["parts"][2]["approval"] == {"id": "a1", "approved": True}

    played.open_again().tell(f.start(messageId="m8"), f.output("gone"), f.text("Done"), f.finish())
    assert played.turn.outcome is Outcome.COMPLETED
    assert played.client.text == "HelloDone"
    assert played.client.questions == {"a1": "resolved"}
    assert [c["type"] for c in played.of_call()] == [
        *("tool-input-available", "tool-output-available")
    ]
    played.client.close()


def test_two_approvals_are_answered_by_one_request() -> None:
    told = (f.given("c1"), f.given("c2"), f.given("c3"), f.ask("a1", "c1"), f.ask("a2", "c2"))
    played = Played(*TOLD, *told, f.finish())

    assert played.of_call("c3")[-1]["errorText"] == "No result"
    assert len(played.reply("a1", answer=True).requests) == 1
    parts = played.reply("a2", answer=False).requests[1]["messages"][1]["parts"]
    assert [part["approval"]["approved"] for part in parts if "approval" in part] == [True, False]


def test_an_approval_whose_input_came_in_pieces_shows_all_of_it() -> None:
    played = Played(*TOLD, f.call(), f.piece('{"a":'), f.piece("1}"), f.ask(), f.finish())

    (question,) = [c["data"] for c in played.chunks if c["type"] == "data-question"]
    assert question["args"] == {"a": 1}
    assert played.reply("a1", answer=True).requests[1]["messages"][1]["parts"][2]["input"] == {
        "a": 1
    }


def test_an_approval_of_a_call_whose_chunk_has_no_input_is_asked_and_answered() -> None:
    told = (f.bare("c1"), f.output("noon", "c1"), f.bare("c2"), f.ask("a1", "c2"))
    played = Played(*TOLD, *told, f.finish())

    (question,) = [c["data"] for c in played.chunks if c["type"] == "data-question"]
    assert question["args"] == {}
    parts = played.reply("a1", answer=True).requests[1]["messages"][1]["parts"]
    assert [part["input"] for part in parts if "input" in part] == [{}, {}]


@pytest.mark.parametrize("outcome", [f.output(), f.failed(), f.denied()])
def test_an_approval_that_the_agent_decided_itself_is_not_asked(outcome: bytes) -> None:
    played = Played(*TOLD, f.given(), f.ask(), outcome, f.finish())

    assert played.turn.outcome is Outcome.COMPLETED
    assert played.client.questions == {}


def test_an_approval_of_an_unknown_call_is_not_lost_in_silence() -> None:
    played = Played(*TOLD, f.ask("a1", "c9"), f.finish())

    assert played.client.error == UNREADABLE_QUESTION


def test_an_agent_that_keeps_the_conversation_is_sent_the_message_alone() -> None:
    played = Played(*ASKED, options=DialectOptions(sends_history=False))

    (message,) = played.reply("a1", answer=True).requests[1]["messages"]
    assert (message["role"], message["id"]) == ("assistant", TURN)


def test_nobody_is_asked_to_approve_what_is_not_kept() -> None:
    played = Played(*TOLD, f.given(input="x" * INPUTS_MAX), f.ask(), f.finish())

    assert played.client.error == UNREADABLE_QUESTION


def test_a_turn_that_is_too_long_to_go_on_says_so() -> None:
    played = Played(*TOLD, f.text("x" * KEPT_MAX), *ASKED[5:])

    assert played.reply("a1", answer=True).client.error == TOO_LONG


def test_a_long_prompt_cannot_be_sent_again_and_is_not_kept() -> None:
    played = Played(*ASKED, text="x" * HISTORY_MAX)

    assert played.reply("a1", answer=True).client.error == TOO_LONG


def test_a_turn_whose_memory_was_needed_goes_on_and_fails_after_an_answer() -> None:
    played = Played(*TOLD)
    before = played.protocol.kept_bytes

    played.protocol.forget()
    played.tell(*ASKED[len(TOLD) :])

    assert before > 0
    assert played.protocol.kept_bytes == 0
    assert played.reply("a1", answer=True).client.error == TOO_LONG


def test_very_many_requests_for_approvals_are_bounded() -> None:
    many = [f.given(f"c{n}") + b"" for n in range(100)] + [
        f.ask(f"a{n}", f"c{n}") for n in range(100)
    ]
    played = Played(*TOLD, *many, f.finish())

    assert (played.client.questions, played.client.error) == ({}, UNREADABLE_QUESTION)
    assert played.protocol.frame_stats.left_out == {"approval that nobody can be asked": 36}


def test_as_many_requests_as_there_is_room_for_are_asked() -> None:
    asked = [each for n in range(64) for each in (f.given(f"c{n}"), f.ask(f"a{n}", f"c{n}"))]

    assert len(Played(*TOLD, *asked, f.ask("a0", "c0"), f.finish()).client.questions) == 64


IDS: dict[str, Any] = {"approvalId": "a1", "toolCallId": "c1"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        *({"toolCallId": "c1", "approvalId": wrong} for wrong in ("", "a" * 513, None, 7)),
        *({"approvalId": "a1", "toolCallId": wrong} for wrong in ("", "c" * 513, None, 7)),
        *(IDS | {"signature": wrong} for wrong in ("s" * 513, 7, False)),
        *({"toolCallId": "c1"}, {"approvalId": "a1"}, {"isAutomatic": "yes"}),
    ],
)
def test_an_approval_with_an_id_that_nobody_can_answer_is_not_lost_in_silence(fields: Any) -> None:
    asked = f.chunk("tool-approval-request", **fields)
    played = Played(*TOLD, f.given(), asked, f.finish())

    assert played.client.error == UNREADABLE_QUESTION
    assert played.turn.outcome is Outcome.FAILED
    assert played.protocol.frame_stats.malformed == 0


@pytest.mark.parametrize(
    "fields",
    [
        *({"signature": None}, {"reason": None}, {"reason": 7}, {"isAutomatic": None}),
        *({"isAutomatic": False}, {"isAutomatic": "yes"}),
    ],
)
def test_a_field_that_no_answer_needs_hides_no_approval(fields: Any) -> None:
    played = Played(*TOLD, f.given(), f.ask(**fields), f.finish())

    (question,) = [c["data"] for c in played.chunks if c["type"] == "data-question"]
    assert (list(played.client.questions), "text" in question) == (["a1"], False)


def test_a_reason_is_shown_as_far_as_it_is_kept() -> None:
    played = Played(*TOLD, f.given(), f.ask(reason="r" * 1_000_000), f.finish())

    (question,) = [c["data"] for c in played.chunks if c["type"] == "data-question"]
    assert question["text"] == "r" * REASON_MAX


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"approved": False, "reason": "not mine"}, "not mine"),
        ("not mine", "not mine"),
        ({"approved": False, "reason": ""}, DENIED),
        (False, DENIED),
        ({"approved": True, "reason": "fine"}, DENIED),
    ],
)
def test_a_denied_call_shows_the_reason_of_the_user(answer: Any, shown: str) -> None:
    played = Played(*ASKED).reply("a1", answer=answer).open_again()

    assert played.tell(f.denied(), f.finish()).of_call()[-1]["errorText"] == shown


@pytest.mark.parametrize("noise", [[], [b'{"id":"chatcmpl-1","choices":[]}', f.chunk("x")]])
def test_a_body_without_a_chunk_of_this_wire_is_no_success(noise: list[bytes]) -> None:
    """Such as that of another wire, which ends with `[DONE]` too."""
    played = Played(*noise, f.DONE)
    again = Played(*ASKED).reply("a1", answer=True).open_again().tell(*noise, f.DONE)

    assert played.client.error == again.client.error == NO_CHUNKS
    assert played.turn.outcome is again.turn.outcome is Outcome.FAILED


def test_the_response_behind_an_answer_regenerates_nothing() -> None:
    played = Played(*ASKED, replaces="m0", regenerates=True).reply("a1", answer=True)

    assert [each["trigger"] for each in played.requests] == [
        *("regenerate-message", "submit-message")
    ]
