"""What servers do differently: each habit that a naive reader trips over, as they send it."""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played
from turnwire.core.turn.outcome import Outcome

PARIS, ROME = '{"city":"Paris"}', '{"city":"Rome"}'

# pydantic-ai


def test_a_call_without_text_before_it_makes_no_empty_bubble() -> None:
    played = Played(
        *(f.started(), f.text_start("m1"), f.text_end("m1"), *f.whole_call(), f.result("1")),
        *(f.text("Done.", "m2"), f.finished()),
    )

    assert played.kinds.count("text-start") == 1


@pytest.mark.parametrize("outcome", ["failed", "denied"])
def test_a_failed_and_a_denied_call_are_errors(outcome: str) -> None:
    played = Played(
        *(f.started(), *f.whole_call(), f.result("no"), f.mark(outcome), f.text("Oh.")),
        f.finished(),
    )

    assert played.of_call()[-1]["type"] == "tool-output-error"
    assert played.of_call()[-1]["errorText"] == "no"


def test_of_two_results_in_a_row_each_has_its_own_mark() -> None:
    played = Played(
        *(f.started(), *f.whole_call("c1"), *f.whole_call("c2"), *f.whole_call("c3")),
        *(f.result("no", "c1", "t1"), f.result("21", "c3", "t3"), f.result("nor", "c2", "t2")),
        *(f.mark(message="t1"), f.mark(message="t2"), f.text("Oh."), f.finished()),
    )

    assert [outcome for _, outcome in played.calls().values()] == ["no", "nor", "21"]
    ends = [played.of_call(call)[-1]["type"].removeprefix("tool-output-") for call in ("c1", "c2")]
    assert ends == ["error", "error"]
    assert played.of_call("c3")[-1]["type"] == "tool-output-available"
    played.client.close()


def test_results_do_not_wait_for_ever_for_marks_of_others() -> None:
    """The time begins with the first of them."""
    played = Played(f.started(), *f.whole_call("c1"), *f.whole_call("c2"), f.result("21"))

    played.wait(0.06).tell(f.result("22", "c2", "t2")).wait(0.06)

    assert [each[1] for each in played.calls().values()] == ["21", "22"]


def test_a_result_that_is_repeated_at_once_counts_once() -> None:
    played = Played(
        *(f.started(), *f.whole_call(), f.result("first"), f.result("second"), f.finished())
    )

    assert played.calls() == {"c1": ({}, "first")}


def test_many_results_in_a_row_are_not_all_held() -> None:
    calls = [f"c{number}" for number in range(100)]
    played = Played(
        f.started(),
        *(frame for call in calls for frame in f.whole_call(call)),
        *(f.result("x" * 10_000, call, f"t{call}") for call in calls),
    )

    told = [outcome for _, outcome in played.calls().values() if outcome]
    assert 90 <= len(told) < 100


def test_a_body_that_the_server_did_not_like_is_a_failure() -> None:
    played = Played(f.started(), f.failed("No message history"))

    assert played.turn.outcome is Outcome.FAILED
    assert played.client.error == "No message history"


# Agno


def test_ends_that_come_when_the_tools_are_done_and_interleaved() -> None:
    played = Played(
        *(f.started(), f.call("c1"), f.args(PARIS, "c1"), f.call("c2"), f.args(ROME, "c2")),
        *(f.call_end("c2"), f.result("22", "c2", "c2"), f.call_end("c1")),
        *(f.result("21", "c1", "c1"), f.text("Warm."), f.finished()),
    )

    assert played.calls() == {"c1": ({"city": "Paris"}, "21"), "c2": ({"city": "Rome"}, "22")}
    played.client.close()


def test_an_end_that_comes_behind_its_result() -> None:
    played = Played(
        *(f.started(), f.call(), f.args(PARIS), f.result("21"), f.call_end(), f.finished())
    )

    assert played.calls() == {"c1": ({"city": "Paris"}, "21")}
    assert played.kinds.count("tool-input-available") == 1


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('"12*7 is 84"', "12*7 is 84"),
        (json.dumps(json.dumps({"temp": 21})), {"temp": 21}),
        ('"a" and "b"', '"a" and "b"'),
        ("84", "84"),
    ],
)
def test_an_output_that_is_encoded_twice_is_the_text_that_the_tool_returned(
    content: str, shown: Any
) -> None:
    """Strands does so too."""
    played = Played(f.started(), *f.whole_call(), f.result(content), f.finished())

    assert played.calls() == {"c1": ({}, shown)}


def test_a_confirmation_that_is_only_a_call_has_no_result() -> None:
    played = Played(f.started(), *f.whole_call(), f.text("I need a yes."), f.finished())

    assert played.calls() == {"c1": ({}, "No result")}


# Strands


def test_a_snapshot_after_each_piece_doubles_nothing() -> None:
    asked, hello = f.user(), f.assistant("Let me look. ")
    called = f.assistant("", "m2", c1=PARIS)
    played = Played(
        *(f.started(), f.snapshot(asked), f.text("Let me look. "), f.text_end()),
        *(f.snapshot(asked, hello), *f.whole_call(given=PARIS), f.snapshot(asked, hello, called)),
        f.event("TOOL_CALL_RESULT", messageId="t1", toolCallId="c1", content='{"temp":21}'),
        *(f.snapshot(asked, hello, called, f.tool('{"temp":21}')), f.text("Warm.", "m3")),
        *(f.text_end("m3"), f.finished(outcome={"type": "success"})),
    )

    assert played.client.text == "Let me look. Warm."
    assert played.calls() == {"c1": ({"city": "Paris"}, {"temp": 21})}
    assert played.protocol.frame_stats.left_out == {}


