"""Snapshots: what they have of the calls of the last turn."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from turnwire.core.bounds import VALUES_MAX
from turnwire.core.wire.census import TooManyError
from turnwire.dialects.ag_ui.content import snapshots


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def test_a_snapshot_has_inputs_outcomes_and_lengths() -> None:
    read = snapshots.read(
        raw([f.user(), f.assistant("Hi.", c1='{"a":1}', c2="no"), f.tool("21"), 7])
    )

    assert {call: bytes(each.input or b"") for call, each in read.calls.items()} == {
        "c1": b'{"a":1}',
        "c2": b'"no"',
    }
    outcome = read.calls["c1"].outcome
    assert outcome is not None
    assert (outcome.message_id, bytes(outcome.content), outcome.error) == ("of-c1", b'"21"', None)
    assert read.calls["c2"].outcome is None
    assert read.text_lengths == {"m1": 3}


def test_earlier_turns_do_not_count_though_their_ids_are_the_same() -> None:
    earlier = [f.user(), f.assistant("Before.", c1="{}"), f.tool("old")]

    read = snapshots.read(raw([*earlier, f.user(message="u2")]))

    assert (read.calls, read.text_lengths) == ({}, {})


def test_an_outcome_is_of_the_call_before_it() -> None:
    """The same id again is another call, which has no outcome yet."""
    read = snapshots.read(raw([f.assistant("", c1="{}"), f.tool("old"), f.assistant("", c1="[]")]))

    assert read.calls["c1"].outcome is None
    assert bytes(read.calls["c1"].input or b"") == b"[]"


def test_an_outcome_may_stand_alone_and_say_that_it_failed() -> None:
    alone = f.tool("it broke", error="boom")
    del alone["id"]

    (call,) = snapshots.read(raw([alone])).calls.values()

    assert call.input is None
    assert call.outcome is not None
    assert (call.outcome.message_id, call.outcome.error) == ("c1:result", "boom")


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "assistant", "content": "no id"},
        {"role": "assistant", "id": "m1", "content": [{"type": "text"}]},
        {"role": "assistant", "id": "m1", "toolCalls": 7},
        {"role": "tool", "content": "no call"},
        {"role": "assistant", "id": "m1", "toolCalls": [{"function": []}, 7]},
    ],
)
def test_what_is_odd_is_left_out(odd: dict[str, Any]) -> None:
    read = snapshots.read(raw([odd]))

    assert (read.calls, read.text_lengths) == ({}, {})


def test_a_call_without_arguments_has_no_input() -> None:
    (call,) = snapshots.read(raw([f.assistant("", c1="")])).calls.values()

    assert call.input is None


def test_a_snapshot_that_is_no_list_is_malformed() -> None:
    with pytest.raises(msgspec.ValidationError):
        snapshots.read(raw({}))


def test_the_state_of_a_graph_has_inputs() -> None:
    calls = [{"name": "x", "args": {"a": 1}, "id": "c1"}, {"name": "x", "id": "c2"}]
    state = {"messages": [{"tool_calls": calls}, {"tool_calls": None}, 7, {}], "secret": 1}

    assert snapshots.in_state(raw(state)).inputs == {"c1": raw({"a": 1})}


@pytest.mark.parametrize(
    ("message", "failed"),
    [
        ({"tool_call_id": "c1", "status": "error"}, {"c1"}),
        ({"tool_call_id": "c1", "status": "success"}, set()),
        ({"tool_call_id": "c1", "status": 7}, set()),
        ({"tool_call_id": 7, "status": "error"}, {""}),
    ],
)
def test_the_state_of_a_graph_has_failures(message: Any, failed: set[str]) -> None:
    assert set(snapshots.in_state(raw({"messages": [message, {}]})).failed) == failed
    ended = f.event("RAW", event={"event": "on_tool_end", "data": {"output": message}})
    assert set(snapshots.in_raw(ended).failed) == failed


def test_of_several_results_of_a_call_in_a_state_the_last_counts() -> None:
    good = {"tool_call_id": "c1", "status": "success", "content": "21"}
    bad = {"tool_call_id": "c1", "status": "error", "content": "no"}
    empty = {"tool_call_id": "c1", "status": "success"}

    found = snapshots.in_state(raw({"messages": [bad, good, empty]}))
    assert (found.failed, found.succeeded) == ({}, {"c1": raw("21")})
    found = snapshots.in_state(raw({"messages": [good, bad]}))
    assert (found.failed, found.succeeded) == ({"c1": raw("no")}, {})


@pytest.mark.parametrize("state", [7, {}, {"messages": 7}, None])
def test_another_state_has_none(state: Any) -> None:
    found = snapshots.in_state(raw(state))

    assert (found.inputs, set(found.failed)) == ({}, set())


def answered(**output: Any) -> bytes:
    data = {"output": output, "input": {"messages": [{"content": "secret"}]}}
    return f.event("RAW", event={"event": "on_chat_model_end", "data": data})


def test_an_event_of_a_graph_has_inputs() -> None:
    frame = answered(tool_calls=[{"name": "x", "args": {"a": 1}, "id": "c1"}])

    assert snapshots.in_raw(frame).inputs == {"c1": raw({"a": 1})}


@pytest.mark.parametrize(
    "frame",
    [
        answered(),
        answered(tool_calls=None),
        f.raw(),
        f.event("RAW"),
        f.event("RAW", event=7),
        b'{"type":"RAW","event":NaN,"x":"on_tool_end"}',
        f.event("RAW", event={"event": "on_chain_end", "name": "on_tool_end"}),
    ],
)
def test_other_events_of_a_framework_have_none(frame: bytes) -> None:
    found = snapshots.in_raw(frame)

    assert (found.inputs, set(found.failed)) == ({}, set())


@pytest.mark.parametrize(("error", "shown"), [("boom", "boom"), ("error", ""), ("", ""), (7, None)])
def test_the_error_of_a_graphs_tool_is_a_bare_word(error: Any, shown: str | None) -> None:
    (call,) = snapshots.read(raw([f.tool("it broke", error=error)])).calls.values()

    assert call.outcome is not None
    assert call.outcome.error == shown


def test_a_long_snapshot_is_counted_in_steps_before_it_is_decoded() -> None:
    fine = f.snapshot(*[f.user("x" * 100)] * 1_000)

    assert sum(1 for _ in snapshots.prepare(fine)) > 1
    with pytest.raises(TooManyError):
        list(snapshots.prepare(f.event("MESSAGES_SNAPSHOT", messages=[0] * (VALUES_MAX + 1))))
