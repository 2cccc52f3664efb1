"""The fold of a session's events."""

from typing import Any

import pytest
from msgspec import Raw

from runtime.session.session_facts import facts, folded
from runtime.session.story import Story
from turnwire_agent.llm.transcript import Assistant, Text
from turnwire_agent.session import deltas as d
from turnwire_agent.session import events as e
from turnwire_agent.session.codec import encode, event_of, row_of

HELLO = (
    e.Prompted(entry_id="e1", prompt_id="p1", client_message_id="m1", content="hi"),
    e.TurnBegun(turn_id="t1", entry_id="e1"),
)
STORIES = 20


def test_a_journal_without_its_details_is_the_same_session() -> None:
    """As a process reads it that opens the session: details are left out up to the last end."""
    for seed in range(STORIES):
        events = list(Story(seed, orderly=False).events())
        for end in range(len(events) + 1):
            written = events[:end]
            ends = [n for n, each in enumerate(written) if isinstance(each, e.TurnEnded)]
            settled = ends[-1] if ends else -1
            read = [
                each
                for number, each in enumerate(written)
                if number > settled or not encode(each).detail
            ]
            assert facts(folded(read)) == facts(folded(written)), (seed, end)


def test_another_process_folds_the_same() -> None:
    for seed in range(STORIES):
        events = list(Story(seed, orderly=False).events())
        rows = [row_of(event) for event in events]

        again = [event_of(kind, body) for kind, body, _ in rows]

        assert facts(folded(again)) == facts(folded(events)), seed


def test_an_end_repeats_what_the_fold_has() -> None:
    """`TurnEnded.parts` and `messages` are for those who did not see the details."""
    for seed in range(STORIES):
        events = list(Story(seed, orderly=False).events())
        bare = [
            e.TurnEnded(
                turn_id=each.turn_id,
                reason=each.reason,
                finish_reason=each.finish_reason,
                error=each.error,
            )
            if isinstance(each, e.TurnEnded)
            else each
            for each in events
        ]
        assert facts(folded(bare)) == facts(folded(events)), seed


def test_a_turn_begins_and_ends() -> None:
    state = folded(HELLO)
    running = state.running
    assert running is not None
    assert (running.turn_id, running.prompt, state.queue) == ("t1", HELLO[0], [])

    state.apply(e.TurnEnded(turn_id="t1", reason="error", error="It broke"))

    (exchange,) = state.history
    assert state.running is None
    assert (exchange.turn_id, exchange.reason, exchange.error) == ("t1", "error", "It broke")


def test_an_end_closes_what_is_open() -> None:
    state = folded(
        (
            *HELLO,
            e.Streamed("t1", (d.InputAdded("c1", "t", "{}"),)),
            e.QuestionAsked(turn_id="t1", question_id="q1", text="?"),
            e.TurnEnded(turn_id="t1", reason="canceled"),
        )
    )
    (exchange,) = state.history
    call, question = exchange.parts

    assert call == e.CallPart(
        call_id="c1", tool="t", status="error", input_text="{}", error="Canceled"
    )
    assert isinstance(question, e.QuestionPart)
    assert question.expired


def test_an_end_that_says_what_the_turn_was_is_believed() -> None:
    parts = (e.TextPart("a"), e.CallPart(call_id="c1", tool="t"))
    messages = (Assistant((Text("a"),)),)
    ended = e.TurnEnded(turn_id="t1", reason="end_turn", parts=parts, messages=messages)

    (exchange,) = folded((*HELLO, ended)).history

    assert exchange.parts == (parts[0], exchange.parts[1])
    assert exchange.parts[1] == e.CallPart(
        call_id="c1", tool="t", status="error", error="No result"
    )
    assert exchange.messages == messages


@pytest.mark.parametrize(
    "stray",
    [
        e.TurnEnded(turn_id="t9", reason="end_turn"),
        e.Streamed("t9", (d.TextAdded("x"),)),
        e.TurnBegun(turn_id="t9", entry_id="e2"),
        e.TurnBegun(turn_id="t9", entry_id="e9"),
        e.PromptTakenBack("e1"),
        e.PromptTakenBack("e9"),
        e.PromptRepeated("e9", "p9"),
        e.Compacted(turn_id="t9", transcript=()),
    ],
    ids=lambda event: f"{type(event).__name__}-{event}"[:40],
)
def test_what_is_of_nothing_that_runs_or_waits_changes_nothing(stray: e.Event) -> None:
    events = (*HELLO, e.Prompted(entry_id="e2"))

    assert facts(folded((*events, stray))) == facts(folded(events))


def test_what_is_of_a_turn_that_is_over_changes_nothing() -> None:
    events = (*HELLO, e.TurnEnded(turn_id="t1", reason="end_turn"))
    late: tuple[e.Event, ...] = (
        e.Streamed("t1", (d.TextAdded("x"),)),
        e.TurnEnded(turn_id="t1", reason="canceled"),
    )

    assert facts(folded((*events, *late))) == facts(folded(events))


