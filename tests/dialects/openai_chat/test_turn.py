"""A turn: where it begins, where it ends, and how."""

from typing import Any

import pytest

from support import openai_chat_frames as f
from support.openai_chat_turn import played, protocol
from support.openai_turn import plain
from turnwire.core.agent import ALIVE, AbortScope
from turnwire.core.turn.outcome import Outcome
from turnwire.core.wire.frame_shape import FrameShape
from turnwire.dialects.openai_chat import calls
from turnwire.dialects.openai_chat.turn import FILTERED, UNRUN

NOT_RUN = "No result: nobody ran this tool"
INTERRUPTED = "Stream interrupted"


def test_text_from_the_first_chunk_to_the_end() -> None:
    turn = played(f.started(), f.text("Hel"), f.text("lo"), f.finished(), f.usage(n=1), f.DONE)

    assert turn.turn.outcome is Outcome.COMPLETED
    assert turn.client.text == "Hello"
    assert turn.client.metadata == {"usage": {"n": 1}}
    assert turn.client.message_id == "p1"
    turn.client.close()


@pytest.mark.parametrize(
    "ending",
    [
        [f.finished(), f.DONE],
        [f.finished(), f.DONE, f.DONE, f.text("late")],
        [f.finished()],
        [f.chunk({"content": ""}, "stop"), f.usage(n=1)],
    ],
)
def test_a_turn_with_a_reason_is_complete_whatever_else_the_end_has(ending: list[bytes]) -> None:
    turn = played(f.text("a"), *ending).leave()

    assert (turn.turn.outcome, turn.client.text) == (Outcome.COMPLETED, "a")
    assert turn.client.metadata in ({}, None, {"usage": {"n": 1}})


@pytest.mark.parametrize("ending", [[], [f.DONE], [f.usage(n=1), f.DONE]])
def test_an_end_without_a_reason_is_interrupted(ending: list[bytes]) -> None:
    turn = played(f.text("a"), *ending).leave()

    assert turn.turn.outcome is Outcome.INTERRUPTED
    turn.client.close()


def test_done_without_a_reason_ends_a_turn_whose_connection_stays_open() -> None:
    turn = played(f.text("a"), f.DONE).wait(1)
    assert turn.kinds[-1] == "text-delta"

    turn.wait(1.1)
    turn.client.close()
    assert turn.client.error == INTERRUPTED


def test_content_behind_done_without_a_reason_puts_the_end_off() -> None:
    assert played(f.text("a"), f.DONE).tell(f.text("b")).wait(60).turn.outcome is None


def test_a_first_chunk_without_choices_begins_the_answer() -> None:
    """Azure sends what it found in the prompt."""
    found = f.event(choices=[], prompt_filter_results=[{"prompt_index": 0}])
    turn = played(found, f.started(), f.text("a"), f.finished(), f.DONE)

    assert (turn.client.text, turn.turn.outcome) == ("a", Outcome.COMPLETED)
    assert turn.left_out == {}


def test_a_reason_that_is_absent_null_or_empty_is_none() -> None:
    def written(content: str, **reason: Any) -> bytes:
        return f.event(choices=[{"index": 0, "delta": {"content": content}, **reason}])

    frames = [
        *(written("a"), written("b", finish_reason=None), written("c", finish_reason="")),
        *(written("d", finish_reason=None), written("e", finish_reason="null"), written("f")),
    ]
    turn = played(*frames).wait(60)
    assert (turn.client.text, turn.turn.outcome) == ("abcdef", None)

    assert turn.tell(f.finished(), f.DONE).turn.outcome is Outcome.COMPLETED


def test_a_server_that_sends_no_more_and_keeps_the_connection() -> None:
    turn = played(f.text("a"), f.finished()).wait(1)
    assert turn.turn.outcome is None

    turn.tell(f.chunk()).wait(1.1)

    assert turn.turn.outcome is Outcome.COMPLETED


def test_content_behind_the_reason_puts_the_end_off() -> None:
    turn = played(f.text("a"), f.finished()).wait(1.5).tell(f.text("b")).wait(1.5)
    assert (turn.turn.outcome, turn.client.text) == (None, "ab")

    assert turn.wait(1).turn.outcome is Outcome.COMPLETED


def test_an_agent_goes_on_behind_the_calls_of_its_model() -> None:
    called = [f.call(f.head(args="{}")), f.finished("tool_calls")]
    turn = (
        played(*called)
        .wait(60)
        .tell(f.progress("completed"), f.text("Done."), f.finished(), f.DONE)
    )

    assert turn.turn.outcome is Outcome.COMPLETED
    assert turn.of_call()[-1]["type"] == "tool-output-available"
    assert turn.client.metadata is None


CALLED = [f.call(f.head(args="{}")), f.finished("tool_calls")]


