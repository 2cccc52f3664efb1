"""A conversation in the words of the Responses API, read back by a reader of its own."""

import json
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
from turnwire.dialects.openai_responses.messages import is_call_of, write


def written(*messages: Message) -> list[Any]:
    return [json.loads(one) for message in messages for one in write(message) if one]


def test_a_conversation_with_a_tool() -> None:
    assert written(
        SystemMessage("s", "Be brief."),
        UserMessage("u", (Text("1 + 2?"),)),
        AssistantMessage("a", (Text("Let me see."),), (Call("c", "add", Raw(b'{"a": 1}')),)),
        Result("c:result", "c", "add", Raw(b"3")),
        AssistantMessage("a:1", (Text("It is 3."), Text("Really."))),
    ) == [
        {"type": "message", "role": "system", "content": "Be brief."},
        {"type": "message", "role": "user", "content": "1 + 2?"},
        {"type": "message", "role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "c", "name": "add", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c", "output": "3"},
        {"type": "message", "role": "assistant", "content": "It is 3.\n\nReally."},
    ]


def content(*attachments: Attachment) -> Any:
    parts: list[Text | File] = [Text("see"), *(File(each) for each in attachments)]
    (message,) = written(UserMessage("u", tuple(parts)))
    return message["content"][1:]


PDF = "data:application/pdf;base64,QUJD"


PNG = "data:image/png;base64,QUJD"


@pytest.mark.parametrize(
    ("attachment", "part"),
    [
        (
            Attachment("image/png", PNG),
            {"type": "input_image", "image_url": PNG, "detail": "auto"},
        ),
        (
            Attachment("image/png", "https://files.example/a"),
            {"type": "input_image", "image_url": "https://files.example/a", "detail": "auto"},
        ),
        (
            Attachment("application/pdf", PDF, "a.pdf"),
            {"type": "input_file", "filename": "a.pdf", "file_data": PDF},
        ),
        (
            Attachment("application/pdf", PDF),
            {"type": "input_file", "filename": "file", "file_data": PDF},
        ),
        (
            Attachment("application/pdf", "https://files.example/a"),
            {"type": "input_file", "file_url": "https://files.example/a"},
        ),
    ],
)
def test_files_that_the_wire_has_words_for(attachment: Attachment, part: Any) -> None:
    assert content(attachment) == [part]


@pytest.mark.parametrize("mime", ["audio/mpeg", "video/mp4"])
def test_a_sound_or_a_film_cannot_be_said(mime: str) -> None:
    with pytest.raises(UnsayableError, match="sound or film"):
        content(Attachment(mime, f"data:{mime};base64,QUJD"))


def test_calls_alone_have_no_message() -> None:
    (call,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(b"{}")),)))

    assert call["type"] == "function_call"


def test_the_call_of_an_item_is_found_by_its_id() -> None:
    called = AssistantMessage("a", (Text("hi"),), (Call('c"1', "add", Raw(b"{}")),))
    text, call = (item for item in write(called) if item)

    assert is_call_of(call, 'c"1')
    assert not is_call_of(call, "c")
    assert not is_call_of(text, 'c"1')


@pytest.mark.parametrize(
    ("name", "sent"), [("get weather!", "get_weather_"), ("x" * 80, "x" * 64), ("", "_")]
)
def test_a_name_that_model_hosts_refuse_is_mended(name: str, sent: str) -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", name, Raw(b"{}")),)))

    assert message["name"] == sent


def test_an_input_that_was_no_json_is_in_an_object_and_an_error_is_text() -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(rb'"{\"a\":"')),)))
    (result,) = written(Result("r", "c", "add", None, "broken"))

    assert json.loads(message["arguments"]) == {"input": '{"a":'}
    assert result["output"] == "broken"
    assert written(Result("r", "c", "add", None))[0]["output"] == ""


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
        item = json.loads(raw)
        match item["type"]:
            case "function_call":
                assert item["call_id"] not in seen
                seen.add(item["call_id"])
                waiting.append(item["call_id"])
            case "function_call_output":
                waiting.remove(item["call_id"])
                assert isinstance(item["output"], str)
            case _:
                assert waiting == []
    assert waiting == []


@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(USER | ASSISTANT, max_size=5), USER)
def test_a_message_is_written_the_same_in_each_request(messages: list[Any], prompt: Any) -> None:
    before = converted(messages, write).written

    assert converted([*messages, prompt], write).written[: len(before)] == before