def test_prompts_wait_in_their_order_and_may_be_taken_back() -> None:
    prompts = [e.Prompted(entry_id=f"e{n}", prompt_id=f"p{n}") for n in (2, 3)]
    state = folded((*HELLO, *prompts))

    assert state.queue == prompts
    assert state.waiting("p3") == prompts[1]
    assert (state.waiting("p1"), state.waiting("p9")) == (None, None)

    state.apply(e.PromptTakenBack("e2"))

    assert state.queue == prompts[1:]


def test_a_message_that_comes_again_gets_the_turn_that_it_has() -> None:
    state = folded(HELLO)
    again = e.Prompted(entry_id="e2", prompt_id="p2", client_message_id="m1")
    exchange = state.same_message(again)
    assert exchange is not None
    assert exchange.turn_id == "t1"

    state.apply(e.PromptRepeated(exchange.prompt.entry_id, "p2"))

    assert state.running is not None
    assert state.running.goes_by(None, "p2")


@pytest.mark.parametrize(
    ("turn_id", "prompt_id", "expected"),
    [
        ("t1", None, True),
        ("t1", "p9", True),
        (None, "p1", True),
        ("t9", "p1", True),
        ("t9", None, False),
        (None, "", False),
        (None, None, False),
    ],
)
def test_an_abort_names_a_turn_or_its_prompt(
    turn_id: str | None, prompt_id: str | None, *, expected: bool
) -> None:
    running = folded(HELLO).running
    assert running is not None

    assert running.goes_by(turn_id, prompt_id) is expected


def test_a_turn_keeps_its_events_but_not_what_was_streamed() -> None:
    rest: tuple[e.Event, ...] = (
        e.StepBegun(turn_id="t1", step=0),
        e.Streamed("t1", (d.TextAdded("x"),)),
        e.TurnTakenOver(turn_id="t1"),
    )
    running = folded((*HELLO, *rest)).running
    assert running is not None

    assert running.events == [HELLO[1], rest[0], rest[2]]


def test_a_turn_is_parked_until_anything_happens_in_it() -> None:
    asked = e.QuestionAsked(turn_id="t1", question_id="q1", text="?")
    state = folded((*HELLO, asked, e.TurnParked("t1")))
    running = state.running
    assert running is not None
    assert running.parked
    assert running.open_questions == (asked,)

    state.apply(e.Prompted(entry_id="e2"))
    assert running.parked
    state.apply(e.QuestionClosed(turn_id="t1", question_id="q1", answer=Raw(b"true")))

    assert not running.parked
    assert running.open_questions == ()


@pytest.mark.parametrize(
    ("question_id", "turn_id", "is_found"),
    [
        ("q1", None, True),
        ("q1", "", True),
        ("q1", "t1", True),
        ("q1", "t9", False),
        ("q9", None, False),
    ],
)
def test_an_open_question_is_found_by_its_id_and_turn(
    question_id: str, turn_id: str | None, *, is_found: bool
) -> None:
    asked = e.QuestionAsked(turn_id="t1", question_id="q1", text="?")
    running = folded((*HELLO, asked)).running
    assert running is not None

    assert running.open_question(question_id, turn_id) == (asked if is_found else None)


def test_a_turn_says_its_parts_at_any_moment() -> None:
    running = folded((*HELLO, e.Streamed("t1", (d.TextAdded("x"),)))).running
    assert running is not None

    assert running.parts_now() == running.parts_at_end("end_turn") == (e.TextPart("x"),)


def test_what_a_regenerated_answer_replaces_leaves_when_its_turn_begins() -> None:
    over = (*HELLO, e.TurnEnded(turn_id="t1", reason="end_turn"))
    again = e.Prompted(entry_id="e2", client_message_id="m1", regenerate=True)

    def entries(*events: Any) -> list[str]:
        return [each.prompt.entry_id for each in folded(events).history]

    assert entries(*over, again) == ["e1", "e2"]
    assert entries(*over, again, e.TurnBegun(turn_id="t2", entry_id="e2")) == ["e2"]


@pytest.mark.parametrize(
    ("waiting", "prompts", "size", "expected"),
    [
        ([], 0, 100, False),
        ([], 1, 0, True),
        ([e.Prompted(entry_id="e1", content="é" * 20)], 1, 100, False),
        ([e.Prompted(entry_id="e1", content="é" * 20)], 2, 100, True),
        ([e.Prompted(entry_id="e1", content="é" * 20)], 2, 99, False),
    ],
)
def test_a_prompt_waits_if_it_has_room(
    waiting: list[e.Event], prompts: int, size: int, *, expected: bool
) -> None:
    attached = e.Attachment("text/plain", "data:," + "x" * 14)
    prompt = e.Prompted(entry_id="e2", content="x" * 40, attachments=(attached,))

    assert folded(waiting).has_room(prompt, prompts=prompts, size=size) is expected


def test_a_session_is_of_the_first_user_who_sent_a_prompt() -> None:
    asked = [
        e.Prompted(entry_id=f"e{number}", user_id=user_id)
        for number, user_id in enumerate([None, "ann", "bob"])
    ]

    assert folded(asked[:1]).is_of("bob")
    assert folded(asked).is_of("ann")
    assert not folded(asked).is_of("bob")
    assert not folded(asked).is_of(None)
