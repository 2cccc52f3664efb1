"""The parts of a turn while it grows."""

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw, UnsetType

from turnwire_agent.llm.transcript import File, Image, Outcome, Text
from turnwire_agent.session.deltas import (
    DataSet,
    Delta,
    FileAdded,
    InputAdded,
    PreliminaryResult,
    ReasoningAdded,
    SourceAdded,
    StatusChanged,
    TextAdded,
)
from turnwire_agent.session.events import (
    CallBegun,
    CallEnded,
    CallPart,
    DataPart,
    FilePart,
    Part,
    QuestionAsked,
    QuestionClosed,
    QuestionPart,
    ReasoningPart,
    SourcePart,
    StepPart,
    TextPart,
)
from turnwire_agent.session.parts import (
    PARTS_MAX,
    Parts,
    Retracted,
    closed,
    is_open,
    shown_value,
)


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def parts(*deltas: Delta) -> Parts:
    found = Parts()
    for delta in deltas:
        found.add(delta)
    return found


def begun(call_id: str = "c1", call_input: Any = None) -> CallBegun:
    return CallBegun(
        turn_id="t1", call_id=call_id, tool="t", key="k", effect="safe", input=raw(call_input or {})
    )


def ended(call_id: str = "c1", outcome: Outcome = "done", **fields: Any) -> CallEnded:
    return CallEnded(turn_id="t1", call_id=call_id, tool="t", outcome=outcome, **fields)


def asked(question_id: str = "q1", **fields: Any) -> QuestionAsked:
    return QuestionAsked(turn_id="t1", question_id=question_id, text="?", **fields)


def answered(answer: Raw | UnsetType, question_id: str = "q1") -> QuestionClosed:
    return QuestionClosed(turn_id="t1", question_id=question_id, answer=answer)


def call(status: Any = "pending", **fields: Any) -> CallPart:
    return CallPart(**{"call_id": "c1", "tool": "t", "status": status, **fields})


def test_neighbours_of_one_kind_are_one_part() -> None:
    found = parts(
        TextAdded("a"),
        TextAdded(""),
        TextAdded("b"),
        ReasoningAdded("c"),
        ReasoningAdded("d"),
        TextAdded("e"),
    )

    assert found.now() == (TextPart("ab"), ReasoningPart("cd"), TextPart("e"))
    assert len(found) == 3


