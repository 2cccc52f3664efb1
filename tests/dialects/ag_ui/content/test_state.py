"""State and activities: off, shown at once, or kept as parts; the latest, never too large."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.ag_ui_turn import plain, protocol
from turnwire.core.requests import StateMode
from turnwire.dialects.ag_ui.content.state import ACTIVITIES_MAX, STATE_BYTES_MAX


def snapshot(value: Any) -> bytes:
    return f.event("STATE_SNAPSHOT", snapshot=value)


def delta(*operations: Any) -> bytes:
    return f.event("STATE_DELTA", delta=[*operations])


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def activity(content: Any, message: str = "a1", **fields: Any) -> bytes:
    return f.event(
        "ACTIVITY_SNAPSHOT", messageId=message, activityType="PLAN", content=content, **fields
    )


def activity_delta(*operations: Any, message: str = "a1") -> bytes:
    return f.event("ACTIVITY_DELTA", messageId=message, activityType="PLAN", patch=[*operations])


def shown(*told: bytes, mode: StateMode = StateMode.PARTS) -> list[Any]:
    """The data part that the last of these events becomes: name, id, data."""
    asked = protocol(*told[:-1], state=mode)
    parts = plain(asked.receive_frame(told[-1], 0))
    return [(fields["name"], fields["part_id"], json.loads(fields["data"])) for _, fields in parts]


def results(*told: bytes, mode: StateMode = StateMode.PARTS) -> list[Any]:
    """The parts that results become: id, data, and whether it is transient."""
    asked = protocol(f.started(), state=mode)
    parts = [part for frame in told for part in plain(asked.receive_frame(frame, 0))]
    return [
        (fields["part_id"], json.loads(fields["data"]), fields.get("transient", False))
        for kind, fields in parts
        if kind == "DataPart" and fields["name"] == "result"
    ]


EVENTS = [snapshot({"a": 1}), delta(add("/a", 2)), activity({}), activity_delta()]


@pytest.mark.parametrize("frame", EVENTS)
def test_by_default_nothing_is_shown_and_all_is_counted(frame: bytes) -> None:
    asked = protocol()

    assert plain(asked.receive_frame(frame, 0)) == []
    assert asked.frame_stats.left_out == {json.loads(frame)["type"]: 1}
    assert asked.frame_stats.left_out_bytes == len(frame)


def test_a_snapshot_is_the_state_and_deltas_change_it() -> None:
    assert shown(snapshot({"a": 1})) == [("state", "state", {"a": 1})]
    assert shown(snapshot({"a": 1}), delta(add("/b", 2))) == [("state", "state", {"a": 1, "b": 2})]
    assert shown(snapshot({"a": 1}), snapshot([2])) == [("state", "state", [2])]


def test_the_first_delta_may_make_the_state() -> None:
    assert shown(delta(add("", {"a": 1}))) == [("state", "state", {"a": 1})]


@pytest.mark.parametrize("mode", [StateMode.TRANSIENT, StateMode.PARTS])
def test_a_part_is_transient_if_the_operator_wants_it(mode: StateMode) -> None:
    asked = protocol(state=mode)

    ((_, fields),) = plain(asked.receive_frame(snapshot(1), 0))

    assert fields.get("transient", False) is (mode is StateMode.TRANSIENT)


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (delta(add("/x/y", 1)), "patch that does not fit"),
        (delta(7), "patch that does not fit"),
        (delta(add("/a", "x" * STATE_BYTES_MAX)), "patch that does not fit"),
        (snapshot("x" * STATE_BYTES_MAX), "state that is too large"),
        (f.event("STATE_SNAPSHOT"), "state that is too large"),
        (activity_delta(add("/a", 1), message="a9"), "patch that does not fit"),
        (activity_delta(7), "patch that does not fit"),
        (activity("x" * STATE_BYTES_MAX), "activity that is too large"),
        (
            f.event("ACTIVITY_SNAPSHOT", messageId="a2", activityType="x"),
            "activity that is too large",
        ),
    ],
)
def test_what_does_not_fit_is_counted_and_changes_nothing(frame: bytes, what: str) -> None:
    asked = protocol(snapshot({"a": 1}), activity({"b": 2}), state=StateMode.PARTS)

    assert plain(asked.receive_frame(frame, 0)) == []
    assert asked.frame_stats.left_out == {what: 1}
    ((_, fields),) = plain(asked.receive_frame(delta(add("/c", 3)), 0))
    assert json.loads(fields["data"]) == {"a": 1, "c": 3}


def test_additions_to_what_is_there_have_the_bound_too() -> None:
    half = "x" * (STATE_BYTES_MAX // 2)

    assert shown(snapshot({"a": half}), delta(add("/b", half))) == []


def test_an_activity_is_a_part_of_its_own_and_changes() -> None:
    plan = {"activityType": "PLAN", "content": {"b": 2}}

    assert shown(activity({"b": 2})) == [("activity", "a1", plan)]
    assert shown(activity({}), activity_delta(add("/b", 2))) == [("activity", "a1", plan)]
    assert shown(activity({}), activity({"b": 2})) == [("activity", "a1", plan)]
    assert shown(activity({}), activity({"b": 2}, replace=False)) == []
    assert shown(activity({"b": 2}, replace=False)) == [("activity", "a1", plan)]


def test_activities_are_bounded_in_number_and_share_their_room() -> None:
    many = [activity({}, f"a{number}") for number in range(ACTIVITIES_MAX)]

    assert shown(*many, activity({}, "more")) == []
    assert shown(*many, activity({"b": 1}, "a0"))
    half = "x" * (STATE_BYTES_MAX // 2)
    assert shown(activity({"a": half}), activity({"a": half}, "a2")) == []


def test_a_state_that_a_client_would_refuse_is_made_safe() -> None:
    assert shown(snapshot({"__proto__": 1})) == [("state", "state", {"_proto_": 1})]


def test_a_state_that_is_nested_too_deeply_is_counted() -> None:
    deep = Raw(b'{"type":"STATE_DELTA","delta":[{"op":"add","path":"","value":%b}]}')
    frame = bytes(deep) % (b"[" * 900 + b"]" * 900)

    assert shown(snapshot(1), frame) in (
        [],
        [("state", "state", json.loads(b"[" * 900 + b"]" * 900))],
    )


def test_a_result_is_a_part_of_its_run() -> None:
    ended = f.finished(result={"a": 1})

    assert results(ended) == [(f.RUN, {"a": 1}, False)]
    assert results(ended, mode=StateMode.TRANSIENT) == [(f.RUN, {"a": 1}, True)]
    assert results(ended, mode=StateMode.OFF) == []


@pytest.mark.parametrize("ended", [f.finished(), f.finished(result=None)])
def test_a_run_without_a_result_has_no_part(ended: bytes) -> None:
    assert results(ended) == []


def test_the_result_of_a_run_that_asks_comes_before_its_question() -> None:
    asked = protocol(f.started(), state=StateMode.PARTS)
    interrupts = [{"id": "i1", "reason": "input_required", "message": "Where to?"}]
    ended = f.finished(outcome={"type": "interrupt", "interrupts": interrupts}, result=1)

    kinds = [kind for kind, _ in plain(asked.receive_frame(ended, 0))]

    assert kinds == ["DataPart", "Question"]


def test_a_result_has_the_bound_of_a_state_and_no_key_that_clients_refuse() -> None:
    longest = "x" * (STATE_BYTES_MAX - 2)
    asked = protocol(f.started(), state=StateMode.PARTS)

    assert [data for _, data, _ in results(f.finished(result=longest))] == [longest]
    ended = plain(asked.receive_frame(f.finished(result=longest + "x"), 0))
    assert [kind for kind, _ in ended] == ["TurnFinished"]
    assert asked.frame_stats.left_out == {"result that is too large": 1}
    ((_, data, _),) = results(f.finished(result={"__proto__": 1}))
    assert "__proto__" not in data
