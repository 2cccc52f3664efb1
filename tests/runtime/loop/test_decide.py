from typing import get_args

import pytest
from msgspec.structs import replace

from runtime.loop.journal import (
    AGENT,
    IDLE,
    NOW,
    SHORTER,
    TAKEN_OVER,
    answer,
    began,
    closed,
    done,
    following,
    lost,
    outcomes,
    question,
    state,
    step,
)
from runtime.loop.scenarios import MODEL
from runtime.loop.turn_machine import PROMPT
from turnwire_agent.llm.events import FinishReason, Usage
from turnwire_agent.llm.faults import TRANSIENT, FaultKind
from turnwire_agent.llm.transcript import Result, Results, Text
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import AskModel, Compact, End, Park, RunCall, Running, Write
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.decide import decide, due_at
from turnwire_agent.loop.limits import Limits
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import (
    Compacted,
    Event,
    QuestionClosed,
    StepBegun,
    Streamed,
    TurnEnded,
)

ASKING = Running(attempt=True)
FIND = ("find", '{"n":1}')
MAIL = ("mail.send", '{"n":1}')


def end(*events: Event, agent: Agent = AGENT, running: Running = IDLE, now: float = NOW) -> End:
    [action] = following(*events, agent=agent, running=running, now=now)
    assert isinstance(action, End)
    return action


def ask(*events: Event, agent: Agent = AGENT) -> AskModel:
    [action] = following(*events, agent=agent)
    assert isinstance(action, AskModel)
    return action


def test_a_turn_begins_with_the_model() -> None:
    asked = ask()

    assert (asked.step, asked.attempt, asked.transcript) == (0, 0, PROMPT)
    assert asked.names == (("mail_send_b72927ae", "mail.send"),)
    assert asked.model is MODEL
    assert asked.begun(since=3, at=5.0) == StepBegun(
        turn_id="t", step=0, attempt=0, since=3, model="m", names=asked.names, at=5.0
    )


def test_nothing_is_next_while_the_model_answers() -> None:
    assert following(running=ASKING) == ()
    assert following(step(), running=ASKING) == ()
    assert following(step(), answer(), running=IDLE) != ()


def test_nothing_is_next_while_the_transcript_is_made_shorter() -> None:
    agent = replace(AGENT, compacts=True)
    events = (step(), lost("context-overflow"))

    assert following(*events, agent=agent, running=Running(compacting=True)) == ()
    assert following(*events, agent=agent) != ()


def test_nothing_is_next_in_a_turn_that_is_over() -> None:
    assert following(TurnEnded(turn_id="t", reason="end_turn")) == ()


def test_what_is_streamed_changes_nothing() -> None:
    assert following(Streamed("t", (TextAdded("a"),))) == following()


def test_a_model_is_asked_again_with_the_results_in_the_order_of_its_calls() -> None:
    both = (step(), answer(FIND, FIND), began("c0", "find"), began("c1", "find"))
    asked = ask(*both, done("c1"), done("c0"))

    assert (asked.step, asked.attempt) == (1, 0)
    assert asked.transcript[2] == Results(
        tuple(Result(each, "find", (Text("ok"),)) for each in ("c0", "c1"))
    )
    assert asked.used_ids == {"c0", "c1"}
    assert asked.made_ids == "call-1-0"


def test_an_attempt_whose_process_died_is_lost_and_made_again() -> None:
    begun = step(since=7)
    [write] = following(begun, TAKEN_OVER)

    assert isinstance(write, Write)
    [gone] = write.events
    assert gone == replace(lost("died"), since=7)
    assert ask(begun, TAKEN_OVER, gone).attempt == 1


def test_attempts_whose_processes_died_are_not_counted_as_faults() -> None:
    deaths = [event for at in range(4) for event in (step(0, at), lost("died", at))]

    assert ask(*deaths).attempt == 4


@pytest.mark.parametrize("kind", sorted(TRANSIENT))
def test_an_attempt_that_broke_off_is_made_again_twice(kind: str) -> None:
    attempts = [event for at in range(3) for event in (step(0, at), lost(kind, at))]

    assert ask(*attempts[:2]).attempt == 1
    assert ask(*attempts[:4]).attempt == 2
    over = end(*attempts)
    assert (over.reason, over.finish_reason, over.error) == ("error", "error", words.LOSSES[kind])


