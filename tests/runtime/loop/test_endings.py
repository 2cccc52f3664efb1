from msgspec import UNSET, Raw

from runtime.loop.journal import AGENT, NOW, answer, began, done, question, state, step
from turnwire_agent.llm.transcript import Text
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import Running
from turnwire_agent.loop.decide import decide
from turnwire_agent.loop.endings import ending, failing, unanswered
from turnwire_agent.loop.prepare import repaired
from turnwire_agent.session.events import CallEnded, QuestionAsked, QuestionClosed

FIND = ("find", '{"n":1}')
CHARGE = ("charge", '{"n":1}')
MAIL = ("mail.send", '{"n":1}')


def test_a_turn_that_ends_leaves_nothing_open() -> None:
    events = (
        step(),
        answer(FIND, CHARGE, CHARGE, MAIL, FIND),
        question("c3"),
        began("c0", "find"),
        done("c0"),
        began("c1", "charge"),
        began("c2", "charge"),
    )
    folded = state(*events)
    end = ending(folded, Running(calls=frozenset({"c1"})), failing("Why."), NOW + 5)

    assert (end.reason, end.finish_reason, end.error) == ("error", "error", "Why.")
    assert [
        (event.call_id, event.outcome, event.content)
        for event in end.events
        if isinstance(event, CallEnded)
    ] == [
        ("c1", "canceled", (Text(words.STOPPED),)),
        ("c2", "unknown", (Text(words.UNKNOWN),)),
        ("c3", "canceled", (Text(words.NOT_RUN),)),
        ("c4", "canceled", (Text(words.NOT_RUN),)),
    ]
    assert end.events[-1] == QuestionClosed(turn_id="t", question_id="t-c3", at=NOW + 5)
    assert [(effect.key, effect.state) for effect in end.effects] == [
        ("s/t/c1", "unknown"),
        ("s/t/c2", "unknown"),
    ]
    for event in end.events:
        folded.apply(event)
    assert folded.open_calls == []
    assert folded.questions == {}
    assert repaired(folded.transcript) == folded.transcript


def test_a_call_leaves_no_question_of_its_own_open() -> None:
    first, second, other = (
        QuestionAsked(turn_id="t", question_id=each, text="?", asked_by=call_id, at=NOW)
        for each, call_id in (("q1", "c0"), ("q2", "c0"), ("q3", "c1"))
    )
    answered = QuestionClosed(turn_id="t", question_id="q1", answer=Raw(b"1"))
    calls = (step(), answer(FIND, FIND), began("c0", "find"), began("c1", "find"))
    folded = state(*calls, first, second, other, answered)

    assert folded.answers == {"q1": answered}
    assert unanswered(folded, "c0", NOW) == (QuestionClosed(turn_id="t", question_id="q2", at=NOW),)


def test_a_call_that_never_began_keeps_its_input_if_that_was_read() -> None:
    folded = state(step(), answer(FIND, MAIL))
    decide(folded, AGENT, Running(), NOW)
    [first, second] = [
        e
        for e in ending(folded, Running(), failing("Why."), NOW).events
        if isinstance(e, CallEnded)
    ]

    assert first.input == second.input == Raw(b'{"n":1}')
    [unread] = ending(state(step(), answer(FIND)), Running(), failing("Why."), NOW).events
    assert isinstance(unread, CallEnded)
    assert unread.input is UNSET
