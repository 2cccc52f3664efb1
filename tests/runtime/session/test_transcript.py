"""What models are sent before a turn, and within it."""

from itertools import pairwise

from runtime.session.session_facts import folded
from runtime.session.story import Story
from turnwire_agent.llm.transcript import Assistant, Message, Results, Text, Transcript, User
from turnwire_agent.loop.prepare import repaired
from turnwire_agent.session import events as e
from turnwire_agent.session.state import SessionState
from turnwire_agent.session.transcript import transcript_for, transcript_now

SUMMARY: Transcript = (User((Text("It was long."),)),)
SLACK = e.Channel("slack", "c1")


def user(text: str) -> User:
    return User((Text(text),))


def said(text: str) -> Assistant:
    return Assistant((Text(text),))


def exchange(number: int, *between: e.Event, **fields: object) -> tuple[e.Event, ...]:
    """A prompt and its turn, which has not ended."""
    prompt = e.Prompted(
        entry_id=f"e{number}",
        client_message_id=f"m{number}",
        content=f"prompt {number}",
        **fields,  # type: ignore[arg-type] # each test gives fitting ones
    )
    return (prompt, e.TurnBegun(turn_id=f"t{number}", entry_id=f"e{number}"), *between)


def over(number: int, *between: e.Event, **fields: object) -> tuple[e.Event, ...]:
    step = e.StepEnded(
        turn_id=f"t{number}", step=0, message=said(f"answer {number}"), finish_reason="stop"
    )
    ended = e.TurnEnded(turn_id=f"t{number}", reason="end_turn")
    return (*exchange(number, *between, **fields), step, ended)


def before(state: SessionState) -> tuple[Message, ...]:
    assert state.running is not None
    return transcript_for(state, state.running)


def test_a_model_is_sent_what_was_before_and_the_prompt() -> None:
    state = folded((*over(1), *over(2), *exchange(3), e.Prompted(entry_id="e9", content="later")))

    assert before(state) == (
        *(user("prompt 1"), said("answer 1")),
        *(user("prompt 2"), said("answer 2")),
        user("prompt 3"),
    )


def test_each_channel_is_a_conversation_of_its_own() -> None:
    state = folded((*over(1), *over(2, channel=SLACK), *exchange(3, channel=SLACK)))

    assert before(state) == (user("prompt 2"), said("answer 2"), user("prompt 3"))


def test_what_was_replaced_is_not_in_it() -> None:
    again = e.Prompted(entry_id="e3", client_message_id="m1", content="other", edit=True)
    state = folded((*over(1), *over(2), again, e.TurnBegun(turn_id="t3", entry_id="e3")))

    assert before(state) == (user("other"),)


def test_a_turn_that_came_to_nothing_leaves_its_prompt() -> None:
    canceled = e.TurnEnded(turn_id="t1", reason="canceled")
    state = folded((*exchange(1, e.StepBegun(turn_id="t1", step=0), canceled), *exchange(2)))

    assert before(state) == (user("prompt 1"), user("prompt 2"))


def test_a_compacted_transcript_takes_the_place_of_all_before_it() -> None:
    compacted = e.Compacted(turn_id="t2", transcript=SUMMARY)
    state = folded((*over(1), *over(2, compacted), *over(3), *exchange(4)))

    assert before(state) == (
        *(*SUMMARY, said("answer 2")),
        *(user("prompt 3"), said("answer 3")),
        user("prompt 4"),
    )


def test_a_turn_that_compacted_and_was_replaced_has_not_compacted() -> None:
    compacted = e.Compacted(turn_id="t2", transcript=SUMMARY)
    again = e.Prompted(entry_id="e3", client_message_id="m2", content="other", edit=True)
    begun = e.TurnBegun(turn_id="t3", entry_id="e3")
    state = folded((*over(1), *over(2, compacted), again, begun))

    assert before(state) == (user("prompt 1"), said("answer 1"), user("other"))


def test_within_a_turn_a_model_is_sent_what_the_turn_has_added() -> None:
    step = e.StepEnded(turn_id="t2", step=0, message=said("so far"), finish_reason="stop")
    state = folded((*over(1), *exchange(2, step)))
    assert state.running is not None
    compacted = e.Compacted(turn_id="t2", transcript=SUMMARY)

    assert transcript_now(before(state), state.running.events) == (
        *(user("prompt 1"), said("answer 1"), user("prompt 2")),
        said("so far"),
    )
    assert transcript_now(before(state), (*state.running.events, compacted)) == SUMMARY
    assert transcript_now(before(state), (compacted, step)) == (*SUMMARY, said("so far"))


def test_each_result_belongs_to_a_call_of_the_answer_before_it() -> None:
    for seed in range(30):
        state = SessionState()
        for event in Story(seed, orderly=False).events():
            state.apply(event)
            if state.running is None:
                continue
            found = transcript_now(before(state), state.running.events)
            for answer, results in pairwise(found):
                if isinstance(results, Results):
                    assert isinstance(answer, Assistant)
                    called = [call.id for call in answer.calls]
                    ended = [result.call_id for result in results.results]
                    assert ended == [call_id for call_id in called if call_id in ended], seed
            unchanged = [each for each in repaired(found) if not isinstance(each, Results)]
            assert unchanged == [each for each in found if not isinstance(each, Results)], seed
