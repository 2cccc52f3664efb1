"""Permissions: what is asked, and what the agent gets for an answer."""

from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import Played, begun
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.acp.calls import INPUT_MAX

QUESTION = "p1:0"
ONLY_ALWAYS = [{"optionId": "always", "name": "Always", "kind": "allow_always"}]
CHOICE = [{"optionId": "a", "name": "A", "kind": "x"}, {"optionId": "b", "name": "B", "kind": "y"}]


def outcome(played: Played) -> Any:
    return played.sent[-1]["result"]["outcome"]


def test_a_permission_is_an_approval_that_shows_the_call() -> None:
    played = begun(f.call(), f.permission())

    (question,) = played.questions
    assert (question["kind"], question["callId"], question["toolName"]) == (
        *("approval", "c1", "execute"),
    )
    assert (question["args"], question["text"]) == ({"command": "ls"}, "Run ls")
    assert question["options"] == f.OPTIONS
    assert played.of_call()[-1]["input"] == {"command": "ls"}


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        (True, "once"),
        (False, "no"),
        ({"approved": True}, "once"),
        ({"approved": False, "reason": "why"}, "no"),
        ("always", "always"),
        ({"optionId": "always"}, "always"),
        ("no", "no"),
        ("anything else", "no"),
        ({"optionId": "forged"}, "no"),
        (7, "no"),
        ([True], "no"),
        ({}, "no"),
    ],
)
def test_a_yes_allows_once_and_what_is_no_yes_rejects(answer: Any, option: str) -> None:
    played = begun(f.call(), f.permission()).reply(QUESTION, answer)

    assert outcome(played) == {"outcome": "selected", "optionId": option}
    assert played.client.questions == {QUESTION: "resolved"}


def test_a_yes_never_allows_for_ever() -> None:
    played = begun(f.permission(options=ONLY_ALWAYS))
    assert "kind" not in played.questions[0]

    assert outcome(played.reply(QUESTION, answer=True)) == {"outcome": "cancelled"}


def test_a_choice_is_a_question_with_its_options() -> None:
    played = begun(f.permission(options=CHOICE, title=None))
    assert "text" not in played.questions[0]

    assert outcome(played.reply(QUESTION, "b"))["optionId"] == "b"


def test_the_turn_goes_on_after_the_answer() -> None:
    played = begun(f.call(), f.permission()).reply(QUESTION, answer=True)
    played.tell(f.state(), f.state("completed", content=f.shown("a")), f.text("Done."), f.done())

    assert (played.turn.outcome, played.client.text) == (Outcome.COMPLETED, "Done.")
    played.client.close()


def test_an_answer_to_what_is_not_open_is_nothing() -> None:
    played = begun(f.permission()).reply(QUESTION, answer=True)
    sent = len(played.sent)

    assert len(played.reply(QUESTION, answer=True).sent) == sent


def test_what_is_too_long_to_be_shown_is_not_allowed() -> None:
    played = begun(f.permission(rawInput={"x": "y" * INPUT_MAX}))

    assert played.questions == []
    assert outcome(played) == {"outcome": "cancelled"}


def test_very_many_permissions_are_bounded() -> None:
    played = begun(*(f.permission(number, f"c{number}") for number in range(70)))

    assert len(played.client.questions) == 64
    assert outcome(played) == {"outcome": "cancelled"}


def test_the_permission_of_another_session_is_not_given() -> None:
    played = begun(f.permission(session="session-9"))

    assert (played.questions, outcome(played)) == ([], {"outcome": "cancelled"})


def test_a_stop_answers_what_is_open() -> None:
    """Agents wait for ever for an answer that nobody gives."""
    played = begun(f.call(), f.permission()).stop()

    cancel, answer = played.sent[-2:]
    assert (cancel["method"], cancel["params"]) == ("session/cancel", {"sessionId": f.SESSION})
    assert answer == {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}}
    assert played.turn.outcome is Outcome.CANCELED