def test_the_faults_of_another_step_are_not_counted() -> None:
    first = [event for at in range(2) for event in (step(0, at), lost("truncated", at))]
    second = (step(0, 2), answer(FIND), began("c0", "find"), done("c0"))

    asked = ask(*first, *second, step(1), lost("truncated", number=1))
    assert (asked.step, asked.attempt) == (1, 1)


@pytest.mark.parametrize("kind", sorted(set(get_args(FaultKind)) - TRANSIENT))
def test_a_fault_that_another_attempt_does_not_change_ends_the_turn(kind: str) -> None:
    over = end(step(), lost(kind))

    assert over.reason == "error"
    assert over.error == words.LOSSES[kind]
    assert over.finish_reason == ("context" if kind == "context-overflow" else "error")


def test_a_call_that_was_given_up_before_its_answer_is_not_made_again() -> None:
    assert end(step(), lost("overloaded", final=True)).error == words.LOSSES["overloaded"]
    wait = end(step(), lost("rate-limited", final=True, retry_after_s=300.0))
    assert wait.error == "The model has too many requests at the moment. Try again in 5 minutes."


@pytest.mark.parametrize(
    ("finish", "reason", "finish_reason"),
    [
        ("stop", "end_turn", "stop"),
        ("length", "end_turn", "length"),
        ("content-filter", "end_turn", "content-filter"),
        ("tool-calls", "end_turn", "other"),
        ("error", "error", "error"),
        ("other", "end_turn", "other"),
        ("of a newer program", "end_turn", "other"),
    ],
)
def test_each_reason_of_an_answer_ends_a_turn(finish: str, reason: str, finish_reason: str) -> None:
    over = end(step(), answer(finish=finish))

    assert (over.reason, over.finish_reason) == (reason, finish_reason)
    assert (over.error is None) == (reason != "error")


def test_the_table_of_reasons_is_total() -> None:
    assert {end(step(), answer(finish=each)).reason for each in get_args(FinishReason)} == {
        "end_turn",
        "error",
    }


def test_there_are_exactly_so_many_answers() -> None:
    agent = replace(AGENT, limits=Limits(steps=2))
    first = (step(), answer(FIND), began("c0", "find"), done("c0"))
    last = (step(1), answer(FIND, MAIL, number=1))
    [write] = following(*first, *last, agent=agent)

    assert ask(*first, agent=agent).step == 1
    assert isinstance(write, Write)
    assert outcomes(write.events) == [
        (each, "canceled", words.STEP_LIMIT) for each in ("c0-1", "c1-1")
    ]
    over = end(*first, *last, *write.events, agent=agent)
    assert (over.reason, over.finish_reason, over.error) == ("end_turn", "max-steps", None)


def test_a_turn_whose_model_calls_its_tools_wrongly_ends() -> None:
    agent = replace(AGENT, limits=Limits(repairs=1))
    bad = ("find", "{")
    first = (step(), answer(bad), done("c0", outcome="failed"))
    second = (step(1), answer(bad, FIND, MAIL, number=1))
    [write] = following(*first, *second, agent=agent)

    assert ask(*first, agent=agent).step == 1
    assert isinstance(write, Write)
    assert [each[:2] for each in outcomes(write.events)] == [
        ("c0-1", "failed"),
        ("c1-1", "canceled"),
        ("c2-1", "canceled"),
    ]
    over = end(*first, *second, *write.events, agent=agent)
    assert (over.reason, over.error) == ("error", words.REPAIRS)


