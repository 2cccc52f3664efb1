"""The request of a response."""

import json
from typing import Any

from msgspec import Raw

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import Conversation
from turnwire.core.requests import AgentSession, Channel, DialectOptions, PromptRequest
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.openai_responses import commands


def sent(**asked: Any) -> Any:
    options = asked.pop("options", DialectOptions(model="m"))
    request = PromptRequest(**{"text": "hi", "prompt_id": "p1", "options": options, **asked})
    previous = request.agent_session.known
    thread = commands.thread_of(request)
    made = commands.response(options, thread, commands.prompt(request), previous)
    assert (made.method, made.path) == ("POST", "/responses")
    assert made.headers == {"content-type": "application/json"}
    return json.loads(made.body)


def test_a_prompt_is_sent_with_the_model() -> None:
    assert sent() == {
        "model": "m",
        "stream": True,
        "input": [{"type": "message", "role": "user", "content": "hi"}],
    }


def test_a_conversation_is_sent_as_it_was_written() -> None:
    written = [b'{"role":"user","content":"1"}', b'{"role":"assistant","content":"2"}']

    assert [item["content"] for item in sent(conversation=Conversation(written, {}))["input"]] == [
        "1",
        "2",
    ]


def test_files_of_a_prompt() -> None:
    picture = Attachment("image/png", "data:image/png;base64,QUJD")

    (message,) = sent(attachments=(picture,))["input"]
    assert [part["type"] for part in message["content"]] == ["input_text", "input_image"]


def test_the_operators_fields_are_added() -> None:
    fields = {"reasoning": Raw(b'{"summary":"auto"}'), "model": Raw(b'"x"')}
    body = sent(options=DialectOptions(model="m", fields=fields))

    assert (body["reasoning"], body["model"]) == ({"summary": "auto"}, "m")


def test_an_agent_that_keeps_the_conversation_gets_one_that_no_client_chose() -> None:
    options = DialectOptions(model="m", sends_history=False)
    asked: dict[str, Any] = {"channel": Channel("web", "another's"), "options": options}
    thread = thread_id("s1", "web", "another's")

    assert sent(session_id="s1", **asked)["conversation"] == thread
    assert sent(session_id="s2", **asked)["conversation"] != thread
    assert "conversation" not in sent(session_id="s1")


def test_a_request_goes_on_with_a_response_or_begins_anew() -> None:
    options = DialectOptions(model="m", sends_history=False, names_previous_response=True)
    first = sent(session_id="s1", options=options)
    second = sent(session_id="s1", options=options, agent_session=AgentSession(known="resp_1"))

    assert not {"conversation", "previous_response_id"} & first.keys()
    assert "conversation" not in second
    assert second["previous_response_id"] == "resp_1"
