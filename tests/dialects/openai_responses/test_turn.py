"""A turn: where its responses begin and end, and how."""

from collections.abc import Callable
from typing import Any

import pytest

from support import openai_responses_frames as f
from support.openai_turn import Played, plain
from turnwire.core.agent import ALIVE, AbortScope
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.openai_responses import OpenAiResponses
from turnwire.dialects.openai_responses.calls import NOT_SHOWN
from turnwire.dialects.openai_responses.turn import FILTERED, UNRUN, TurnProtocol

NOT_RUN = "No result: nobody ran this tool"


def played(*frames: bytes, **asked: Any) -> Played:
    return Played(OpenAiResponses(), *frames, **asked)


def protocol(*frames: bytes) -> TurnProtocol:
    made = OpenAiResponses().prompt(PromptRequest(text="hi", prompt_id="p1"))
    for frame in frames:
        made.receive_frame(frame, 0)
    return made


def test_text_from_the_first_event_to_the_end() -> None:
    turn = played(f.created(), f.text("Hel"), f.text("lo"), f.completed(usage={"n": 1}), f.DONE)

    assert turn.turn.outcome is Outcome.COMPLETED
    assert turn.client.text == "Hello"
    assert turn.client.metadata == {"usage": {"n": 1}}
    assert turn.client.message_id == "p1"
    turn.client.close()


def test_the_first_event_begins_the_turn_whatever_it_is() -> None:
    assert played(f.text("a"), f.completed()).client.text == "a"
    assert played(f.event("response.content_part.added"), f.completed()).kinds[0] == "start"
    assert played(f.completed()).turn.outcome is Outcome.COMPLETED


@pytest.mark.parametrize("ending", [[], [f.DONE], [f.item_done(f.message("a"), 0)]])
def test_an_end_without_a_verdict_is_interrupted(ending: list[bytes]) -> None:
    turn = played(f.created(), f.text("a"), *ending).leave()

    assert turn.turn.outcome is Outcome.INTERRUPTED
    turn.client.close()


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        (f.completed(), None),
        (f.incomplete(), {"finishReason": "length"}),
        (f.incomplete("max_tokens"), {"finishReason": "length"}),
        (f.incomplete("content_filter"), {"finishReason": "content-filter"}),
        (f.incomplete("new_reason"), {"finishReason": "other"}),
        (f.event("response.incomplete"), {"finishReason": "length"}),
        (f.completed(status="incomplete"), {"finishReason": "length"}),
        (
            f.completed(status="incomplete", incomplete_details={"reason": "content_filter"}),
            {"finishReason": "content-filter"},
        ),
        (f.event("response.completed", response=7), None),
    ],
)
def test_why_an_answer_is_not_whole(ending: bytes, shown: Any) -> None:
    turn = played(f.text("a"), ending)

    assert (turn.turn.outcome, turn.client.metadata) == (Outcome.COMPLETED, shown)


def test_an_answer_that_was_filtered_as_a_whole_is_an_error() -> None:
    turn = played(f.created(), f.incomplete("content_filter"))

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, FILTERED)


def test_a_refusal_is_a_block_of_text_with_its_reason() -> None:
    turn = played(f.text("So: "), f.refusal("No."), f.completed())

    assert list(turn.client.texts.values()) == ["So: ", "No."]
    assert turn.client.metadata == {"finishReason": "refusal"}


