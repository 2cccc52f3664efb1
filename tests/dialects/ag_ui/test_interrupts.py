"""Interrupts in all their spellings: what the client is asked, and how an answer is sent."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.bounds import ID_MAX
from turnwire.core.events import Question
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui.interrupts import (
    Answered,
    Interrupt,
    Verdict,
    from_custom,
    may_be_in,
    question,
    resume_fields,
    takes_reason,
    verdict_of,
    without_reason,
)

YES_OR_NO = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def one(**fields: Any) -> Interrupt:
    """The interrupt of an outcome."""
    outcome = {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "x", **fields}]}
    verdict, found = verdict_of(raw(outcome), FrameStats())
    assert verdict is Verdict.INTERRUPT
    (interrupt,) = found
    return interrupt


def payload(asked: Question) -> Any:
    return json.loads(bytes(asked.payload))


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        ({"type": "success"}, Verdict.SUCCESS),
        ({"type": "success", "pendingToolCallIds": ["c1"]}, Verdict.SUCCESS),
        ({"type": "cancelled"}, Verdict.CANCELLED),
        ({"type": "interrupt"}, Verdict.INTERRUPT),
        ({"type": "interrupt", "interrupts": None}, Verdict.INTERRUPT),
        ({"type": "success", "interrupts": []}, Verdict.SUCCESS),
        ({"type": "cancelled", "interrupts": [{"id": "i1"}]}, Verdict.CANCELLED),
        ({"type": "something new"}, Verdict.SUCCESS),
        (None, Verdict.SUCCESS),
        (7, Verdict.SUCCESS),
    ],
)
def test_a_run_ends_with_a_verdict(outcome: Any, verdict: Verdict) -> None:
    ended, found = verdict_of(raw(outcome), FrameStats())

    assert (ended, list(found)) == (verdict, [])


@pytest.mark.parametrize("kind", ["success", "something new", 7])
def test_a_run_that_names_an_interrupt_asks_whatever_its_outcome_is(kind: Any) -> None:
    ended, found = verdict_of(raw({"type": kind, "interrupts": [{"id": "i1"}]}), FrameStats())

    assert ended is Verdict.INTERRUPT
    assert [each.question_id for each in found] == ["i1"]


GOOD = {"id": "i1", "reason": "x"}


@pytest.mark.parametrize(
    "interrupts",
    [
        *(
            [{}, 7],
            [GOOD, {}],
            [GOOD, {"id": 7}],
            [GOOD, {**GOOD, "id": "x" * (ID_MAX + 1)}],
            [GOOD, {**GOOD, "id": "decision:".ljust(ID_MAX, "x")}],
            7,
            {"0": GOOD},
        ),
        [{**GOOD, "id": f"i{number}"} for number in range(65)],
    ],
)
def test_where_one_interrupt_cannot_be_read_none_is_asked(interrupts: Any) -> None:
    """The next run would have to answer all of them."""
    stats = FrameStats()

    ended = verdict_of(raw({"type": "interrupt", "interrupts": interrupts}), stats)

    assert ended == (Verdict.UNREADABLE, ())
    assert stats.left_out == {"interrupt": 1}


@pytest.mark.parametrize(
    ("event", "may_be"),
    [
        ({"type": "CUSTOM", "name": "on_interrupt", "value": 1}, True),
        ({"type": "CUSTOM", "name": "function_approval_request"}, True),
        ({"type": "CUSTOM", "name": "usage"}, False),
        ({"type": "TEXT_MESSAGE_CONTENT", "delta": "on_interrupt"}, False),
    ],
)
def test_an_event_that_cannot_be_decoded_may_spell_an_interrupt(
    event: Any, *, may_be: bool
) -> None:
    assert may_be_in(json.dumps(event).encode()) is may_be


@pytest.mark.parametrize(
    ("said", "milliseconds"),
    [
        ("2026-11-25T16:00:00Z", 1_795_622_400_000),
        ("2026-11-25T17:00:00.250+01:00", 1_795_622_400_250),
        (None, None),
    ],
)
def test_until_when_an_interrupt_waits_is_told_in_milliseconds(
    said: Any, milliseconds: int | None
) -> None:
    asked = question(one(expiresAt=said), None, as_approval=False)

    assert payload(asked).get("expiresAt") == milliseconds


@pytest.mark.parametrize("said", ["soon", "", "2026-11-25", 1_795_622_400, []])
def test_what_is_no_point_of_time_is_left_out_and_counted(said: Any) -> None:
    """Of a number nobody knows the unit: in seconds, it would be a time long ago."""
    stats = FrameStats()
    outcome = {"type": "interrupt", "interrupts": [{**GOOD, "expiresAt": said}]}

    _, (interrupt,) = verdict_of(raw(outcome), stats)

    assert "expiresAt" not in interrupt.fields
    assert stats.left_out == {"expiresAt of an interrupt": 1}


@pytest.mark.parametrize(
    ("fields", "is_one"),
    [
        ({"responseSchema": YES_OR_NO}, True),
        ({"reason": "tool_call"}, True),
        ({"reason": "confirmation", "responseSchema": {}}, True),
        ({"reason": "tool_call", "responseSchema": {"properties": {"text": {}}}}, False),
        ({"responseSchema": {**YES_OR_NO, "required": ["approved", "city"]}}, False),
        ({"reason": "input_required"}, False),
        ({}, False),
    ],
)
def test_a_yes_or_a_no_is_asked_by_the_schema_or_the_reason(
    fields: dict[str, Any], *, is_one: bool
) -> None:
    assert one(**fields).asks_yes_or_no is is_one


def test_an_approval_names_its_call() -> None:
    until = "2026-11-25T16:00:00Z"
    interrupt = one(toolCallId="c1", message="Delete?", responseSchema=YES_OR_NO, expiresAt=until)

    asked = question(interrupt, ("delete", Raw(b'{"a":1}')), as_approval=True)

    assert asked.approval is not None
    assert (asked.approval.call_id, asked.approval.tool_name) == ("c1", "delete")
    assert payload(asked) == {
        "kind": "approval",
        "text": "Delete?",
        "reason": "x",
        "callId": "c1",
        "toolName": "delete",
        "args": {"a": 1},
        "responseSchema": YES_OR_NO,
        "expiresAt": 1_795_622_400_000,
    }


@pytest.mark.parametrize("call", [("delete", Raw(b"{}")), None])
def test_an_approval_that_cannot_be_one_is_a_question_that_is_signed_all_the_same(
    call: tuple[str, Raw] | None,
) -> None:
    asked = question(one(toolCallId="c1", reason="tool_call"), call, as_approval=False)

    assert asked.approval is None
    assert asked.is_approval
    assert ("toolName" in payload(asked)) == (call is not None)


def test_any_other_interrupt_is_a_question() -> None:
    asked = question(one(message="Where to?"), None, as_approval=True)

    assert not asked.is_approval
    assert payload(asked) == {"text": "Where to?", "reason": "x"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"question": "delete Paris?"}, "delete Paris?"),
        ({"message": "delete Paris?"}, "delete Paris?"),
        ("delete Paris?", "delete Paris?"),
        ({"x": 1}, None),
        ([7], None),
    ],
)
def test_a_graph_says_what_it_asks_in_a_value_of_its_own(value: Any, text: str | None) -> None:
    interrupt = one(metadata={"langgraph": {"raw": value}})

    assert interrupt.text == text
    assert json.loads(bytes(interrupt.fields["value"])) == value
    told_as_text = from_custom("on_interrupt", raw(json.dumps(value)), "run-1:0")
    assert told_as_text is not None
    assert told_as_text.text == text
    assert json.loads(bytes(told_as_text.fields["value"])) == value
    told = from_custom("on_interrupt", raw(value), "run-1:0")
    assert told is not None
    assert (told.question_id, told.text) == ("command:run-1:0", text)
    assert told.is_of_graph


def test_an_approval_may_be_requested_in_an_event() -> None:
    value = {"id": "a1", "function_call": {"call_id": "c1", "name": "delete"}}

    interrupt = from_custom("function_approval_request", raw(value), "run-1:0")

    assert interrupt is not None
    assert (interrupt.question_id, interrupt.call_id) == ("a1", "c1")
    assert interrupt.asks_yes_or_no
    without_call = from_custom("function_approval_request", raw({"id": "a1"}), "")
    assert without_call is not None
    assert without_call.call_id is None


@pytest.mark.parametrize("value", [{}, {"id": 7}, "a1", None, {"id": "own:".ljust(ID_MAX, "x")}])
def test_a_request_without_an_id_cannot_be_read(value: Any) -> None:
    assert from_custom("function_approval_request", raw(value), "run-1:0") is None


@pytest.mark.parametrize(
    ("metadata", "is_one"),
    [
        ({"langgraph": {"raw": 1}}, True),
        ({"langgraph": {}}, True),
        ({"adk": {}}, False),
        (7, False),
    ],
)
def test_the_interrupts_of_a_graph_are_known(metadata: Any, *, is_one: bool) -> None:
    assert one(metadata=metadata).is_of_graph is is_one


def test_an_invented_call_stands_for_the_call_that_it_asks_about() -> None:
    original = {"id": "c1", "name": "delete", "args": {}}

    interrupt = one(toolCallId="adk-1", metadata={"adk": {"originalFunctionCall": original}})

    assert interrupt.call_id == "c1"


def test_what_is_asked_may_stand_in_the_metadata() -> None:
    assert one(metadata={"reason": "Delete notes.txt?"}).text == "Delete notes.txt?"


@pytest.mark.parametrize(
    ("answer", "is_approval", "sent"),
    [
        (b"true", True, {"approved": True}),
        (b"false", True, {"approved": False}),
        (b'{"approved":false,"reason":"no"}', True, {"approved": False, "reason": "no"}),
        (b"true", False, True),
        (b'"Rome"', False, "Rome"),
    ],
)
def test_an_answer_is_an_entry_of_resume(answer: bytes, sent: Any, *, is_approval: bool) -> None:
    resume, forwarded = resume_fields([Answered("i1", Raw(answer), is_approval)])

    assert resume is not None
    assert json.loads(bytes(resume)) == [
        {"interruptId": "i1", "status": "resolved", "payload": sent}
    ]
    assert bytes(forwarded) == b"{}"


CLOSED = {**YES_OR_NO, "properties": {"approved": {}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "is_taken"),
    [
        (YES_OR_NO, True),
        ({**YES_OR_NO, "additionalProperties": False}, True),
        (CLOSED, False),
        ({**CLOSED, "additionalProperties": True}, True),
        ({**CLOSED, "additionalProperties": {}}, True),
        (None, True),
        (7, True),
    ],
)
def test_a_reason_is_taken_unless_the_schema_of_the_answer_has_no_place_for_it(
    schema: Any, *, is_taken: bool
) -> None:
    interrupt = one(toolCallId="c1", responseSchema=schema)
    asked = question(interrupt, ("delete", Raw(b"{}")), as_approval=True)

    assert interrupt.takes_reason is is_taken
    assert takes_reason(asked) is is_taken


def test_a_question_of_any_other_shape_takes_a_reason() -> None:
    assert takes_reason(Question("q1", Raw(b"7")))


@pytest.mark.parametrize(
    ("answer", "rest"),
    [
        ({"approved": False, "reason": "no"}, b"false"),
        ({"approved": True, "reason": ""}, b"true"),
        ({"approved": False, "reason": "no", "editedArgs": {}}, None),
        ({"approved": False}, None),
        ({"approved": "no", "reason": "no"}, None),
        (False, None),
        ("no", None),
    ],
)
def test_an_answer_without_its_reason(answer: Any, rest: bytes | None) -> None:
    found = without_reason(raw(answer))

    assert (None if found is None else bytes(found)) == rest


def test_an_answer_to_an_interrupt_without_an_id_is_a_command() -> None:
    resume, forwarded = resume_fields(
        [Answered("command:run-1:0", Raw(b'"yes"'), is_approval=False)]
    )

    assert resume is None
    assert json.loads(bytes(forwarded)) == {"command": {"resume": "yes"}}


def test_half_of_a_pair_in_a_text_goes_out_as_a_replacement() -> None:
    asked = question(Interrupt(question_id="i1", text="a\ud83d"), None, as_approval=False)

    assert payload(asked) == {"text": "a\ufffd"}
