"""Ids of calls that have their outcome, and what begins under them in a later run.

The user sees each call that may run, and is asked about none that is not shown.
"""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, MORE_A, NO, WHY, YES, answer, ask, asking, in_request
from support.ag_ui_decisions import CALL_A, CALL_B, A, B, asked
from support.ag_ui_turn import Played
from support.continued import REQUESTS
from turnwire.core.body.ui_message import DENIED
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.dialects.ag_ui.content.calls import INPUT_MAX

MAIL = f.whole_call("c2", "mail", '{"to":"x"}')
DONE = (f.result("gone", "c2", "t2"), f.result("gone", "c1", "t1"))
SMALL = ("c1", '{"path":"a"}')
ABOUT_B = APPROVE | {"id": "i2", "toolCallId": "c2"}


@pytest.mark.attack(
    "an agent that begins another call under the id of one that lacked a result, and now has it",
    "the call has a card of its own, and its approval shows its tool and its input",
)
def test_another_tool_under_the_id_of_a_call_that_was_settled_is_shown() -> None:
    played = answer(asking(*CALL_A, *CALL_B, APPROVE), YES)
    answer(ask(played, *DONE, WHY), "so")
    ask(played, *MAIL, ABOUT_B)
    question = asked(played)[-1]

    assert (question["toolName"], question["args"]) == ("mail", {"to": "x"})
    answer(played, YES)
    assert in_request(played)[-1] == ("c2", '{"to":"x"}')
    ask(played, f.result("sent", "c2", "t3"), WHY)
    assert played.calls() == {
        "c1": (A, "gone"),
        "c2": (B, "gone"),
        "c2#2": ({"to": "x"}, "sent"),
    }


@pytest.mark.attack(
    "an agent that begins another call under the id of one whose input was long",
    "the call has a card of its own, and the agent is sent it",
)
@pytest.mark.parametrize("size", [LONG_BYTES, INPUT_MAX])
def test_another_call_under_the_id_of_one_with_a_long_input_is_shown(size: int) -> None:
    long = json.dumps({"path": "x" * size})
    given: Any = json.loads(long) if size < INPUT_MAX else "(too long)"
    played = asking(*f.whole_call("c1", "delete", long), f.result("gone"), WHY)
    answer(played, "so")
    ask(played, *CALL_A, f.result("gone", "c1", "t2"), WHY)

    assert played.calls() == {"c1": (given, "gone"), "c1#2": (A, "gone")}


@pytest.mark.attack(
    "an agent that begins a call again that has its outcome, and asks for its approval",
    "the approval shows its tool and its input, and the call has a card of its own",
)
@pytest.mark.parametrize(
    "again", [CALL_A, [f.call("c1", "delete")], f.whole_call("c1", "delete", "{}")]
)
def test_an_approval_of_a_call_that_began_again_shows_it(again: list[bytes]) -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, f.result("Kept"), WHY), "so")
    ask(played, *again, APPROVE | {"id": "i2"})
    question = asked(played)[-1]

    assert "callId" not in question
    assert (question["kind"], question["toolName"], question["args"]) == ("approval", "delete", A)
    answer(played, YES)
    assert in_request(played) == [SMALL, ("c1", "Kept"), SMALL]
    ask(played, *CALL_A, f.result("gone", "c1", "t3"), WHY)
    assert played.calls() == {"c1": (A, "Kept"), "c1#2": (A, "gone")}


def test_what_is_only_repeated_has_no_card_though_another_run_asks_about_it() -> None:
    played = answer(asking(*CALL_A, f.result("gone"), WHY), "so")
    answer(ask(played, *CALL_A, f.result("gone"), WHY), "so")
    ask(played, f.text("Hm."), APPROVE)
    question = asked(played)[-1]

    assert (question["callId"], question["toolName"], question["args"]) == ("c1", "delete", A)
    assert played.calls() == {"c1": (A, "gone")}
    answer(played, YES)
    assert in_request(played)[:2] == [SMALL, ("c1", "gone")]


def test_nor_does_it_keep_another_approval_from_its_card() -> None:
    options = StreamOptions(approvals=REQUESTS)
    played = Played(native=True, options_of_stream=options)
    answer(ask(played, *CALL_A, f.result("gone"), *CALL_B, WHY), "so")
    ask(played, *CALL_A, ABOUT_B)

    assert list(played.client.approvals.values()) == ["c2"]
    assert played.calls() == {"c1": (A, "gone"), "c2": (B, None)}


@pytest.mark.attack(
    "an agent that repeats a denial as the outcome of its call, and asks for its approval",
    "the approval shows its tool and its input",
)
def test_an_approval_of_a_call_whose_denial_was_repeated_shows_it() -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, WHY), "so")
    said = f.assistant("", c1='{"path":"a"}')
    ask(played, f.snapshot(f.user(), said, f.tool(DENIED, "c1")), APPROVE | {"id": "i2"})
    question = asked(played)[-1]

    assert (question["callId"], question["toolName"], question["args"]) == ("c1", "delete", A)


def test_what_a_later_run_added_is_not_part_of_a_call_with_an_outcome() -> None:
    """The client's card, and what the agent is sent, have less."""
    played = answer(asking(*CALL_A, WHY), "so")
    ask(played, *MORE_A, f.result("gone"), APPROVE)

    assert asked(played)[-1]["args"] == A


@pytest.mark.attack(
    "an agent that begins another call under the id of an open one, in the same run",
    "the call has a card of its own, and what is approved is what is shown and sent",
)
@pytest.mark.parametrize(
    ("name", "given"), [("delete", {"path": "b"}), ("mail", {"path": "a"}), ("mail", {})]
)
def test_another_call_under_the_id_of_an_open_one_is_shown(name: str, given: Any) -> None:
    ran = json.dumps(given)
    played = asking(*CALL_A, *f.whole_call("c1", name, ran), APPROVE)
    question = asked(played)[-1]

    assert (question["toolName"], question["args"]) == (name, given)
    answer(played, YES)
    assert in_request(played) == [SMALL, ("c1", "No result"), ("c1", ran)]
    ask(played, f.result("gone"), WHY)
    assert played.calls() == {"c1": (A, "No result"), "c1#2": (given, "gone")}


def test_so_it_is_where_its_end_is_not_told() -> None:
    other = f.whole_call("c1", "delete", '{"path":"b"}')[:-1]
    played = asking(*CALL_A, *other, f.result("gone"), WHY)

    assert played.calls() == {"c1": (A, "No result"), "c1#2": (B, "gone")}


@pytest.mark.parametrize("again", [CALL_A, MORE_A, f.whole_call("c1", "delete", "{}")])
def test_a_call_that_its_run_repeats_is_one_call(again: list[bytes]) -> None:
    """A framework may tell it once more when its tool is done."""
    played = asking(*CALL_A, *again, f.result("gone"), WHY)

    assert played.calls() == {"c1": (A, "gone")}
    assert b"force" not in played.written


@pytest.mark.parametrize("first", [[], [f.args('path":"a"}')]])
def test_a_call_without_an_input_has_that_of_its_repetition(first: list[bytes]) -> None:
    began = [f.call("c1", "delete"), *first, f.call_end("c1")]
    nothing = f.whole_call("c1", "delete", "{}")
    played = asking(*began, *nothing, *CALL_A, f.result("gone"), WHY)

    assert played.calls() == {"c1": (A, "gone")}
