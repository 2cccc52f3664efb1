"""Permissions: what is asked, and what the agent gets for an answer."""

from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import Played, begun
from turnwire.dialects.acp.questions import NO_OPTION

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
        ({"approved": False, "optionId": "always"}, "no"),
        ({"approved": True, "optionId": "always"}, "always"),
        ({"approved": "false", "optionId": "always"}, "no"),
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


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        ([{"optionId": "a"}], [{"optionId": "a", "name": "", "kind": ""}]),
        (
            [{"optionId": "a", "name": None, "kind": None}],
            [{"optionId": "a", "name": "", "kind": ""}],
        ),
        ([{"optionId": 1, "name": "A", "kind": "x"}], [{"optionId": 1, "name": "A", "kind": "x"}]),
        ([7, {"name": "A"}, *CHOICE], CHOICE),
        (None, []),
        ("a", []),
    ],
)
def test_options_are_read_leniently(options: Any, offered: Any) -> None:
    (question,) = begun(f.permission(options=options)).questions

    assert question["options"] == offered


def test_an_option_has_the_id_that_the_agent_gave_it() -> None:
    numbered = [{"optionId": 0, "name": "A", "kind": "allow_once"}]
    asked = begun(f.permission(options=numbered))
    assert outcome(asked.reply(QUESTION, answer=True)) == {"outcome": "selected", "optionId": 0}

    chosen = begun(f.permission(options=[*numbered, {"optionId": 7, "name": "B", "kind": "x"}]))
    assert outcome(chosen.reply(QUESTION, {"optionId": 7}))["optionId"] == 7


def test_options_that_are_not_offered_are_counted() -> None:
    many = [{"optionId": f"o{number}", "name": "A", "kind": "x"} for number in range(70)]
    played = begun(f.permission(options=[*many, 7]))

    assert len(played.questions[0]["options"]) == 64
    assert played.protocol.frame_stats.left_out == {NO_OPTION: 7}


DIFF = [{"type": "diff", "path": "/a.py", "oldText": "x", "newText": "y"}]
PLACES = [{"path": "/a.py"}]


def test_a_user_is_shown_what_the_agent_shows_of_the_call() -> None:
    bare: Any = {"rawInput": None, "content": DIFF, "locations": PLACES}
    played = begun(f.permission(**bare))
    assert played.questions[0]["args"] == {"content": DIFF, "locations": PLACES}
    assert played.of_call()[-1]["input"] == {"content": DIFF, "locations": PLACES}

    told_before = begun(f.call(content=DIFF, rawInput={}), f.permission(rawInput={}))
    assert told_before.questions[0]["args"] == {"content": DIFF}

    beside = begun(f.permission(content=DIFF)).questions[0]
    assert (beside["args"], beside["content"]) == ({"command": "ls"}, DIFF)


def test_a_call_of_which_nothing_is_told_has_an_empty_input() -> None:
    assert begun(f.call(), f.permission(rawInput=None)).questions[0]["args"] == {}
