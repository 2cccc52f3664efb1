"""A conversation in the words of Chat Completions, read back by a reader of its own."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from support.client_messages import ASSISTANT, USER, converted
from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    File,
    Message,
    Reasoning,
    Result,
    SystemMessage,
    Text,
    UnsayableError,
    UserMessage,
)
from turnwire.dialects.openai_chat.messages import write


def written(*messages: Message) -> list[Any]:
    return [json.loads(one) for message in messages for one in write(message) if one]


def test_a_conversation_with_a_tool() -> None:
    called = {"name": "add", "arguments": '{"a": 1}'}

    assert written(
        SystemMessage("s", "Be brief."),
        UserMessage("u", (Text("1 + 2?"),)),
        AssistantMessage("a", (Text("Let me see."),), (Call("c", "add", Raw(b'{"a": 1}')),)),
        Result("c:result", "c", "add", Raw(b"3")),
        AssistantMessage("a:1", (Text("It is 3."), Text("Really."))),
    ) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "1 + 2?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"type": "function", "id": "c", "function": called}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "3"},
        {"role": "assistant", "content": "It is 3.\n\nReally."},
    ]


def content(*attachments: Attachment) -> Any:
    parts: list[Text | File] = [Text("see"), *(File(each) for each in attachments)]
    (message,) = written(UserMessage("u", tuple(parts)))
    return message["content"][1:]


PDF = "data:application/pdf;base64,QUJD"


@pytest.mark.parametrize(
    ("attachment", "part"),
    [
        (
            Attachment("image/png", "data:image/png;base64,QUJD"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        ),
        (
            Attachment("image/png", "https://files.example/a"),
            {"type": "image_url", "image_url": {"url": "https://files.example/a"}},
        ),
        (
            Attachment("audio/mpeg", "data:audio/mpeg;base64,QUJD"),
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
        ),
        (
            Attachment("audio/ogg", "data:audio/ogg;base64,QUJD"),
            {
                "type": "file",
                "file": {"filename": "file", "file_data": "data:audio/ogg;base64,QUJD"},
            },
        ),
        (
            Attachment("application/pdf", PDF, "a.pdf"),
            {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
        ),
    ],
)
def test_files_that_the_wire_has_words_for(attachment: Attachment, part: Any) -> None:
    assert content(attachment) == [part]


@pytest.mark.parametrize("mime", ["application/pdf", "audio/mpeg", "video/mp4", "text/plain"])
def test_a_link_to_anything_but_a_picture_cannot_be_said(mime: str) -> None:
    with pytest.raises(UnsayableError, match="link to a file that is no picture"):
        content(Attachment(mime, "https://files.example/a"))


def test_calls_alone_have_no_text() -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(b"{}")),)))

    assert message["content"] is None
    (said,) = written(AssistantMessage("a", (Text("hi"),)))
    assert said == {"role": "assistant", "content": "hi"}


@pytest.mark.parametrize(
    ("name", "sent"), [("get weather!", "get_weather_"), ("x" * 80, "x" * 64), ("", "_")]
)
def test_a_name_that_model_hosts_refuse_is_mended(name: str, sent: str) -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", name, Raw(b"{}")),)))

    assert message["tool_calls"][0]["function"]["name"] == sent


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (rb'"{\"a\":"', {"input": '{"a":'}),
        *((b"[1]", {"input": [1]}), (b"", {}), (b"null", {}), (b'""', {}), (b'{"a":1}', {"a": 1})),
    ],
)
def test_an_input_is_a_json_object_whatever_it_was(given: bytes, sent: Any) -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(given)),)))

    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == sent


def test_a_call_and_its_result_have_an_id_that_model_hosts_accept() -> None:
    called, result = written(
        AssistantMessage("a", (), (Call("p1:call-1", "add", Raw(b"{}")),)),
        Result("r", "p1:call-1", "add", Raw(b"1")),
    )

    assert re.fullmatch(r"p1_call-\w{32}", result["tool_call_id"])
    assert called["tool_calls"][0]["id"] == result["tool_call_id"]


def test_an_error_is_sent_as_text() -> None:
    (result,) = written(Result("r", "c", "add", None, "broken"))

    assert result["content"] == "broken"
    assert written(Result("r", "c", "add", None))[0]["content"] == ""


@pytest.mark.parametrize(
    ("parts", "kind", "count"),
    [
        ((Reasoning("hm"), Text("hi"), Reasoning("so")), "reasoning", 2),
        ((Text("hi"), File(Attachment("image/png", "data:,"))), "file of the assistant", 1),
    ],
)
def test_what_this_wire_cannot_say(parts: tuple[Any, ...], kind: str, count: int) -> None:
    with pytest.raises(UnsayableError) as raised:
        next(write(AssistantMessage("a", parts)))

    assert raised.value.kind == kind
    assert len(raised.value.parts) == count


@pytest.mark.no_cover  # any messages; the cases above reach the same lines
@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(USER | ASSISTANT, max_size=6))
def test_every_call_has_one_result_right_behind_it(messages: list[Any]) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for raw in converted(messages, write).written:
        message = json.loads(raw)
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert waiting == []
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        assert not seen & set(waiting)
        seen |= set(waiting)
        assert message["content"] or waiting
    assert waiting == []


@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(USER | ASSISTANT, max_size=5), USER)
def test_a_message_is_written_the_same_in_each_request(messages: list[Any], prompt: Any) -> None:
    before = converted(messages, write).written

    assert converted([*messages, prompt], write).written[: len(before)] == before
