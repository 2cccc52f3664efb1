"""The request of a response: that of useChat, with an id of our own."""

import json
from typing import Any

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import Conversation
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import Channel, DialectOptions, PromptRequest
from turnwire.dialects.ui_stream import UiStream


def requested(**asked: Any) -> ConnectRequest:
    given = {"text": "hi", "prompt_id": "p1", "session_id": "s1", "client_message_id": "u1"}
    return UiStream().prompt(PromptRequest(**{**given, **asked})).connect_request()


def sent(**asked: Any) -> Any:
    return json.loads(requested(**asked).body)


def test_a_prompt_alone() -> None:
    request = requested()

    assert (request.method, request.headers) == ("POST", {"content-type": "application/json"})
    assert request.accept == ("text/event-stream",)
    body = json.loads(request.body)
    assert body.keys() == {"id", "messages", "trigger"}
    assert body["trigger"] == "submit-message"
    assert body["messages"] == [
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}
    ]


def test_the_chat_of_another_session_is_another() -> None:
    mine = sent()["id"]

    assert mine == sent()["id"]
    assert mine != sent(session_id="s2")["id"]
    assert mine != sent(channel=Channel("web", "c2"))["id"]
    assert "s1" not in mine


def test_a_prompt_without_an_id_is_no_message_of_the_agent() -> None:
    assert sent(client_message_id=None)["messages"][0]["id"] not in {"", "p1"}


def test_a_file_without_a_text() -> None:
    file = Attachment("image/png", "data:image/png;base64,QUJD", "a.png")

    assert sent(text="", attachments=(file,))["messages"][0]["parts"] == [
        {"type": "file", "mediaType": "image/png", "url": file.url, "filename": "a.png"}
    ]


def test_a_conversation_is_sent_as_it_was_written() -> None:
    conversation = Conversation([b'{"id":"u0"}', b'{"id":"u1"}'], {})

    assert sent(conversation=conversation)["messages"] == [{"id": "u0"}, {"id": "u1"}]


def test_an_agent_that_keeps_the_conversation_learns_what_is_replaced() -> None:
    again = sent(regenerates=True, replaces="a1", options=DialectOptions(sends_history=False))
    edited = sent(replaces="u1")

    assert (again["trigger"], again["messageId"]) == ("regenerate-message", "a1")
    assert (edited["trigger"], edited["messageId"]) == ("submit-message", "u1")
