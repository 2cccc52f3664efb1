"""The request of a run: what every version of the wire requires, and nothing of the client's."""

import json
from typing import Any

from msgspec import Raw

from support.ag_ui_messages import Item, read
from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import Conversation
from turnwire.core.requests import Channel, PromptRequest
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.ag_ui import AgUi, commands


def request_of(**asked: Any) -> Any:
    given: dict[str, Any] = {"text": "hi", "prompt_id": "p1", "session_id": "s1", **asked}
    request = AgUi().prompt(PromptRequest(**given)).connect_request()
    assert (request.method, request.path) == ("POST", "")
    assert request.headers == {"content-type": "application/json"}
    assert request.accept == ("text/event-stream",)
    return json.loads(request.body)


def items_of(sent: Any) -> list[Item]:
    return read(json.dumps(message).encode() for message in sent["messages"])


def test_a_run_has_all_fields_that_some_version_requires() -> None:
    sent = request_of(channel=Channel("web", "c1"))

    assert items_of(sent) == [Item("user", "text", "hi")]
    del sent["messages"]
    assert sent == {
        "threadId": thread_id("s1", "web", "c1"),
        "runId": "p1",
        "protocolVersion": "1.0",
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }


def test_the_prompt_has_the_id_of_the_client_and_its_files() -> None:
    sent = request_of(
        client_message_id="u1", attachments=(Attachment("image/png", "https://a.example/x"),)
    )

    assert sent["messages"][0]["id"] == "u1"
    assert [item.what for item in items_of(sent)] == ["text", "image"]


def test_a_prompt_without_an_id_has_another_one_than_its_answer() -> None:
    sent = request_of()

    assert sent["messages"][0]["id"] == "p1:prompt"
    assert sent["runId"] == "p1"


def test_a_conversation_is_sent_as_it_was_written() -> None:
    written = [b'{"id":"u0","role":"user","content":"before"}', b'{"id":"u1","role":"user"}']

    sent = request_of(conversation=Conversation(written, {}))

    assert sent["messages"] == [json.loads(each) for each in written]


def test_the_answers_are_sent_with_the_next_run() -> None:
    request = commands.run(
        thread_id="t", run_id="r", sent=(), resume=Raw(b"[1]"), forwarded_props=Raw(b'{"a":1}')
    )

    sent = json.loads(request.body)
    assert (sent["resume"], sent["forwardedProps"], sent["messages"]) == ([1], {"a": 1}, [])