def test_an_interrupt_of_a_tool_is_a_question_whose_call_gets_its_outcome_in_the_next_run() -> None:
    asks = {"reason": "weather", "metadata": {"reason": "Really?"}}
    asked = f.interrupted({"id": "v1:tool_call:c1:1", **asks})
    played = Played(f.started(), *f.whole_call(given=PARIS), asked).leave()

    (question,) = [chunk["data"] for chunk in played.chunks if chunk["type"] == "data-question"]
    assert (question["text"], question.get("callId")) == ("Really?", None)
    assert played.of_call("c1")[-1]["type"] == "tool-input-available"

    played.reply("v1:tool_call:c1:1", "yes").open_again()
    run = played.requests[1]["runId"]
    played.tell(f.started(run), f.result("21"), f.text("Warm."), f.finished(run))
    assert played.calls() == {"c1": ({"city": "Paris"}, "21")}


def test_a_model_that_is_throttled_is_silent_and_alive() -> None:
    played = Played(f.started())
    for _ in range(10):
        played.wait(100.0).tell(f.raw(throttled=True))

    assert played.turn.outcome is None


def test_a_delta_without_text_is_no_sign_of_life() -> None:
    played = Played(f.started())
    for _ in range(10):
        played.wait(100.0).tell(f.text(""))

    assert played.turn.outcome is Outcome.SILENT


# LlamaIndex


def llama() -> Played:
    called = f.assistant("Let me look.", "other-1", c1=PARIS, c2=ROME)
    done = [f.tool('{"temp":21}', "c1"), f.tool("22", "c2")]
    return Played(
        *(f.started(), f.text_chunk(messageId="m1", role="assistant", delta="Let me ")),
        f.text_chunk(messageId="m1", role="assistant", delta="look. "),
        f.call_chunk(toolCallId="c1", toolCallName="weather", delta=PARIS),
        f.call_chunk(toolCallId="c2", toolCallName="weather", delta=ROME),
        *(f.snapshot(f.user(), called), f.snapshot(f.user(), called, *done)),
        f.text_chunk(messageId="m2", role="assistant", delta="Warm."),
        *(f.snapshot(f.user(), called, *done, f.assistant("Warm.", "other-2")), f.finished()),
    )


def test_results_that_only_a_snapshot_tells() -> None:
    played = llama()

    assert played.calls() == {
        "c1": ({"city": "Paris"}, {"temp": 21}),
        "c2": ({"city": "Rome"}, "22"),
    }
    played.client.close()


def test_a_snapshot_under_other_ids_and_with_other_spaces_is_never_text() -> None:
    assert llama().client.text == "Let me look. Warm."


def test_a_body_that_breaks_behind_an_error_is_that_error() -> None:
    played = Played(f.started(), f.failed("429")).leave()

    assert played.turn.outcome is Outcome.FAILED
    assert played.client.error == "429"


# Google ADK


def test_thoughts_that_the_last_event_repeats_inside_of_the_text() -> None:
    played = Played(
        *(f.started(), f.thought("First I ", "r1"), f.thought("consider.", "r1"), f.thought_end()),
        *(f.text_start(), f.text("Hello "), f.event("REASONING_START", messageId="r2")),
        *(f.thought("First I consider.", "r2"), f.thought_end("r2")),
        *(f.event("REASONING_END", messageId="r2"), f.text("world"), f.text_end(), f.finished()),
    )

    assert list(played.client.reasonings.values()) == ["First I consider."]
    assert list(played.client.texts.values()) == ["Hello world"]


def test_a_confirmation_asks_about_the_call_that_waits() -> None:
    original = {"id": "c1", "name": "weather", "args": {}}
    asks = {"id": "adk-1", "reason": "confirmation", "toolCallId": "adk-1"}
    played = Played(
        *(f.started(), *f.whole_call(), *f.whole_call("adk-1", "adk_request_confirmation")),
        f.interrupted({**asks, "metadata": {"adk": {"originalFunctionCall": original}}}),
    )

    (question,) = [chunk["data"] for chunk in played.chunks if chunk["type"] == "data-question"]
    assert (question["callId"], question["toolName"]) == ("c1", "weather")
    assert played.of_call("adk-1") == []
    assert played.of_call("c1")[-1]["type"] == "tool-input-available"


# Microsoft Agent Framework


def test_text_that_stays_open_across_its_calls() -> None:
    played = Played(
        *(f.started(), f.text_start(), f.text("Let me look. "), *f.whole_call("c1", given=PARIS)),
        *(*f.whole_call("c2", given=ROME), f.result("21", "c1", "t1"), f.text_end()),
        *(f.result("22", "c2", "t2"), f.text("Warm.", "m2"), f.finished()),
    )

    assert played.client.text == "Let me look. Warm."
    assert played.calls() == {"c1": ({"city": "Paris"}, "21"), "c2": ({"city": "Rome"}, "22")}
    played.client.close()


def test_usage_comes_in_running_totals() -> None:
    played = Played(
        *(f.started(), f.custom("usage", {"input_token_count": 12}), f.text("a")),
        *(f.custom("usage", {"input_token_count": 24}), f.finished()),
    )

    assert played.client.metadata == {"usage": {"inputTokens": 24}}


# Reported of several


def test_an_end_behind_an_error_changes_nothing() -> None:
    played = Played(f.started(), f.text("a"), f.failed("boom"))
    before = played.written

    played.tell(f.finished(), f.text("b")).leave()

    assert played.written == before
    assert played.kinds.count("finish") == 1


def test_an_end_while_calls_run_in_parallel() -> None:
    played = Played(f.started(), *f.whole_call("c1"), f.call("c2"), f.finished())

    assert played.calls() == {"c1": ({}, "No result"), "c2": ({}, "No result")}
    played.client.close()
