"""Messages of the assistant that come back, as clients send them, and as attackers do."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.body.continuation import ApprovalResponse, Continuation, QuestionAnswer, Response
from turnwire.core.body.prompt import Prompt, extract
from turnwire.errors import BadRequest

NOTHING = "Nothing to forward"
WRONG_TYPE = "The body has a field of a wrong type, or lacks one"
CLIENTS_OWN = "A tool output of the client cannot be forwarded: tools run at the agent"

STEP = {"type": "step-start"}
TEXT = {"type": "text", "text": "Shall I?", "state": "done"}
OURS = {
    "type": "tool-bash",
    "toolCallId": "c1",
    "state": "output-available",
    "input": {},
    "output": 1,
    "providerExecuted": True,
}


def approved(approval_id: str = "ap1", **fields: Any) -> dict[str, Any]:
    """What `addToolApprovalResponse` makes of a tool part (6 and 7)."""
    approval = {"id": approval_id, "approved": True} | fields
    kept = {name: value for name, value in approval.items() if value is not None}
    return OURS | {"state": "approval-responded", "approval": kept}


def answered(answer: Any, question_id: str | None = "q1", **data: Any) -> dict[str, Any]:
    """What an app makes of our question."""
    told = {"questionId": "q1", "text": "Go?", "state": "answered", "answer": answer} | data
    part = {"type": "data-question", "data": told}
    return part if question_id is None else part | {"id": question_id}


def body(*parts: dict[str, Any], **fields: Any) -> bytes:
    message = {"id": "a1", "role": "assistant", "parts": parts}
    user = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}
    told = {"id": "chat-1", "messages": [user, message], "trigger": "submit-message"}
    return json.dumps(told | {"messageId": "a1"} | fields).encode()


def responses(*parts: dict[str, Any]) -> tuple[Response, ...]:
    asked = extract(body(*parts))
    assert isinstance(asked, Continuation)
    assert asked.message_id == "a1"
    return asked.responses


def refusal(*parts: dict[str, Any]) -> str:
    with pytest.raises(BadRequest) as refused:
        extract(body(*parts))
    return refused.value.public


@pytest.mark.parametrize(
    ("part", "response"),
    [
        pytest.param(
            approved(), ApprovalResponse("ap1", approved=True, call_id="c1"), id="approved"
        ),
        pytest.param(
            approved(approved=False, reason="No!"),
            ApprovalResponse("ap1", approved=False, reason="No!", call_id="c1"),
            id="denied with a reason",
        ),
        pytest.param(
            approved(reason=""),
            ApprovalResponse("ap1", approved=True, call_id="c1"),
            id="an empty reason",
        ),
        pytest.param(
            approved(signature="x", isAutomatic=False),
            ApprovalResponse("ap1", approved=True, call_id="c1"),
            id="fields of version 7",
        ),
        pytest.param(
            approved("x" * 2_048),
            ApprovalResponse("x" * 2_048, approved=True, call_id="c1"),
            id="a long id",
        ),
        pytest.param(
            approved() | {"type": "dynamic-tool", "toolName": "bash"},
            ApprovalResponse("ap1", approved=True, call_id="c1"),
            id="a dynamic tool",
        ),
        pytest.param(
            approved() | {"providerExecuted": None},
            ApprovalResponse("ap1", approved=True, call_id="c1"),
            id="whoever runs it",
        ),
        pytest.param(
            approved() | {"toolCallId": 7}, ApprovalResponse("ap1", approved=True), id="no call"
        ),
        pytest.param(
            answered("yes", callId="c2"),
            QuestionAnswer("q1", Raw(b'"yes"'), call_id="c2"),
            id="a call that a question is about",
        ),
        pytest.param(answered("yes"), QuestionAnswer("q1", Raw(b'"yes"')), id="a text"),
        pytest.param(answered(answer=True), QuestionAnswer("q1", Raw(b"true")), id="a boolean"),
        pytest.param(answered(answer=False), QuestionAnswer("q1", Raw(b"false")), id="another"),
        pytest.param(answered(["a"]), QuestionAnswer("q1", Raw(b'["a"]')), id="a list"),
        pytest.param(answered({"a": 1}), QuestionAnswer("q1", Raw(b'{"a": 1}')), id="an object"),
        pytest.param(answered("yes", "q2"), QuestionAnswer("q2", Raw(b'"yes"')), id="its own id"),
        pytest.param(answered("yes", None), QuestionAnswer("q1", Raw(b'"yes"')), id="no own id"),
        pytest.param(
            answered("x" * 99_998), QuestionAnswer("q1", Raw(b'"%b"' % (b"x" * 99_998))), id="long"
        ),
    ],
)
def test_an_answer_is_forwarded(part: dict[str, Any], response: Response) -> None:
    assert responses(STEP, TEXT, part) == (response,)


def test_answers_stay_in_order_and_our_own_output_is_ignored() -> None:
    found = responses(
        STEP, TEXT, OURS, approved("ap2"), answered("b"), {"type": "file"}, approved("ap1")
    )

    assert found == (
        ApprovalResponse("ap2", approved=True, call_id="c1"),
        QuestionAnswer("q1", Raw(b'"b"')),
        ApprovalResponse("ap1", approved=True, call_id="c1"),
    )


def test_only_what_follows_the_last_step_is_read() -> None:
    clients_own = OURS | {"providerExecuted": False}

    assert responses(clients_own, approved("old"), STEP, answered("old"), STEP, approved()) == (
        ApprovalResponse("ap1", approved=True, call_id="c1"),
    )
    assert refusal(STEP, approved(), STEP, OURS) == NOTHING


def test_without_a_step_everything_is_read() -> None:
    assert responses(approved()) == (ApprovalResponse("ap1", approved=True, call_id="c1"),)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([], id="no parts"),
        pytest.param([STEP, TEXT, OURS], id="our own output"),
        pytest.param([OURS | {"state": "output-error", "errorText": "no"}], id="our own error"),
        pytest.param([OURS | {"state": "approval-requested"}], id="not answered yet"),
        pytest.param([OURS | {"state": "output-denied"}], id="denied, and told so"),
        pytest.param([{"type": "tool-bash", "state": "input-streaming"}], id="cut off"),
        pytest.param([{"type": "tool-bash"}], id="a tool without a state"),
        pytest.param([answered("yes", state="open")], id="an open question"),
        pytest.param([answered("yes", state="resolved")], id="a question answered elsewhere"),
        pytest.param([answered("yes", state="expired")], id="an expired one"),
        pytest.param(
            [{"type": "data-question", "id": "q1", "data": {"state": "answered"}}], id="no answer"
        ),
        pytest.param([{"type": "data-other", "data": 1}], id="other data"),
    ],
)
def test_nothing_to_forward(parts: list[dict[str, Any]]) -> None:
    assert refusal(*parts) == NOTHING


@pytest.mark.parametrize(
    "part",
    [
        OURS | {"providerExecuted": False},
        OURS | {"providerExecuted": None},
        {"type": "tool-ask", "toolCallId": "c", "state": "output-available", "output": "x"},
        {"type": "dynamic-tool", "toolCallId": "c", "state": "output-error", "errorText": "x"},
    ],
)
@pytest.mark.attack("a tool's output from the client", "400: tools run on the agent's side")
def test_an_output_that_the_client_made_is_refused(part: dict[str, Any]) -> None:
    assert refusal(STEP, part) == CLIENTS_OWN
    assert refusal(STEP, approved(), part) == CLIENTS_OWN


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        pytest.param(approved(""), WRONG_TYPE, id="an empty approval id"),
        pytest.param(approved("x" * 2_049), WRONG_TYPE, id="a long approval id"),
        pytest.param(approved(approved="yes"), WRONG_TYPE, id="neither yes nor no"),
        pytest.param(approved(reason="x" * 10_001), WRONG_TYPE, id="a long reason"),
        pytest.param(approved() | {"approval": None}, WRONG_TYPE, id="no approval"),
        pytest.param({"type": "tool-x", "state": "approval-responded"}, WRONG_TYPE, id="none"),
        pytest.param({"type": "tool-x", "state": 7}, WRONG_TYPE, id="a state that is no text"),
        pytest.param({"type": 7}, WRONG_TYPE, id="a type that is no text"),
        pytest.param({"type": "data-question", "data": 7}, WRONG_TYPE, id="data no object"),
        pytest.param({"type": "data-question"}, WRONG_TYPE, id="no data"),
        pytest.param(answered("yes", ""), WRONG_TYPE, id="an empty question id"),
        pytest.param(
            answered("yes", None, questionId=None), "An answer names no question", id="of what"
        ),
        pytest.param(
            answered(7), "An answer is neither a text, a boolean, a list nor an object", id="7"
        ),
        pytest.param(
            answered(None),
            "An answer is neither a text, a boolean, a list nor an object",
            id="null",
        ),
        pytest.param(
            answered("x" * 99_999), "An answer is longer than 100000 characters", id="a long answer"
        ),
    ],
)
def test_a_malformed_answer_is_refused(part: dict[str, Any], reason: str) -> None:
    assert refusal(STEP, part) == reason


def test_answers_are_bounded() -> None:
    assert len(responses(*[approved()] * 32)) == 32
    assert refusal(*[approved()] * 33) == "There are more than 32 answers"


def test_parts_are_bounded_after_the_last_step_alone() -> None:
    assert len(responses(*[TEXT] * 5_000, STEP, *[TEXT] * 999, approved())) == 1
    assert refusal(*[TEXT] * 1_000, approved()) == "The last message has too many parts"


@pytest.mark.attack(
    "an answer behind hundreds of thousands of parts in one message",
    "400: at most ten thousand parts are read",
)
def test_parts_of_all_steps_are_bounded_too() -> None:
    assert len(responses(*[TEXT] * 9_998, STEP, approved())) == 1
    assert refusal(*[TEXT] * 9_999, STEP, approved()) == "The last message has too many parts"


@pytest.mark.parametrize(
    ("fields", "message_id"),
    [({"id": "a2"}, "a2"), ({"id": ""}, "a1"), ({"id": None}, "a1")],
)
def test_a_continuation_names_its_message(fields: dict[str, Any], message_id: str) -> None:
    message = {"role": "assistant", "parts": [approved()]} | fields
    given = json.dumps({"message": message, "messageId": "a1"}).encode()

    asked = extract(given)

    assert isinstance(asked, Continuation)
    assert asked.message_id == message_id


def test_a_message_in_content_has_nothing_to_forward() -> None:
    with pytest.raises(BadRequest, match=NOTHING):
        extract(b'{"message":{"role":"assistant","content":"hi"}}')


def test_an_answer_is_passed_on_as_it_was_written() -> None:
    part = b'{"type":"data-question","id":"q","data":{"state":"answered","answer" : {"a":\n[1 ]} }}'

    asked = extract(b'{"message":{"role":"assistant","parts":[%b]}}' % part)

    assert asked == Continuation(None, (QuestionAnswer("q", Raw(b'{"a":\n[1 ]}')),))


@pytest.mark.parametrize("answer", [b'"\xff"', rb'"\ud83d"', rb'"\x"', rb'["a",{"b":"\ude00"}]'])
def test_an_answer_with_half_a_character_is_refused(answer: bytes) -> None:
    part = b'{"type":"data-question","id":"q","data":{"state":"answered","answer":%b}}' % answer

    with pytest.raises(BadRequest, match="cuts a character"):
        extract(b'{"message":{"role":"assistant","parts":[%b]}}' % part)


def test_regenerate_is_a_prompt_even_after_an_approval() -> None:
    assert isinstance(extract(body(approved(), trigger="regenerate-message")), Prompt)


def test_a_text_in_millions_of_escapes_is_not_read() -> None:
    text = {"type": "text", "text": "\n" * 2_000_001}

    with pytest.raises(BadRequest, match="too long"):
        extract(body(text, answered("yes")))


def test_a_text_of_millions_of_plain_characters_is_read() -> None:
    text = {"type": "text", "text": "a" * 2_000_001}

    assert responses(text, answered("yes")) == (QuestionAnswer("q1", Raw(b'"yes"')),)


def test_an_answer_that_is_far_too_long_is_not_read() -> None:
    with pytest.raises(BadRequest, match="longer than"):
        extract(body(answered("é" * 400_000)))
    with pytest.raises(BadRequest, match="longer than"):  # and not: of a wrong type
        extract(body(answered("a number")).replace(b'"a number"', b"7" * 400_001))


@pytest.mark.parametrize("trigger", [None, 5, "submit-message"])
def test_what_triggered_a_single_message_is_not_asked(trigger: object) -> None:
    approval = {"id": "a1", "approved": True}
    part = {"type": "tool-x", "toolCallId": "c", "state": "approval-responded"}
    message = {"role": "assistant", "id": "m1", "parts": [{**part, "approval": approval}]}
    body = json.dumps({"trigger": trigger, "message": message}).encode()

    assert isinstance(extract(body), Continuation)
