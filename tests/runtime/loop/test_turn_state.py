from msgspec.structs import replace

from runtime.loop.journal import (
    NOW,
    SHORTER,
    answer,
    began,
    closed,
    done,
    lost,
    question,
    state,
    step,
)
from runtime.loop.turn_machine import PROMPT
from turnwire_agent.llm.transcript import Assistant, Result, Results, Text
from turnwire_agent.session.events import Compacted

FIND = ("find", '{"n":1}')


def test_the_transcript_has_the_ids_of_the_model() -> None:
    first, second = answer(FIND), answer(FIND, number=1)
    folded = state(step(), first, done("c0"), step(1), second, done("c0-1", outcome="failed"))

    assert list(folded.calls) == ["c0", "c0-1"]
    assert folded.transcript == (
        *PROMPT,
        first.message,
        Results((Result("c0", "find", (Text("ok"),)),)),
        second.message,
        Results((Result("c0", "find", (Text("ok"),), "failed"),)),
    )


def test_a_call_without_an_outcome_has_no_result() -> None:
    first = answer(FIND, FIND)

    assert state(step(), first).transcript == (*PROMPT, first.message)
    assert len(state(step(), first, done("c1")).transcript) == 3


def test_an_empty_answer_is_not_in_the_transcript() -> None:
    empty = replace(answer(), message=Assistant(()))

    assert state(step(), empty).transcript == PROMPT


def test_a_shorter_transcript_takes_the_place_of_all_before() -> None:
    first, second = answer(FIND), answer(FIND, number=1)
    shorter = Compacted(turn_id="t", transcript=SHORTER)
    folded = state(step(), first, done("c0"), step(1), lost("context-overflow"), shorter, second)

    assert folded.transcript == (*SHORTER, second.message)
    assert [call.call_id for call in folded.open_calls] == ["c0-1"]


def test_the_first_of_two_outcomes_counts() -> None:
    folded = state(step(), answer(FIND), done("c0"), done("c0", outcome="failed"))

    assert folded.calls["c0"].ended == done("c0")
    assert folded.refused_steps == set()


def test_events_of_calls_and_questions_that_are_not_known_change_nothing() -> None:
    events = (step(), answer(FIND))
    folded = state(*events, began("z", "find"), done("z"), closed("z"))

    assert [call.call_id for call in folded.open_calls] == ["c0"]
    assert folded.calls["c0"].begun is None
    other = state(*events, question("z"), closed("z"))
    assert other.questions == {}
    assert other.calls["c0"].asked is None


def test_an_answer_to_an_older_question_of_a_call_decides_nothing() -> None:
    newer = replace(question("c0"), question_id="t-c0-2")
    folded = state(step(), answer(FIND), question("c0"), newer, closed("c0"))

    assert folded.calls["c0"].is_asking
    assert list(folded.questions) == ["t-c0-2"]


def test_the_time_of_a_turn_stands_while_a_question_is_open() -> None:
    asked = (step(), answer(FIND), question("c0"))

    assert state(*asked, closed("c0", at=NOW + 7)).waited_s == 7
    assert state(*asked, closed("c0", at=NOW - 7)).waited_s == 0
    again = replace(question("c0"), at=NOW + 20)
    assert state(*asked, closed("c0", at=NOW + 7), again, closed("c0", at=NOW + 21)).waited_s == 8
