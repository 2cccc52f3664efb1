"""What servers do differently: each habit that a naive reader trips over, as they send it."""

from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played
from turnwire.core.turn.outcome import Outcome

PARIS, ROME = '{"city":"Paris"}', '{"city":"Rome"}'


def calls_of(played: Played) -> dict[str, Any]:
    """Each call's input and its outcome."""
    return {
        part["toolCallId"]: (part.get("input"), part.get("output", part.get("errorText")))
        for part in played.client.parts
        if part["type"].startswith("tool-")
    }


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


def test_a_body_that_the_server_did_not_like_is_a_failure() -> None:
    played = Played(f.started(), f.failed("No message history"))

    assert played.turn.outcome is Outcome.FAILED
    assert played.client.error == "No message history"


# LangGraph


def graph_state(**inputs: Any) -> bytes:
    calls = [{"name": "weather", "args": args, "id": call} for call, args in inputs.items()]
    return f.event("STATE_SNAPSHOT", snapshot={"messages": [{"type": "ai", "tool_calls": calls}]})


def test_a_second_call_without_its_input_gets_it_from_the_state() -> None:
    played = Played(
        *(f.started(), *f.whole_call("c1", given=PARIS), f.call("c2"), f.call_end("c2")),
        graph_state(c1={"city": "Paris"}, c2={"city": "Rome"}),
        *(f.result("21", "c1", "c1"), f.result("22", "c2", "c2"), f.text("Warm."), f.finished()),
    )

    assert calls_of(played) == {
        "c1": ({"city": "Paris"}, "21"),
        "c2": ({"city": "Rome"}, "22"),
    }


def test_a_call_without_the_first_piece_of_its_input_gets_it_from_the_frameworks_event() -> None:
    answer = {"output": {"tool_calls": [{"id": "c1", "args": {"city": "Paris"}}]}}
    played = Played(
        *(f.started(), f.call(), f.args('": "Paris"}'), f.call_end()),
        f.event("RAW", event={"event": "on_chat_model_end", "data": answer}),
        *(f.result("21"), f.text("Warm."), f.finished()),
    )

    assert calls_of(played) == {"c1": ({"city": "Paris"}, "21")}


def test_without_a_state_before_the_result_the_input_is_empty() -> None:
    played = Played(
        *(f.started(), f.call("c2"), f.call_end("c2"), f.result("22", "c2", "c2")),
        *(f.snapshot(f.user(), f.assistant("", c2=ROME), f.tool("22", "c2")), f.finished()),
    )

    assert calls_of(played) == {"c2": ({}, "22")}


def test_an_error_comes_while_text_and_a_step_are_open() -> None:
    played = Played(
        *(f.started(), f.event("STEP_STARTED", stepName="agent"), f.text("Half of")),
        f.failed("model exploded"),
    )

    assert played.client.text == "Half of"
    assert played.client.error == "model exploded"
    played.client.close()


def test_a_last_snapshot_with_another_text_deletes_nothing() -> None:
    played = Played(
        *(f.started(), f.text("Hello."), f.text_end()),
        *(f.snapshot(f.user(), f.assistant("", "m2")), f.finished(usage=[{"inputTokens": 1}])),
    )

    assert played.client.text == "Hello."


def test_copies_of_the_frameworks_events_change_nothing() -> None:
    copy: dict[str, Any] = {"rawEvent": {"data": {"chunk": {"content": "Hel"}}}}
    quiet = Played(f.started(), f.text("Hel"), f.text("lo"), f.finished())

    noisy = Played(
        *(f.started(), f.raw(data="x" * 1_000), f.text("Hel", **copy), f.raw()),
        *(f.text("lo", **copy), f.finished()),
    )

    assert noisy.written == quiet.written
    assert noisy.protocol.frame_stats.left_out == {"RAW": 2}


# Agno


def test_ends_that_come_when_the_tools_are_done_and_interleaved() -> None:
    played = Played(
        *(f.started(), f.call("c1"), f.args(PARIS, "c1"), f.call("c2"), f.args(ROME, "c2")),
        *(f.call_end("c2"), f.result("22", "c2", "c2"), f.call_end("c1")),
        *(f.result("21", "c1", "c1"), f.text("Warm."), f.finished()),
    )

    assert calls_of(played) == {"c1": ({"city": "Paris"}, "21"), "c2": ({"city": "Rome"}, "22")}
    played.client.close()


def test_an_end_that_comes_behind_its_result() -> None:
    played = Played(
        *(f.started(), f.call(), f.args(PARIS), f.result("21"), f.call_end(), f.finished())
    )

    assert calls_of(played) == {"c1": ({"city": "Paris"}, "21")}
    assert played.kinds.count("tool-input-available") == 1


def test_a_confirmation_that_is_only_a_call_has_no_result() -> None:
    played = Played(f.started(), *f.whole_call(), f.text("I need a yes."), f.finished())

    assert calls_of(played) == {"c1": ({}, "No result")}


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
    assert calls_of(played) == {"c1": ({"city": "Paris"}, {"temp": 21})}
    assert played.protocol.frame_stats.left_out == {}


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

    assert calls_of(played) == {
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
    assert calls_of(played) == {"c1": ({"city": "Paris"}, "21"), "c2": ({"city": "Rome"}, "22")}
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

    assert calls_of(played) == {"c1": ({}, "No result"), "c2": ({}, "No result")}
    played.client.close()
