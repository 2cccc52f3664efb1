"""Requests for approvals, and the items that answer them."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from turnwire.dialects.openai_responses import approvals, items


def request(**fields: Any) -> approvals.Request | None:
    read = items.read(Raw(json.dumps(f.asks(**fields)).encode()))
    assert read is not None
    return approvals.request_of(read)


def test_a_request_is_a_question_about_its_call() -> None:
    found = request()
    assert found is not None
    question = approvals.question(found, None)

    assert question.question_id == "mcpr_1/files"
    assert approvals.request_id_in(question.question_id) == "mcpr_1"
    assert question.approval is not None
    assert (question.approval.call_id, question.approval.tool_name) == ("mcpr_1", "delete_file")
    assert json.loads(bytes(question.payload)) == {
        "kind": "approval",
        "callId": "mcpr_1",
        "toolName": "delete_file",
        "serverLabel": "files",
        "args": {"path": "a.txt"},
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"request_id": ""},
        {"request_id": "a/b"},
        {"name": ""},
        {"request_id": "x" * 300, "server_label": "y" * 300},
    ],
)
def test_one_that_cannot_be_answered_is_none(fields: dict[str, Any]) -> None:
    assert request(**fields) is None


@pytest.mark.parametrize("response_id", [None, "resp_1", "resp_a/b%c=="])
def test_a_question_may_name_the_response_that_asked(response_id: str | None) -> None:
    found = request(server_label="my-label")
    assert found is not None
    question_id = approvals.question(found, response_id).question_id

    assert approvals.request_id_in(question_id) == "mcpr_1"
    assert approvals.response_id_in(question_id) == response_id
    assert question_id.endswith("/my-label")


@pytest.mark.parametrize(
    ("given", "arguments"),
    [(b'{"a":1}', '{"a":1}'), (b'"no json"', "no json"), (b"{}", "{}")],
)
def test_the_item_that_asked_is_said_again(given: bytes, arguments: str) -> None:
    assert json.loads(approvals.asking_item("mcpr_1/my/label", "rm", Raw(given))) == {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "rm",
        "server_label": "my/label",
        "arguments": arguments,
    }


@pytest.mark.parametrize(
    ("answer", "approve", "more"),
    [
        (b"true", True, {}),
        (b"false", False, {}),
        (b'{"approved":true,"reason":"fine"}', True, {"reason": "fine"}),
        (b'{"approved":false,"reason":"no"}', False, {"reason": "no"}),
        (b'{"reason":"no"}', False, {"reason": "no"}),
        (b'{"approved":"true"}', False, {}),
        (b'"yes"', False, {}),
        (b"1", False, {}),
    ],
)
def test_only_a_plain_yes_approves(answer: bytes, *, approve: bool, more: Any) -> None:
    (item,) = approvals.answering_items([("mcpr_1/files", Raw(answer))])

    assert json.loads(item) == {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": approve,
        **more,
    }
    assert approvals.is_yes(Raw(answer)) == approve
