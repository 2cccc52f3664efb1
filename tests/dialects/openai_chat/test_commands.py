"""The request of a turn."""

import json
from typing import Any

from msgspec import Raw

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import Conversation
from turnwire.core.requests import Channel, DialectOptions, PromptRequest
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.openai_chat import commands


def sent(**asked: Any) -> Any:
    options = asked.pop("options", DialectOptions(model="m"))
    request = PromptRequest(**{"text": "hi", "prompt_id": "p1", "options": options, **asked})
    return json.loads(commands.completion(request).body)


def test_a_prompt_is_sent_with_the_model_and_asks_for_usage() -> None:
    assert sent() == {
        "stream_options": {"include_usage": True},
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_it_goes_to_one_path_as_json() -> None:
    request = commands.completion(PromptRequest(text="hi", prompt_id="p1"))

    assert (request.method, request.path) == ("POST", "/chat/completions")
    assert request.headers == {"content-type": "application/json"}
    assert request.accept == ("text/event-stream",)


def test_a_conversation_is_sent_as_it_was_written() -> None:
    written = [b'{"role":"user","content":"1"}', b'{"role":"assistant","content":"2"}']

    assert sent(conversation=Conversation(written, {}))["messages"] == [
        {"role": "user", "content": "1"},
        {"role": "assistant", "content": "2"},
    ]


def test_files_of_a_prompt() -> None:
    picture = Attachment("image/png", "data:image/png;base64,QUJD")

    (message,) = sent(attachments=(picture,))["messages"]
    assert [part["type"] for part in message["content"]] == ["text", "image_url"]


def test_the_operators_fields_are_added_and_win_where_they_may() -> None:
    fields = {"temperature": Raw(b"0.2"), "stream_options": Raw(b"null"), "model": Raw(b'"x"')}
    body = sent(options=DialectOptions(model="m", fields=fields))

    assert (body["temperature"], body["stream_options"], body["model"]) == (0.2, None, "m")


def test_an_agent_that_keeps_the_conversation_gets_an_id_that_no_client_chose() -> None:
    options = DialectOptions(model="m", sends_history=False)
    channel = Channel("web", "another's")
    asked: dict[str, Any] = {"session_id": "s1", "channel": channel, "options": options}
    request = PromptRequest(text="hi", prompt_id="p1", **asked)
    thread = thread_id("s1", "web", "another's")

    assert sent(**asked)["user"] == thread
    assert commands.completion(request).headers["x-hermes-session-id"] == thread
    assert sent(**{**asked, "session_id": "s2"})["user"] != thread
    assert "user" not in sent(session_id="s1")
