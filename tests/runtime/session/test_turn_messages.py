"""What a turn adds to the transcript that models are sent."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    Native,
    Outcome,
    Reasoning,
    Result,
    Results,
    Text,
    Transcript,
    User,
)
from turnwire_agent.session import events as e
from turnwire_agent.session.turn_messages import messages_of

BEGUN = e.TurnBegun(turn_id="t1", entry_id="e1")
STEP = e.StepBegun(turn_id="t1", step=0)
ANSWER = Assistant((Text("a"),))


def answer(
    *calls: Call, call_ids: tuple[str, ...] = (), step: int = 0, **fields: Any
) -> e.StepEnded:
    message = Assistant((Text("a"), *calls), **fields)
    return e.StepEnded(
        turn_id="t1", step=step, message=message, call_ids=call_ids, finish_reason="stop"
    )


def run(call_id: str) -> e.CallBegun:
    return e.CallBegun(
        turn_id="t1", call_id=call_id, tool="t", key="k", effect="once", input=Raw(b"{}")
    )


def ended(call_id: str, outcome: Outcome = "done", words: str = "") -> e.CallEnded:
    content = (Text(words or call_id),)
    return e.CallEnded(turn_id="t1", call_id=call_id, tool="t", outcome=outcome, content=content)


def result(call_id: str, of: str, outcome: Outcome = "done") -> Result:
    return Result(call_id, "t", (Text(of),), outcome)


def test_results_have_the_ids_and_the_order_of_the_model() -> None:
    events = (
        BEGUN,
        STEP,
        answer(Call("m1", "t"), Call("m2", "t"), call_ids=("c1", "c2")),
        ended("c2", "failed"),
        ended("c1"),
        answer(Call("m1", "t"), call_ids=("c3",), step=1),
        ended("c3"),
        answer(step=2),
    )

    assert messages_of(events) == (
        Assistant((Text("a"), Call("m1", "t"), Call("m2", "t"))),
        Results((result("m1", "c1"), result("m2", "c2", "failed"))),
        Assistant((Text("a"), Call("m1", "t"))),
        Results((result("m1", "c3"),)),
        ANSWER,
    )


def test_lost_attempts_and_answers_that_never_ended_are_not_in_it() -> None:
    lost = e.AttemptLost(turn_id="t1", step=0, attempt=0, since=0, why="truncated")
    text = e.TextPart("half of an answer")

    assert messages_of((BEGUN, STEP, lost, STEP, answer())) == (ANSWER,)
    assert messages_of((BEGUN, STEP), (text,)) == ()


def test_an_answer_without_anything_in_it_is_left_out() -> None:
    native = Native("chat", "openai", "m", Raw(b"[1]"))
    empty = e.StepEnded(turn_id="t1", step=0, message=Assistant(()), finish_reason="stop")
    opaque = e.StepEnded(turn_id="t1", step=1, message=Assistant((), native), finish_reason="stop")

    assert messages_of((empty, opaque)) == (Assistant((), native),)


def test_of_two_outcomes_the_first_counts() -> None:
    events = (answer(Call("m1", "t"), call_ids=("c1",)), ended("c1"), ended("c1", "failed"))

    assert messages_of(events)[1] == Results((result("m1", "c1"),))


def test_a_call_that_may_have_been_run_has_no_result() -> None:
    """Nobody knows what became of it: `loop.prepare` says so."""
    calls = answer(Call("m1", "t"), Call("m2", "t"), call_ids=("c1", "c2"))
    parts = (
        e.CallPart(call_id="c1", tool="t", status="error"),
        e.CallPart(call_id="c2", tool="t", status="error"),
    )

    assert messages_of((calls, run("c1"))) == (calls.message,)
    assert messages_of((calls, run("c1")), parts) == (
        calls.message,
        Results((Result("m2", "t", outcome="canceled"),)),
    )


def test_a_compacted_transcript_has_what_was_before() -> None:
    summary: Transcript = (User((Text("It was long."),)),)
    events = (
        answer(Call("m1", "t"), call_ids=("c1",)),
        ended("c1"),
        e.Compacted(turn_id="t1", transcript=summary),
        answer(step=1),
    )

    assert messages_of(events) == (ANSWER,)
    assert messages_of(events[:3], (e.TextPart("a"),)) == ()


@pytest.mark.parametrize(
    ("parts", "messages"),
    [
        ((), ()),
        ((e.TextPart("a"), e.FilePart("a/b", "data:,x"), e.StepPart()), (ANSWER,)),
        (
            (e.ReasoningPart("r"), e.TextPart("a")),
            (Assistant((Reasoning("r"), Text("a"))),),
        ),
        (
            (
                e.TextPart("a"),
                e.CallPart(call_id="c1", tool="t", input=Raw(b'{"n":1}')),
                e.CallPart(call_id="c2", tool="t"),
                e.TextPart("b"),
                e.CallPart(call_id="c3", tool="t"),
                e.ReasoningPart("r"),
            ),
            (
                Assistant((Text("a"), Call("c1", "t", '{"n":1}'), Call("c2", "t", "{}"))),
                Results((result("c1", "c1"), Result("c2", "t", outcome="canceled"))),
                Assistant((Text("b"), Call("c3", "t"))),
                Assistant((Reasoning("r"),)),
            ),
        ),
    ],
    ids=("nothing", "text", "reasoning", "calls"),
)
def test_a_driver_without_steps_is_taken_by_its_text_and_its_calls(
    parts: tuple[e.Part, ...], messages: Transcript
) -> None:
    assert messages_of((BEGUN, ended("c1"), run("c3")), parts) == messages


def test_arguments_are_the_json_that_was_run() -> None:
    part = e.CallPart(call_id="c1", tool="t", input=Raw('{"n":"ü"}'.encode()))

    (message,) = messages_of((BEGUN, run("c1")), (part,))

    assert isinstance(message, Assistant)
    assert json.loads(message.calls[0].arguments) == {"n": "ü"}
