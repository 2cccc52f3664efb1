"""What LangGraph does differently: what a graph tells beside the events of the wire."""

from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played

PARIS, ROME = '{"city":"Paris"}', '{"city":"Rome"}'


def graph_state(**inputs: Any) -> bytes:
    calls = [{"name": "weather", "args": args, "id": call} for call, args in inputs.items()]
    return f.event("STATE_SNAPSHOT", snapshot={"messages": [{"type": "ai", "tool_calls": calls}]})


def test_a_second_call_without_its_input_gets_it_from_the_state() -> None:
    played = Played(
        *(f.started(), *f.whole_call("c1", given=PARIS), f.call("c2"), f.call_end("c2")),
        graph_state(c1={"city": "Paris"}, c2={"city": "Rome"}),
        *(f.result("21", "c1", "c1"), f.result("22", "c2", "c2"), f.text("Warm."), f.finished()),
    )

    assert played.calls() == {
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

    assert played.calls() == {"c1": ({"city": "Paris"}, "21")}


@pytest.mark.parametrize(
    "told",
    [
        graph_state(c2={"city": "Rome"}),
        f.snapshot(f.user(), f.assistant("", c2=ROME), f.tool("22", "c2")),
        f.event(
            "RAW",
            event={
                "event": "on_chat_model_end",
                "data": {"output": {"tool_calls": [{"id": "c2", "args": {"city": "Rome"}}]}},
            },
        ),
    ],
)
def test_a_snapshot_right_behind_the_result_has_the_input(told: bytes) -> None:
    played = Played(
        *(f.started(), f.call("c2"), f.call_end("c2"), f.result("22", "c2", "c2")),
        *(told, f.text("Warm."), f.finished()),
    )

    assert played.calls() == {"c2": ({"city": "Rome"}, "22")}
    played.client.close()


def test_an_input_that_comes_behind_what_followed_the_result_is_counted() -> None:
    late = f.snapshot(f.user(), f.assistant("", c2=ROME), f.tool("22", "c2"))
    played = Played(
        *(f.started(), f.call("c2"), f.call_end("c2"), f.result("22", "c2", "c2")),
        *(f.text("Warm."), late, late, f.finished()),
    )

    assert played.calls() == {"c2": ({}, "22")}
    assert played.protocol.frame_stats.left_out == {"input that came late": 1}


FAILED_STATE = f.event(
    "STATE_SNAPSHOT",
    snapshot={"messages": [{"type": "tool", "tool_call_id": "c1", "status": "error"}]},
)
FAILED_SNAPSHOT = f.snapshot(f.user(), f.assistant("", c1=PARIS), f.tool("no", error="error"))
FAILED_RAW = f.event(
    "RAW",
    event={
        "event": "on_tool_end",
        "data": {"output": {"tool_call_id": "c1", "status": "error", "content": "no"}},
    },
)


@pytest.mark.parametrize(
    "told",
    [
        (FAILED_RAW, f.result("no")),
        (f.result("no"), FAILED_RAW),
        (f.result("no"), FAILED_STATE),
        (f.result("no"), f.result("21", "c2", "t2"), FAILED_STATE),
        (f.result("no"), f.raw(), f.result("21", "c2", "t2"), FAILED_SNAPSHOT),
        (FAILED_SNAPSHOT,),
    ],
)
def test_a_tool_of_a_graph_that_failed_is_an_error(told: tuple[bytes, ...]) -> None:
    played = Played(
        *(f.started(), *f.whole_call("c1", given=PARIS), *f.whole_call("c2"), *told),
        *(f.text("Oh."), f.finished()),
    )

    assert played.of_call()[-1]["type"] == "tool-output-error"
    assert played.of_call()[-1]["errorText"] == "no"
    if len(told) > 2:
        assert played.of_call("c2")[-1]["output"] == "21"
    played.client.close()


def test_a_failure_that_comes_behind_what_followed_the_result_is_counted() -> None:
    played = Played(
        *(f.started(), *f.whole_call(), f.result("no"), f.text("Oh."), FAILED_SNAPSHOT),
        *(FAILED_SNAPSHOT, f.finished()),
    )

    assert played.of_call()[-1]["output"] == "no"
    assert played.protocol.frame_stats.left_out == {"failure that came late": 1}


def test_a_graph_says_nothing_of_calls_that_are_not_ours() -> None:
    played = Played(
        *(f.started(), FAILED_RAW, *f.whole_call("c2"), FAILED_RAW, FAILED_STATE),
        *(*f.whole_call("c1"), f.result("21"), f.text("Warm."), f.finished()),
    )

    assert played.of_call()[-1]["output"] == "21"


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