def test_a_transcript_that_is_too_long_is_made_shorter_once() -> None:
    agent = replace(AGENT, compacts=True)
    before = (step(), answer(FIND), began("c0", "find"), done("c0"))
    overflow = (*before, step(1), lost("context-overflow", number=1))
    [compact] = following(*overflow, agent=agent)

    assert isinstance(compact, Compact)
    assert compact.transcript == state(*overflow).transcript
    assert compact.otherwise.finish_reason == "context"
    shorter = (*overflow, Compacted(turn_id="t", transcript=SHORTER))
    asked = ask(*shorter, agent=agent)
    assert (asked.step, asked.attempt, asked.transcript) == (1, 1, SHORTER)
    assert not asked.retries_overflow
    assert ask(*before, agent=agent).retries_overflow
    over = end(*shorter, step(1, 1), lost("context-overflow", 1, number=1), agent=agent)
    assert (over.reason, over.finish_reason) == ("error", "context")


def test_a_shorter_transcript_does_not_make_more_faults_allowed() -> None:
    agent = replace(AGENT, compacts=True)
    faults = [event for at in range(2) for event in (step(0, at), lost("truncated", at))]
    overflow = (step(0, 2), lost("context-overflow", 2))
    shorter = (*faults, *overflow, Compacted(turn_id="t", transcript=SHORTER))

    assert ask(*shorter, agent=agent).attempt == 3
    over = end(*shorter, step(0, 3), lost("truncated", 3), agent=agent)
    assert over.error == words.LOSSES["truncated"]


def test_each_step_may_have_its_transcript_made_shorter() -> None:
    agent = replace(AGENT, compacts=True)
    first = (
        step(),
        lost("context-overflow"),
        Compacted(turn_id="t", transcript=SHORTER),
        step(0, 1),
        answer(FIND),
        began("c0", "find"),
        done("c0"),
    )
    [compact] = following(*first, step(1), lost("context-overflow", number=1), agent=agent)

    assert isinstance(compact, Compact)
    assert compact.transcript[: len(SHORTER)] == SHORTER
    assert len(compact.transcript) == len(SHORTER) + 2


def test_an_answer_that_fills_the_window_is_the_last_one() -> None:
    full = answer(FIND, finish="length", raw="model_context_window_exceeded")
    [write] = following(step(), full)

    assert isinstance(write, Write)
    assert outcomes(write.events) == [("c0", "canceled", words.NOT_RUN)]
    over = end(step(), full, *write.events)
    assert (over.reason, over.finish_reason) == ("end_turn", "context")


def test_usage_is_summed_and_that_of_lost_attempts_is_apart() -> None:
    over = end(
        step(),
        lost("context-overflow", usage=Usage(7, None, None, 1, None)),
        Compacted(turn_id="t", transcript=SHORTER),
        step(0, 1),
        answer(FIND, usage=Usage(1, 2, None, 4, 5)),
        began("c0", "find"),
        done("c0"),
        step(1),
        answer(number=1, finish="stop", usage=Usage(10, 20, None, 40, None)),
    )

    assert over.usage == Usage(11, 22, None, 44, None)
    assert over.lost_usage == Usage(7, None, None, 1, None)
    assert end(step(), answer()).lost_usage is None
    assert end(step(), lost("refused")).usage is None


def test_a_turn_that_is_taken_over_too_often_ends() -> None:
    agent = replace(AGENT, limits=Limits(takeovers=2))
    begun = (step(), answer(FIND, ("move", '{"n":1}')), began("c0", "find"), began("c1", "move"))

    assert following(*begun, TAKEN_OVER, TAKEN_OVER, agent=agent) != ()
    over = end(*begun, *[TAKEN_OVER] * 3, agent=agent)
    assert (over.reason, over.error) == ("error", words.TAKEN_OVER)
    assert outcomes(over.events) == [(each, "unknown", words.UNKNOWN) for each in ("c0", "c1")]
    assert [effect.state for effect in over.effects] == ["unknown"]
    assert end(*begun, *[TAKEN_OVER] * 3, *over.events, agent=agent).error == words.TAKEN_OVER


@pytest.mark.parametrize(
    "progress",
    [
        (step(), answer(FIND)),
        (step(), lost("context-overflow"), Compacted(turn_id="t", transcript=SHORTER)),
    ],
)
def test_a_turn_that_gets_on_may_be_taken_over_again(progress: tuple[Event, ...]) -> None:
    agent = replace(AGENT, limits=Limits(takeovers=1))

    assert not isinstance(following(TAKEN_OVER, *progress, TAKEN_OVER, agent=agent)[0], End)
    assert isinstance(following(TAKEN_OVER, TAKEN_OVER, agent=agent)[0], End)


