"""What is sent for each call, and what is read of short answers."""

import json

import pytest

from turnwire_client.errors import MalformedError
from turnwire_client.events import ToolApprovalRequest
from turnwire_client.http_calls import checked_url
from turnwire_client.message import UIMessage
from turnwire_client.replies import Receipt, read_receipt, read_refusal
from turnwire_client.requests import Place, Request, bearer, prompt_of

PLACE = Place(session_id="a/b", query={"threadId": "t"}, on_disconnect="grace")
CHAT = Place(session_id="s1", chat_id="c 1")


def body(request: Request) -> object:
    return json.loads(request.content or b"null")


def test_a_prompt_is_the_last_of_the_messages() -> None:
    earlier = UIMessage("m0", "user", [{"type": "text", "text": "hello"}], {"a": 1})
    request = PLACE.messages([earlier, prompt_of("hi", "m1")])

    assert (request.method, request.path) == ("POST", "/api/sessions/a%2Fb/chat")
    assert request.query == {"threadId": "t", "onDisconnect": "grace"}
    assert body(request) == {
        "id": "a/b",
        "trigger": "submit-message",
        "messages": [
            {
                "id": "m0",
                "role": "user",
                "parts": [{"type": "text", "text": "hello"}],
                "metadata": {"a": 1},
            },
            {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
        ],
    }


def test_a_prompt_may_be_parts() -> None:
    file = {"type": "file", "mediaType": "image/png", "url": "data:,"}

    assert prompt_of([file], "m1").parts == [file]


def test_the_other_requests_name_the_chat() -> None:
    of_chat = {"chatId": "c 1"}

    assert CHAT.stream() == Request("GET", "/api/sessions/s1/chat/c%201/stream", {})
    assert PLACE.stream().path == "/api/sessions/a%2Fb/chat/a%2Fb/stream"
    assert CHAT.history() == Request("GET", "/api/sessions/s1/messages", of_chat)
    asked = {"limit": "5", "before": "m", "finish": "true"}
    assert CHAT.history(5, "m", finish=True).query == of_chat | asked
    assert (body(CHAT.stop(None)), body(CHAT.stop("t"))) == ({}, {"turnId": "t"})
    assert CHAT.stop(None).query == CHAT.answer("q", 1, None).query == of_chat


def test_a_profile_goes_along_where_a_stream_may_come() -> None:
    native = Place(session_id="s1", profile="7")

    assert native.messages([]).query == native.stream().query == {"profile": "7"}
    assert native.history().query == native.stop(None).query == native.answer("q", 1, None).query
    assert native.history().query == {}


@pytest.mark.parametrize(
    ("reason", "answer"), [(None, False), ("no", {"approved": False, "reason": "no"})]
)
def test_a_verdict_has_the_signed_id_and_the_reason(reason: str | None, answer: object) -> None:
    approval = ToolApprovalRequest("q", "signed", "c", "add", {}, "May it?")

    request = CHAT.verdict(approval, approved=False, reason=reason)

    assert body(request) == {"questionId": "q", "answer": answer, "approvalId": "signed"}


@pytest.mark.parametrize("token", ["", " ", "a b", "a\r\nb", "a\x00", "é", "a\x7f"])
def test_a_token_that_no_header_can_have_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="no header can have"):
        bearer(token)


def test_a_token_is_trimmed() -> None:
    assert bearer(" abc\n") == "Bearer abc"


def test_the_url_of_a_gateway_is_one_of_http() -> None:
    assert checked_url("https://a.example/base/") == "https://a.example/base"
    with pytest.raises(ValueError, match="http"):
        checked_url("a.example")


def test_a_receipt() -> None:
    found = b'{"stopped":true,"turnId":"t","reason":"canceled","waitedMs":2}'

    assert read_receipt(found) == Receipt(stopped=True, turn_id="t", reason="canceled", waited_ms=2)
    with pytest.raises(MalformedError):
        read_receipt(b"<html>")


@pytest.mark.parametrize("content", [b"<html>secret</html>", b"[]", b"\xff", b'{"error":7}'])
def test_a_refusal_of_something_else_has_no_text(content: bytes) -> None:
    refused = read_refusal(502, {"retry-after": "soon"}, content)

    assert str(refused) == "502: no gateway's answer"
    assert (refused.code, refused.text, refused.retry_after) == ("", "", None)


def test_a_refusal_is_bounded() -> None:
    content = json.dumps({"error": "x" * 9999, "code": "c", "requestId": "r"}).encode()
    refused = read_refusal(429, {"retry-after": "7"}, content)

    assert (len(refused.text), refused.retry_after, refused.request_id) == (500, 7, "r")
