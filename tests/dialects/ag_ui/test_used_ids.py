"""Ids of calls that have their outcome, and what begins under them in a later run.

The user sees each call that may run, and is asked about none that is not shown.
"""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, WHY, YES, answer, ask, asking, in_request
from support.ag_ui_decisions import CALL_A, CALL_B, A, B, asked
from turnwire.core.bounds import LONG_BYTES
from turnwire.dialects.ag_ui.content.calls import INPUT_MAX

MAIL = f.whole_call("c2", "mail", '{"to":"x"}')
DONE = (f.result("gone", "c2", "t2"), f.result("gone", "c1", "t1"))
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
