"""Events become rows and come back; what this version does not know refuses the session."""

import json
from typing import Any, get_args

import msgspec
import pytest
from msgspec import Raw

from runtime.session.story import Story
from turnwire_agent.llm.transcript import Assistant, File, Native, Text
from turnwire_agent.session import deltas as d
from turnwire_agent.session import events as e
from turnwire_agent.session.codec import (
    BrokenEventError,
    NewerEventError,
    encode,
    event_of,
    row_of,
)

NULL = Raw(b"null")


def back(event: e.Event) -> e.Event:
    kind, body, _ = row_of(event)
    return event_of(kind, body)


def test_every_event_of_a_session_comes_back() -> None:
    for seed in range(25):
        for event in Story(seed, orderly=False).events():
            assert back(event) == event


@pytest.mark.parametrize(
    "event",
    [
        e.QuestionClosed(turn_id="t1", question_id="q1", answer=NULL),
        e.QuestionClosed(turn_id="t1", question_id="q1"),
        e.QuestionAsked(turn_id="t1", question_id="q1", text="null", input=NULL),
        e.CallEnded(turn_id="t1", call_id="c1", tool="t", outcome="done", value=NULL, input=NULL),
        e.CallEnded(turn_id="t1", call_id="c1", tool="t", outcome="done", value=Raw(b"[null]")),
        e.CallEnded(turn_id="t1", call_id="c1", tool="t", outcome="done", error="null"),
        e.CallBegun(turn_id="t1", call_id="c1", tool="t", key="k", effect="once", input=NULL),
        e.Streamed("t1", (d.DataSet("state", NULL), d.PreliminaryResult("c1", "t", NULL))),
        e.TurnEnded(
            turn_id="t1",
            reason="end_turn",
            parts=(
                e.TextPart("null"),
                e.CallPart(call_id="c1", tool="t", input=NULL, value=NULL),
                e.CallPart(call_id="c2", tool="t"),
                e.QuestionPart(e.QuestionAsked(turn_id="t1", question_id="q1", text="?"), NULL),
                e.QuestionPart(
                    e.QuestionAsked(turn_id="t1", question_id="q2", text="?", input=NULL),
                    expired=True,
                ),
                e.StepPart(),
            ),
        ),
        e.StepEnded(
            turn_id="t1",
            step=0,
            finish_reason="stop",
            message=Assistant(
                (Text("a"), File("a/b", b"\0\xff")), Native("chat", "openai", "m", Raw(b"[null]"))
            ),
        ),
    ],
    ids=lambda event: type(event).__name__,
)
def test_null_is_a_value_and_nothing_is_none(event: e.Event) -> None:
    assert back(event) == event


def test_what_an_end_repeats_is_a_detail() -> None:
    details = {
        kind
        for kind in get_args(e.Event)
        if kind.__name__
        in {
            *("Streamed", "StepBegun", "StepEnded", "AttemptLost", "CallBegun", "CallEnded"),
            *("QuestionAsked", "QuestionClosed", "TurnTakenOver", "TurnParked"),
        }
    }
    seen: set[type] = set()
    for seed in range(25):
        for event in Story(seed).events():
            assert encode(event).detail == (type(event) in details), event
            seen.add(type(event))
    assert seen == set(get_args(e.Event))


def test_a_row_has_its_kind_and_version_and_nothing_that_is_not_needed() -> None:
    kind, body, _ = row_of(e.Prompted(entry_id="e1", content="hi"))

    assert kind == "prompted.1"
    assert json.loads(body) == {"type": "prompted.1", "entry_id": "e1", "content": "hi"}


@pytest.mark.parametrize("kind", ["prompted.2", "prompted", "mood-changed.1", ""])
def test_a_kind_that_is_not_known_refuses_the_session(kind: str) -> None:
    with pytest.raises(NewerEventError, match="newer version") as error:
        event_of(kind, b'{"secret":1}')
    assert error.value.kind == kind
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"type":"turn-begun.1"}',
        b'{"type":"turn-begun.1","turn_id":7,"entry_id":"canary"}',
        b'{"type":"turn-ended.1","turn_id":"t","entry_id":"e"}',
        b'{"type":"turn-begun.1","turn_id":"t","entry_id":"e","more":' + b"[" * 5_000,
    ],
)
def test_a_body_of_another_shape_is_an_error_without_its_content(body: bytes) -> None:
    with pytest.raises(BrokenEventError) as error:
        event_of("turn-begun.1", body)
    assert error.value.kind == "turn-begun.1"
    assert "canary" not in str(error.value)
    assert error.value.__suppress_context__


def test_a_newer_field_is_no_reason_to_refuse() -> None:
    assert event_of(
        "turn-begun.1", b'{"type":"turn-begun.1","turn_id":"t","entry_id":"e","mood":null}'
    ) == e.TurnBegun(turn_id="t", entry_id="e")


def test_half_of_a_character_is_replaced_and_the_event_says_so() -> None:
    event = e.Streamed("t1", (d.TextAdded("a\ud83d"), d.DataSet("x", Raw(b"1"))))

    encoded = encode(event)

    assert encoded.event == e.Streamed("t1", (d.TextAdded("a\ufffd"), d.DataSet("x", Raw(b"1"))))
    assert event_of(encoded.kind, encoded.body) == encoded.event


def test_an_event_that_can_be_written_stays_the_same_object() -> None:
    event = e.Streamed("t1", (d.TextAdded("\U0001f600"),))

    assert encode(event).event is event


def test_kinds_are_unique_and_have_a_version() -> None:
    kinds: list[Any] = [kind.__struct_config__.tag for kind in get_args(e.Event)]

    assert len(set(kinds)) == len(kinds)
    assert all(kind.rpartition(".")[2].isdigit() for kind in kinds)
    assert all(msgspec.structs.fields(kind) for kind in get_args(e.Event))