@pytest.mark.parametrize("done", [[], [f.DONE]])
@pytest.mark.parametrize(
    "behind",
    [
        [f.text("The weather in")],
        [f.thought("hm")],
        [f.chunk({"images": [{"image_url": {"url": "data:,x"}}]})],
        [f.call(f.head("c2", index=1))],
        [f.text("a"), f.text("b"), f.usage(n=1)],
    ],
)
def test_an_answer_that_is_cut_behind_its_calls_is_interrupted(
    behind: list[bytes], done: list[bytes]
) -> None:
    turn = played(*CALLED, *behind, *done).leave()

    assert turn.turn.outcome is Outcome.INTERRUPTED
    turn.client.close()


@pytest.mark.parametrize("reason", ["tool_calls", "stop"])
@pytest.mark.parametrize(
    "behind",
    [
        [],
        [f.progress("running")],
        [f.progress("running"), f.usage(n=1)],
        [f.progress("completed")],
        [f.progress("running", "c2"), f.progress("completed", "c1")],
    ],
)
def test_an_answer_that_is_cut_while_tools_run_is_interrupted(
    reason: str, behind: list[bytes]
) -> None:
    turn = played(f.call(f.head(args="{}")), f.finished(reason), *behind).wait(60)
    assert turn.turn.outcome is None

    assert turn.leave().turn.outcome is Outcome.INTERRUPTED
    turn.client.close()


@pytest.mark.parametrize("before", [[], [f.finished(), f.usage(n=1)]])
def test_a_tool_that_the_agent_named_has_the_outcome_that_it_says(before: list[bytes]) -> None:
    """Whether it says `stop` before its tool begins or not, and whatever it says meanwhile."""
    noted = [*before, f.progress("running")]
    turn = played(f.text("I look. "), *noted).wait(60).tell(f.text("Meanwhile."))
    turn.tell(f.progress("failed", error="exit 1"), f.finished(), f.DONE)

    assert turn.of_call()[-1]["errorText"] == "exit 1"
    assert (turn.turn.outcome, turn.client.text) == (Outcome.COMPLETED, "I look. Meanwhile.")


def test_a_tool_whose_end_the_agent_does_not_say_is_not_one_that_nobody_ran() -> None:
    called = [f.call(f.head(args="{}")), f.finished("tool_calls"), f.progress("running")]
    turn = played(*called, f.text("So."), f.finished(), f.DONE)

    assert turn.of_call()[-1]["errorText"] == calls.NO_OUTCOME
    assert (turn.turn.outcome, turn.client.metadata, turn.left_out) == (Outcome.COMPLETED, None, {})


def test_the_words_of_a_tool_are_no_answer() -> None:
    output = {"role": "tool", "tool_call_id": "c1", "content": "21 \ud83d"}
    turn = played(*CALLED, f.chunk(output)).wait(60).tell(f.text("Sunny."), f.finished(), f.DONE)

    assert turn.of_call()[-1]["output"] == "21 \ufffd"
    assert (turn.client.text, turn.turn.outcome) == ("Sunny.", Outcome.COMPLETED)
    streamed = played(f.text("I look. "), f.chunk(output), f.text("Sunny."), f.finished(), f.DONE)
    assert streamed.client.text == "I look. Sunny."


def test_a_tool_may_run_for_minutes_beside_a_model_that_says_stop() -> None:
    turn = played(f.call(f.head(args="{}")), f.finished("stop")).wait(60)
    assert turn.turn.outcome is None

    turn.tell(f.text("It is sunny.")).wait(60)
    assert (turn.turn.outcome, turn.of_call()[-1]["type"]) == (None, "tool-output-available")

    assert turn.tell(f.finished()).wait(3).turn.outcome is Outcome.COMPLETED
    assert (turn.client.text, turn.client.metadata) == ("It is sunny.", None)


@pytest.mark.parametrize("reason", ["stop", "tool_calls"])
def test_empty_chunks_behind_calls_are_no_sign_of_life(reason: str) -> None:
    made = protocol(f.call(f.head(args="{}")))

    assert made.receive_frame(f.finished(reason), 0) is not None
    for quiet in (f.chunk(), f.text(""), f.event(choices=[]), f.finished(reason)):
        assert made.receive_frame(quiet, 0) is None
    assert made.receive_frame(f.usage(n=1), 0) is ALIVE
    assert made.receive_frame(f.usage(n=1), 0) is None


def test_a_model_that_is_taken_for_an_agent_is_named_as_one() -> None:
    turn = played(f.text("I look."), f.call(f.head(args="{}")), f.finished("tool_calls"), f.DONE)

    assert turn.turn.outcome is Outcome.COMPLETED
    assert turn.of_call()[-1]["errorText"].startswith(NOT_RUN)
    assert turn.client.metadata == {"finishReason": "tool-calls"}
    assert turn.left_out == {UNRUN: 1}


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("stop", None),
        ("eos", None),
        ("length", {"finishReason": "length"}),
        ("max_tokens", {"finishReason": "length"}),
        ("content_filter", {"finishReason": "content-filter"}),
        ("SAFETY", {"finishReason": "content-filter"}),
        ("refusal", {"finishReason": "refusal"}),
        ("insufficient_system_resource", {"finishReason": "other"}),
    ],
)
def test_why_an_answer_is_not_whole(reason: str, shown: Any) -> None:
    turn = played(f.text("a"), f.finished(reason), f.DONE)

    assert (turn.turn.outcome, turn.client.metadata) == (Outcome.COMPLETED, shown)
    assert turn.client.error is None