@pytest.mark.parametrize(
    ("delta", "part"),
    [
        (FileAdded("a/b", "data:,x", "x"), FilePart("a/b", "data:,x", "x")),
        (SourceAdded("s1", "https://a.example/", "A"), SourcePart("s1", "https://a.example/", "A")),
        (DataSet("state", Raw(b"1")), DataPart("state", Raw(b"1"))),
        (DataSet("state", Raw(b"1"), ""), DataPart("state", Raw(b"1"))),
        (DataSet("state", Raw(b"1"), "d1"), DataPart("state", Raw(b"1"), "d1")),
        (InputAdded("c1", "t", ""), call()),
        (
            PreliminaryResult("c1", "t", Raw(b"1")),
            call("running", value=Raw(b"1"), preliminary=True),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_parts_end_the_text_before_them(delta: Delta, part: Part) -> None:
    found = parts(TextAdded("a"), delta, TextAdded("b"))

    assert found.now() == (TextPart("a"), part, TextPart("b"))


@pytest.mark.parametrize(
    "delta", [StatusChanged("thinking"), DataSet("hint", Raw(b"1"), transient=True)]
)
def test_what_is_shown_for_a_moment_is_no_part(delta: Delta) -> None:
    assert parts(TextAdded("a"), delta, TextAdded("b")).now() == (TextPart("ab"),)


def test_data_with_an_id_is_replaced_where_it_stands() -> None:
    found = parts(
        DataSet("state", Raw(b"1"), "d1"),
        TextAdded("a"),
        DataSet("state", Raw(b"2"), "d1"),
        TextAdded("b"),
        DataSet("other", Raw(b"3"), "d1"),
    )

    assert found.now() == (
        DataPart("state", Raw(b"2"), "d1"),
        TextPart("ab"),
        DataPart("other", Raw(b"3"), "d1"),
    )


def test_pieces_of_an_input_are_joined_until_the_input_is_whole() -> None:
    found = parts(
        InputAdded("c1", "t", '{"a"'), InputAdded("c2", "t", "x"), InputAdded("c1", "t", ":1}")
    )
    assert found.now() == (call(input_text='{"a":1}'), call(call_id="c2", input_text="x"))
    assert found.takes_input("c1")
    assert found.takes_input("c3")

    found.begin_call(begun("c1", {"a": 1}))
    found.add(InputAdded("c1", "t", "late"))

    assert found.now()[0] == call("running", input=raw({"a": 1}))
    assert not found.takes_input("c1")
    assert (found.has_call("c1"), found.has_call("c3")) == (True, False)


def test_the_pieces_are_the_input_if_no_other_one_comes() -> None:
    found = parts(InputAdded("c1", "t", "nonsense"), PreliminaryResult("c1", "t", Raw(b"1")))

    found.end_call(ended(outcome="failed", error="No"))

    assert found.now() == (call("error", input_text="nonsense", error="No"),)


def test_a_call_may_end_without_having_begun() -> None:
    found = parts(InputAdded("c1", "t", "{"))

    found.end_call(ended(outcome="denied", input=raw({"a": 1})))
    found.end_call(ended("c2", input=raw({"b": 1}), value=raw(None)))

    assert found.now() == (
        call("error", input=raw({"a": 1}), error="Denied"),
        call("completed", call_id="c2", input=raw({"b": 1}), value=raw(None)),
    )


def test_a_call_keeps_the_input_that_was_run() -> None:
    found = Parts()
    found.begin_call(begun(call_input={"a": 1}))

    found.end_call(ended(input=raw({"b": 1}), value=raw(1)))

    assert found.now() == (call("completed", input=raw({"a": 1}), value=raw(1)),)


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        ("failed", "The tool failed"),
        ("denied", "Denied"),
        ("canceled", "Canceled"),
        ("unknown", "Nobody knows whether this was done"),
    ],
)
def test_a_call_without_words_has_those_of_its_outcome(outcome: Outcome, error: str) -> None:
    found = parts(PreliminaryResult("c1", "t", Raw(b"1")))

    found.end_call(ended(outcome=outcome))

    assert found.now() == (call("error", error=error),)


def test_what_comes_for_a_call_that_is_over_changes_nothing() -> None:
    found = Parts()
    found.end_call(ended(value=raw(1)))
    before = found.now()

    found.end_call(ended(outcome="failed"))
    found.begin_call(begun())
    found.add(PreliminaryResult("c1", "t", Raw(b"2")))
    found.add(InputAdded("c1", "t", "x"))
    found.ask(asked(call_id="c1", tool="t", input=raw({})))

    assert found.now()[:-1] == before


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ((), ""),
        ((Text("a"), Text("b")), "a\nb"),
        (
            (Text("a"), Image("image/png", b"x"), File("a/b", b"x", name="n")),
            [
                {"type": "text", "text": "a"},
                {"type": "image", "mediaType": "image/png"},
                {"type": "file", "mediaType": "a/b", "filename": "n"},
            ],
        ),
    ],
)
def test_people_see_what_the_model_is_sent_if_there_is_nothing_else(
    content: Any, value: Any
) -> None:
    assert json.loads(bytes(shown_value(ended(content=content)))) == value


def test_a_result_that_has_half_of_a_character_is_shown() -> None:
    assert json.loads(bytes(shown_value(ended(content=(Text("a\ud83d"),))))) == "a\ufffd"


def test_a_question_shows_the_call_that_waits_for_it() -> None:
    found = parts(InputAdded("c1", "t", "{}"))
    question = asked(call_id="c1", tool="t", input=raw({"a": 1}))

    found.ask(question)
    assert found.now() == (call("running", input=raw({"a": 1})), QuestionPart(question))
    assert [each.call_id for each in found.open_calls()] == ["c1"]

    found.close_question(answered(raw(None)))
    found.close_question(answered(raw("yes")))
    found.close_question(answered(raw("yes"), "q9"))

    assert found.now()[1] == QuestionPart(question, raw(None))


def test_a_question_about_a_call_that_nobody_named_has_its_card() -> None:
    found = Parts()
    question = asked(call_id="c1", input=UNSET)

    found.ask(question)

    assert found.now() == (
        CallPart(call_id="c1", tool="", status="running"),
        QuestionPart(question),
    )


