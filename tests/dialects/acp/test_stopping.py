"""A stop on the `acp` wire: it is over when the agent has answered the prompt."""

from support import acp_messages as f
from support.acp_turn import Played, begun
from turnwire.core.turn.inputs import Tick
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.acp.turn import CANCEL_S


def test_a_stop_is_over_when_the_agent_has_answered() -> None:
    played = begun(f.text("a"), f.call(), f.state()).stop()
    assert played.methods[-1] == "session/cancel"
    meanwhile = played.turn.outcome
    assert meanwhile is None

    played.tell(f.text("late"), f.state("completed"), f.permission(7), f.done("cancelled"))

    assert played.turn.outcome is Outcome.CANCELED
    assert played.methods.count("session/cancel") == 1
    assert played.sent[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
    assert (played.client.text, played.kinds[-2:]) == ("a", ["abort", "finish"])
    assert played.of_call()[-1]["errorText"] == "Canceled"


def test_a_second_stop_changes_nothing() -> None:
    played = begun(f.text("a")).stop().stop()

    assert played.methods.count("session/cancel") == 1
    assert played.turn.deadline == CANCEL_S


def test_an_agent_that_does_not_answer_has_its_time() -> None:
    played = begun(f.text("a")).stop()
    played.do(played.turn.handle(Tick(), CANCEL_S - 0.1))
    meanwhile = played.turn.outcome
    assert meanwhile is None

    played.do(played.turn.handle(Tick(), CANCEL_S))

    assert (played.turn.outcome, played.kinds[-2:]) == (Outcome.CANCELED, ["abort", "finish"])


def test_an_agent_that_leaves_meanwhile_has_cancelled() -> None:
    played = begun(f.text("a")).stop().leave()

    assert (played.turn.outcome, played.kinds[-2:]) == (Outcome.CANCELED, ["abort", "finish"])


def test_before_the_prompt_a_stop_ends_the_turn_at_once() -> None:
    played = Played(f.initialized()).stop()

    assert played.turn.outcome is Outcome.CANCELED
    assert "session/cancel" not in played.methods


def test_a_hang_up_waits_for_the_answer_too() -> None:
    played = begun(f.text("a")).hang_up()
    assert played.turn.outcome is None

    played.tell(f.done("cancelled"))

    assert played.turn.outcome is Outcome.CLIENT_GONE


def test_an_agent_that_calls_its_cancelled_turn_an_error_has_cancelled_it() -> None:
    played = begun(f.text("a")).stop().tell(f.failure(f.PROMPT, "Aborted"))

    assert (played.turn.outcome, played.client.error) == (Outcome.CANCELED, None)