@pytest.mark.parametrize("ending", [f.event("response.cancelled"), f.completed(status="cancelled")])
def test_a_response_that_was_cancelled(ending: bytes) -> None:
    turn = played(f.text("a"), *f.whole_call(), ending)

    assert turn.turn.outcome is Outcome.CANCELED
    assert turn.of_call()[-1]["errorText"] == "Canceled"


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ([f.failed()], "boom"),
        ([f.error(), f.failed("again")], "boom"),
        ([f.event("error", error={"message": "boom"})], "boom"),
        ([f.event("error", error=None, message="boom")], "boom"),
        ([f.event("error", error={}, message="boom")], "boom"),
        ([b'{"error":{"message":"boom","code":"500"}}', f.DONE], "boom"),
        ([f.completed(status="failed", error={"message": "boom"})], "boom"),
        ([f.error(), f.completed(), f.text("late")], "boom"),
        ([f.event("response.failed", response={"status": "failed"})], "Turn failed"),
        ([f.event("response.failed")], "Turn failed"),
    ],
)
@pytest.mark.parametrize("before", [[], [f.created(), f.text("a"), f.added(f.call())]])
def test_each_error_in_mid_stream_is_one_error(
    before: list[bytes], frames: list[bytes], text: str
) -> None:
    turn = played(*before, *frames).leave()

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, text)
    assert turn.kinds.count("error") == 1
    turn.client.close()


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (f.error(code="rate_limit_exceeded"), "rate_limit_exceeded"),
        (f.error(code=None), None),
        (f.failed(code="server_error"), "server_error"),
        (f.failed(code=500), "500"),
        (f.failed(type="overloaded"), "overloaded"),
    ],
)
def test_the_code_of_an_error_is_for_the_log(frame: bytes, code: str | None) -> None:
    assert protocol(frame).frame_stats.error_code == code


@pytest.mark.parametrize(
    "end", [Played.leave, lambda turn: turn.tell(f.DONE)], ids=["closed", "[DONE]"]
)
def test_a_model_that_is_taken_for_an_agent_is_named_as_one(end: Callable[[Played], Any]) -> None:
    turn = played(f.text("I look."), *f.whole_call(), f.completed())
    assert turn.turn.outcome is None
    end(turn)

    assert turn.turn.outcome is Outcome.COMPLETED
    assert turn.of_call()[-1]["errorText"].startswith(NOT_RUN)
    assert turn.client.metadata == {"finishReason": "tool-calls"}
    assert turn.left_out == {UNRUN: 1}


def test_an_answer_that_stands_in_its_end_alone() -> None:
    output = [f.call(args="{}"), f.output("21"), f.message("It is 21.")]
    turn = played(f.created(), f.completed(output=output))

    assert turn.client.text == "It is 21."
    assert turn.of_call()[-1]["output"] == "21"


def test_keep_alives_are_no_sign_of_life() -> None:
    made = protocol(f.created(), f.text("a"))

    assert made.receive_frame(f.event("keepalive", sequence_number=3), 0) is None
    assert made.receive_frame(f.text(""), 0) is None
    assert made.receive_frame(f.text("b"), 0) == "b"
    assert plain(made.receive_frame(f.summary("c"), 0)) == [
        ("TextBreak", {}),
        ("ReasoningDelta", {"text": "c"}),
    ]
    assert made.receive_frame(f.event("response.in_progress"), 0) is ALIVE
    assert made.receive_frame(f.event("response.new"), 0) is None


@pytest.mark.parametrize(
    "frame",
    [
        *(f.text(""), f.text("", 5), f.summary(""), f.args(""), f.args("", 5)),
        f.event("response.custom_tool_call_input.delta", output_index=1, delta=""),
        *(f.event("response.in_progress"), f.event("response.queued"), f.created()),
    ],
)
def test_what_tells_nothing_again_and_again_is_no_sign_of_life(frame: bytes) -> None:
    made = protocol(f.created(), f.text("a"), *f.whole_call())
    made.receive_frame(frame, 0)

    assert made.receive_frame(frame, 0) is None
    assert made.receive_frame(f.text("b"), 0)
    assert made.receive_frame(f.event("response.in_progress"), 0) is ALIVE
    assert made.receive_frame(f.event("response.queued"), 0) is ALIVE
    assert made.receive_frame(f.args("late"), 0) is ALIVE


def test_what_is_behind_the_end_counts_as_foreign() -> None:
    made = protocol(f.text("a"), f.completed(), f.text("late"), f.DONE)

    assert made.frame_stats.foreign == 1
    assert made.abort_scope is AbortScope.NONE


def test_an_abort_closes_the_connection() -> None:
    made = protocol(f.text("a"))
    made.client_detached()
    made.unwatched()
    made.mark_stale()

    assert (made.abort_scope, made.abort()) == (AbortScope.OURS, ())
    assert made.tick(0).events == ()


