"""The calls of a turn: what is known of each while it is open."""

from typing import Any

from msgspec import Raw

from support.ui_stream_turn import plain_event
from turnwire.core.body.conversation import Call
from turnwire.core.bounds import INPUT_BYTES_MAX
from turnwire.core.events import Event, Phase
from turnwire.dialects.ui_stream.calls import (
    INPUTS_MAX,
    OPEN_MAX,
    PIECES_MAX,
    UNNAMED,
    Calls,
)


def only(events: list[Event]) -> Any:
    (event,) = events
    return plain_event(event)[1]


def test_a_call_from_its_beginning_to_its_output() -> None:
    calls = Calls()

    assert only(calls.start("c1", "weather"))["phase"] is Phase.PENDING
    assert only(calls.piece("c1", '{"a"'))["tool_name"] == "weather"
    assert only(calls.input("c1", "weather", Raw(b'{"a":1}')))["args"] == '{"a":1}'
    assert calls.described("c1") == Call("c1", "weather", Raw(b'{"a":1}'))
    assert calls.piece("c1", "late") == []
    assert only(calls.preliminary("c1", Raw(b"1")))["preliminary"] is True
    assert only(calls.output("c1", Raw(b"2"))) == {
        "call_id": "c1",
        "tool_name": "weather",
        "phase": Phase.COMPLETED,
        "result": "2",
    }
    assert (calls.open_ids, calls.described("c1")) == ([], None)


def test_a_call_that_never_began_has_no_name_but_every_outcome() -> None:
    calls = Calls()

    assert only(calls.output("c1", Raw()))["result"] == "null"
    assert only(calls.failed("c2", "broken"))["tool_name"] == UNNAMED
    assert only(calls.preliminary("c3", Raw(b"1")))["tool_name"] == UNNAMED
    assert only(calls.piece("c4", "x"))["tool_name"] == UNNAMED
    assert only(calls.input("c5", "", Raw()))["args"] == "{}"
    assert calls.described("c5") == Call("c5", UNNAMED, Raw(b"{}"))


def test_an_empty_piece_is_nothing() -> None:
    assert Calls().piece("c1", "") == []


def test_many_pieces_are_few_strings() -> None:
    calls = Calls()
    calls.start("c1", "weather")
    for _ in range(1_000):
        calls.piece("c1", "1")

    assert calls.joined_input("c1") == Raw(b"1" * 1_000)
    assert len(calls._open["c1"].pieces) <= PIECES_MAX


def test_pieces_are_the_input_if_no_other_came() -> None:
    calls = Calls()
    calls.start("c1", "weather")
    calls.start("c2", "weather")
    for part in ('{"city":', '"Rome"}'):
        calls.piece("c1", part)

    assert calls.joined_input("c1") == Raw(b'{"city":"Rome"}')
    calls.input("c1", "", Raw(b"{}"))
    assert [calls.joined_input(call_id) for call_id in ("c1", "c2", "c9")] == [None] * 3


def test_of_an_input_that_is_too_long_nothing_is_known() -> None:
    calls = Calls()
    calls.start("c1", "x")
    calls.piece("c1", "x" * INPUT_BYTES_MAX)
    calls.piece("c1", "x")
    calls.piece("c1", "x")
    calls.input("c2", "x", Raw(b"1" * INPUTS_MAX))

    assert calls.joined_input("c1") is None
    assert calls.described("c1") is calls.described("c2") is None


def test_of_very_many_calls_the_oldest_is_forgotten() -> None:
    calls = Calls()
    for number in range(OPEN_MAX + 1):
        calls.start(f"c{number}", "x")

    assert len(calls.open_ids) == OPEN_MAX
    assert "c0" not in calls.open_ids


def test_a_call_that_others_told_is_known() -> None:
    calls = Calls()
    calls.adopt(Call("c1", "delete", Raw(b"{}")))

    assert only(calls.output("c1", Raw(b"1")))["tool_name"] == "delete"