def test_results_and_answers_of_people_are_progress_and_closing_is_none() -> None:
    asked = (step(), answer(FIND, MAIL), question("c1"))

    assert state(*asked, TAKEN_OVER, done("c0")).takeovers == 0
    assert state(*asked, TAKEN_OVER, closed("c1")).takeovers == 0
    assert state(*asked, TAKEN_OVER, closed("c1", None)).takeovers == 1
    assert state(*asked, TAKEN_OVER, done("c0", outcome="unknown")).takeovers == 1


def test_what_is_done_again_is_bounded() -> None:
    agent = replace(AGENT, limits=Limits(reruns=2))
    events = (step(), lost("died"), step(0, 1), answer(FIND), began("c0", "find"))
    again = began("c0", "find", run=1)

    assert following(*events, again, agent=agent) != ()
    assert end(*events, again, began("c0", "find", run=2), agent=agent).error == words.RERUNS


def test_a_turn_has_a_deadline_that_stops_what_runs() -> None:
    late = NOW + AGENT.limits.turn_s
    events = (step(), answer(MAIL, FIND), done("c0"), began("c1", "find"))
    running = Running(calls=frozenset({"c1"}))

    assert following(*events, running=running, now=late - 1) == ()
    over = end(*events, running=running, now=late)
    assert (over.reason, over.error) == ("error", words.OUT_OF_TIME)
    assert outcomes(over.events) == [("c1", "canceled", words.STOPPED)]
    assert end(step(), answer(), now=late).reason == "end_turn"
    assert end(step(), running=ASKING, now=late).error == words.OUT_OF_TIME


def test_time_does_not_go_on_while_people_are_asked() -> None:
    answered = (step(), answer(MAIL, MAIL), question("c0"), question("c1"))
    late = NOW + AGENT.limits.turn_s
    first = replace(question("c0"), expires_at=None)
    open_ = (step(), answer(MAIL), first)

    assert following(*open_, now=late + 1) == (Park(None),)
    both = (*answered, closed("c0", at=NOW + 30), closed("c1", at=NOW + 50))
    assert due_at(state(*both), AGENT) == late + 50
    assert due_at(state(*answered), AGENT) == NOW + 100
    assert due_at(state(), AGENT) == late
    assert due_at(state(*answered, closed("c0", at=NOW + 30)), AGENT) == NOW + 100
    assert end(*both, now=late + 50).error == words.OUT_OF_TIME
    assert not isinstance(following(*both, now=late + 49)[0], End)


def test_a_question_expires() -> None:
    asked = (step(), answer(MAIL, MAIL), question("c0"), question("c1"))
    later = replace(question("c1"), expires_at=NOW + 200)

    assert following(*asked[:3], later, now=NOW + 99) == (Park(NOW + 100),)
    assert following(*asked[:3], later, now=NOW + 100) == (
        Write((QuestionClosed(turn_id="t", question_id="t-c0", at=NOW + 100),)),
    )


def test_a_turn_parks_when_nothing_runs_and_goes_on_with_an_answer() -> None:
    asked = (step(), answer(MAIL, FIND), question("c0"))
    running = Running(calls=frozenset({"c1"}))

    assert following(*asked, began("c1", "find"), running=running) == ()
    parked = (*asked, began("c1", "find"), done("c1"))
    assert following(*parked) == (Park(NOW + 100),)
    [run] = following(*parked, closed("c0"))
    assert isinstance(run, RunCall)
    assert run.call_id == "c0"


def test_a_question_that_is_about_no_call_is_closed_with_the_turn() -> None:
    other = replace(question("c0"), call_id=None)
    over = end(step(), other, answer())

    assert over.events == (QuestionClosed(turn_id="t", question_id="t-c0", at=NOW),)


def test_the_same_state_says_the_same() -> None:
    folded = state(step(), answer(FIND, MAIL, ("find", "{")))

    assert decide(folded, AGENT, IDLE, NOW) == decide(folded, AGENT, IDLE, NOW)
