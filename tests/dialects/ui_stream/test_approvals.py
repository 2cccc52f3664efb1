"""Approvals: what is asked, and what the agent is sent for an answer."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.body.conversation import Call
from turnwire.dialects.ui_stream.approvals import Answered, Asked, parts, question

CALL = Call("c1", "delete", Raw(b'{"path":"a"}'))


def answered(answer: Any, question_id: str = "a1") -> Any:
    given = Answered(question_id, CALL, Raw(json.dumps(answer).encode()))
    return json.loads(parts([given])["c1"])


def test_a_question_shows_the_call() -> None:
    asked = question(Asked("a1", "c1", text="Really?"), CALL)

    assert asked.question_id == "a1"
    assert asked.approval is not None
    assert (asked.approval.tool_name, asked.approval.args) == ("delete", CALL.input)
    assert json.loads(bytes(asked.payload)) == {
        "kind": "approval",
        "callId": "c1",
        "toolName": "delete",
        "args": {"path": "a"},
        "text": "Really?",
    }
    assert "text" not in json.loads(bytes(question(Asked("a1", "c1"), CALL).payload))


@pytest.mark.parametrize(
    ("answer", "approval"),
    [
        (True, {"approved": True}),
        (False, {"approved": False}),
        ({"approved": True, "reason": "fine"}, {"approved": True, "reason": "fine"}),
        ({"approved": False, "reason": "no"}, {"approved": False, "reason": "no"}),
        ("not now", {"approved": False, "reason": "not now"}),
        ({"approved": "yes"}, {"approved": False}),
        ([True], {"approved": False}),
        ({}, {"approved": False}),
    ],
)
def test_only_a_yes_is_a_yes(answer: Any, approval: Any) -> None:
    told = answered(answer)

    assert told["state"] == "approval-responded"
    assert told["approval"] == {"id": "a1", **approval}


def test_a_signature_comes_back_with_the_answer() -> None:
    asked = Asked("a1", "c1", signature="c2lnbmVk")

    approval = answered({"approved": True}, asked.question_id)["approval"]

    assert approval == {"id": "a1", "approved": True, "signature": "c2lnbmVk"}