def test_an_answer_that_was_filtered_as_a_whole_is_an_error() -> None:
    turn = played(f.started(), f.finished("content_filter"), f.DONE)

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, FILTERED)


@pytest.mark.parametrize("reason", ["stop", "content_filter"])
def test_a_refusal_is_a_block_of_text_with_its_reason(reason: str) -> None:
    turn = played(f.started(), f.text("So: "), f.refusal("No."), f.finished(reason), f.DONE)

    assert list(turn.client.texts.values()) == ["So: ", "No."]
    assert turn.client.metadata == {"finishReason": "refusal"}
    assert turn.turn.outcome is Outcome.COMPLETED


def test_empty_chunks_and_unknown_events_are_no_sign_of_life() -> None:
    made = protocol(f.started(), f.text("a"))

    for quiet in (f.chunk(), f.text(""), f.text(None), f.event(choices=[]), f.event(ping=1)):
        assert made.receive_frame(quiet, 0) is None
    assert made.receive_frame(f.text("b"), 0) == "b"
    assert plain(made.receive_frame(f.thought("c"), 0)) == [("ReasoningDelta", {"text": "c"})]
    assert made.receive_frame(f.text("d"), 0) == "d"
    made.receive_frame(f.finished(), 0)
    assert made.receive_frame(f.usage(n=1), 0) is ALIVE


def test_what_is_behind_the_end_counts_as_foreign() -> None:
    made = protocol(f.text("a"), f.finished(), f.DONE, f.text("late"), f.DONE)

    assert (made.frame_stats.foreign, made.deadline) == (1, float("inf"))
    assert made.abort_scope is AbortScope.NONE


def test_an_abort_closes_the_connection() -> None:
    made = protocol(f.text("a"))
    made.client_detached()
    made.unwatched()
    made.mark_stale()

    assert (made.abort_scope, made.abort()) == (AbortScope.OURS, ())
    assert made.tick(0).events == ()


def test_a_frame_that_is_too_deep_is_malformed() -> None:
    deep = b'{"choices":[{"delta":{"images":%b}}]}' % (b"[" * 900 + b"]" * 900)
    made = protocol(f.text("a"), deep)
    made.receive_frame(b'{"choices":[{"delta":{"refusal":"\xff"}}]}', 0)

    assert made.receive_frame(f.text("b"), 0) == "b"


def test_a_long_frame_is_counted_before_it_is_decoded() -> None:
    assert list(protocol().prepare_frame(f.text("x" * 100_000)))


def test_text_in_one_chunk_with_its_end() -> None:
    turn = played(f.chunk({"content": "all"}, "stop"), f.DONE)

    assert (turn.client.text, turn.turn.outcome) == ("all", Outcome.COMPLETED)


def test_the_short_way_for_deltas_tells_what_the_long_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["a", "b", 'c"\\', "d\n", "é", "", "e", "f"]
    frames = [f.started(), *map(f.text, texts), f.text(None), f.text("g")]
    frames += [f.call(f.head()), f.text("h"), f.text("i"), f.text("j"), f.finished(), f.text("k")]
    short = played(*frames, f.DONE)
    learned = FrameShape.text
    used: list[str | None] = []

    def counted(shape: FrameShape, frame: bytes) -> str | None:
        used.append(learned(shape, frame))
        return used[-1]

    monkeypatch.setattr(FrameShape, "text", counted)
    assert played(*frames, f.DONE).written == short.written
    assert [text for text in used if text] == ["d\n", "é", "e", "f", "g", "i", "j"]
    monkeypatch.setattr(FrameShape, "text", lambda *_: None)
    assert played(*frames, f.DONE).written == short.written


@pytest.mark.parametrize("learned", [[], [f.text("b"), f.text("c"), f.text("d")]])
def test_what_is_no_strict_json_is_told_on_the_long_way(learned: list[bytes]) -> None:
    halves = [
        b'{"choices":[{"delta":{"content":"%b"}}]}' % half for half in (b"\\ud83d", b"\\ude00")
    ]
    odd = b'{"x":NaN,"choices":[{"delta":{"content":"e"}}]}'
    turn = played(f.text("a"), *learned, *halves, odd, odd, f.finished(), f.DONE)

    middle = "bcd" if learned else ""
    assert turn.client.text == f"a{middle}\N{GRINNING FACE}ee"
    assert turn.turn.outcome is Outcome.COMPLETED