def test_a_question_may_expire_and_may_be_asked_again() -> None:
    found = Parts()
    found.ask(asked())
    found.close_question(answered(UNSET))
    assert found.now() == (QuestionPart(asked(), expired=True),)

    found.ask(asked())

    assert found.now() == (QuestionPart(asked()),)


def test_a_step_begins_a_part_of_its_own() -> None:
    found = Parts()
    found.begin_step()
    assert found.now() == ()

    found.add(TextAdded("a"))
    assert found.marks_step
    found.begin_step()
    assert not found.marks_step
    found.begin_step()
    found.add(TextAdded("b"))

    assert found.now() == (TextPart("a"), StepPart(), TextPart("b"))
    assert len(found) == 2


def test_parts_of_a_lost_attempt_are_taken_back_and_clients_have_seen_them() -> None:
    found = parts(TextAdded("a"))
    found.begin_step()
    for delta in (TextAdded("b"), InputAdded("c1", "t", "{"), DataSet("x", Raw(b"1"), "d1")):
        found.add(delta)

    found.take_back(1)
    found.begin_step()
    for delta in (TextAdded("c"), InputAdded("c1", "t", "}"), DataSet("x", Raw(b"2"), "d1")):
        found.add(delta)

    assert found.now() == (
        TextPart("a"),
        StepPart(),
        TextPart("c"),
        call(input_text="}"),
        DataPart("x", Raw(b"2"), "d1"),
    )
    assert found.log() == (
        TextPart("a"),
        StepPart(),
        TextPart("b"),
        call(input_text="{"),
        DataPart("x", Raw(b"1"), "d1"),
        Retracted(1),
        TextPart("c"),
        call(input_text="}"),
        DataPart("x", Raw(b"2"), "d1"),
    )
    assert len(found) == 4


def test_an_attempt_that_said_nothing_leaves_no_mark() -> None:
    found = parts(TextAdded("a"))

    found.take_back(1)
    found.take_back(7)
    found.add(TextAdded("b"))

    assert found.log() == (TextPart("a"), TextPart("b"))


def test_a_question_that_was_taken_back_is_closed_where_clients_have_seen_it() -> None:
    found = Parts()
    found.ask(asked())
    found.take_back(0)

    found.close_question(answered(raw("yes")))

    assert found.now() == ()
    assert found.log() == (QuestionPart(asked(), raw("yes")), Retracted(0))


def test_a_turn_has_no_more_files_sources_and_data_than_fit() -> None:
    found = parts(*(SourceAdded(f"s{n}", "https://a.example/") for n in range(PARTS_MAX)))

    found.add(FileAdded("a/b", "data:,x"))
    found.add(DataSet("x", Raw(b"1")))
    found.add(DataSet("x", Raw(b"1"), "d1"))
    found.add(TextAdded("a"))
    found.begin_call(begun())

    assert len(found) == PARTS_MAX + 2
    assert found.now()[-2:] == (TextPart("a"), call("running", input=raw({})))


@pytest.mark.parametrize(("reason", "error"), [("canceled", "Canceled"), ("error", "No result")])
def test_the_end_closes_what_is_open(reason: Any, error: str) -> None:
    done, expired = call("completed"), QuestionPart(asked(), expired=True)
    found: tuple[Part, ...] = (
        TextPart("a"),
        done,
        call("running", value=Raw(b"1"), preliminary=True, input_text="{"),
        QuestionPart(asked()),
        QuestionPart(asked(), raw(None)),
    )

    settled = closed(found, reason)

    assert settled == (
        TextPart("a"),
        done,
        call("error", error=error, input_text="{"),
        expired,
        QuestionPart(asked(), raw(None)),
    )
    assert closed(settled, reason) == settled
    assert not any(is_open(part) for part in settled)


def test_text_is_joined_on_demand_alone() -> None:
    """A turn of a hundred thousand deltas takes a fraction of a second, not minutes."""
    found = Parts()
    for _ in range(100_000):
        found.add(TextAdded("x" * 10))

    assert len(found) == 1
    assert found.now() == (TextPart("x" * 1_000_000),)