def test_a_frame_that_is_too_deep_is_no_end() -> None:
    deep = b'{"type":"error","error":%b}' % (b"[" * 900 + b"]" * 900)
    item = b'{"type":"function_call_output","call_id":"c1","output":"\xff"}'
    wrong = b'{"type":"response.output_item.done","output_index":1,"item":%b}' % item
    made = protocol(f.text("a"), wrong)

    assert made.frame_stats.malformed == 1
    assert made.receive_frame(f.text("b"), 0) == "b"
    assert protocol(deep).abort_scope is AbortScope.NONE


def test_a_long_frame_is_counted_before_it_is_decoded() -> None:
    assert list(protocol().prepare_frame(f.text("x" * 100_000)))


def test_half_of_a_character_in_a_call_is_read() -> None:
    turn = played(*f.whole_call(given='{"a":"\ud83d"}'), f.completed())

    assert turn.input_of() == {"a": "\ufffd"}


def test_a_text_in_the_last_event_alone_is_shown_behind_the_calls() -> None:
    items = [f.call(args="{}"), f.output("sunny"), f.message("It is sunny.")]
    ran = [*f.whole_call(index=0), f.item_done(items[1], 1)]
    turn = played(f.created(), *ran, f.completed(output=[7, *items]))

    assert turn.client.text == "It is sunny."
    assert turn.kinds.count("tool-output-available") == 1
    told = played(f.created(), *ran, f.text("Sunny", 2), f.completed(output=items))
    assert told.client.text == "Sunny"
    assert told.left_out == {"contradicted text": 1}


def test_what_stands_in_the_last_event_alone_is_told() -> None:
    ran = [f.call(args='{"a":1}'), f.output("21")]
    output = [f.message("Hello."), *ran, f.message("It is 21.", id="msg_2")]
    turn = played(f.created(), f.text("Hel"), f.completed(output=output))

    assert list(turn.client.texts.values()) == ["Hello.", "It is 21."]
    assert (turn.input_of(), turn.of_call()[-1]["output"]) == ({"a": 1}, "21")
    assert turn.turn.outcome is Outcome.COMPLETED


def litellm(*ending: bytes) -> Played:
    """What LiteLLM sends when it runs the tools of a server itself."""
    called = f.call("call_1", args='{"city":"Rome"}')
    ran = f.tool("mcp_call", name="weather", arguments="{}", output="sunny", id="mcp_1")
    told = f.message("It is sunny.")
    return played(
        *(f.created(), f.added(f.call("call_1"), 0), f.args_done('{"city":"Rome"}', 0)),
        *(f.item_done(called, 0), f.completed(output=[called])),
        *(f.event("response.mcp_call.in_progress", output_index=0), f.item_done(ran, 0)),
        *(f.created(), f.text("It is sunny."), f.text_done("It is sunny."), f.item_done(told, 0)),
        *(f.completed(output=[told]), *ending),
    )


def test_another_response_in_the_same_body_goes_on() -> None:
    turn = litellm()

    assert turn.turn.outcome is Outcome.COMPLETED
    assert turn.client.text == "It is sunny."
    assert turn.of_call("mcp_1")[-1]["output"] == "sunny"
    assert turn.of_call("call_1")[-1]["errorText"] == NOT_SHOWN
    assert (turn.client.metadata, turn.left_out) == (None, {})
    assert litellm(f.DONE).written == turn.written
    turn.client.close()


@pytest.mark.parametrize("more", [[f.created()], [f.text("It is")]])
def test_another_response_that_is_cut_is_interrupted(more: list[bytes]) -> None:
    turn = played(f.created(), *f.whole_call(), f.completed(), *more).leave()

    assert turn.turn.outcome is Outcome.INTERRUPTED


def test_a_response_that_begins_again_is_the_same_if_its_id_is() -> None:
    again = played(f.created(), f.text("One"), f.created(), f.text_done("One"), f.completed())
    another = f.event("response.created", response={"id": "resp_2"})
    rounds = played(
        *(f.created(), f.text("One"), another, f.text("Two"), f.text_done("Two")),
        *(f.event("response.created"), f.text("Three"), f.event("response.created", response=7)),
        *(f.text("Four"), f.item_done(f.message("Four"), 0), f.completed()),
    )

    assert again.client.text == "One"
    assert list(rounds.client.texts.values()) == ["OneTwoThreeFour"]
    assert (again.left_out, rounds.left_out) == ({}, {})
