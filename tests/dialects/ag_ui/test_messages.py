"""A conversation in the words of AG-UI, read back by a reader of its own."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from support.ag_ui_messages import Item, calls, read
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
from turnwire.core.body.ui_message import DENIED, NO_RESULT
from turnwire.core.wire import json_text
from turnwire.dialects.ag_ui.messages import write


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
        {"role": "system", "id": "s", "content": "Be brief."},
        {"role": "user", "id": "u", "content": "1 + 2?"},
        {
            "role": "assistant",
            "id": "a",
            "content": "Let me see.",
            "toolCalls": [{"type": "function", "id": "c", "function": called}],
        },
        {"role": "tool", "id": "c:result", "toolCallId": "c", "content": "3"},
        {"role": "assistant", "id": "a:1", "content": "It is 3.\n\nReally."},
    ]


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("image/png", "image"),
        ("audio/mpeg", "audio"),
        ("video/mp4", "video"),
        ("application/pdf", "document"),
        ("text/plain", "document"),
    ],
)
def test_a_file_is_of_one_of_four_kinds(mime: str, kind: str) -> None:
    data = Attachment(mime, f"data:{mime};base64,QUJD", "a.b")
    link = Attachment(mime, "https://files.example/a")

    assert written(UserMessage("u", (Text("see"), File(data), File(link))))[0]["content"] == [
        {"type": "text", "text": "see"},
        {
            "type": kind,
            "source": {"type": "data", "value": "QUJD", "mimeType": mime},
            "metadata": {"filename": "a.b"},
        },
        {
            "type": kind,
            "source": {"type": "url", "value": "https://files.example/a", "mimeType": mime},
        },
    ]


def test_calls_alone_have_no_text() -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(b"{}")),)))

    assert message.keys() == {"role", "id", "toolCalls"}


@pytest.mark.parametrize(
    ("input_", "arguments"),
    [(b'{"a":1}', '{"a":1}'), (b"[1]", "[1]"), (rb'"{\"a\":"', '{"a":'), (b"null", "null")],
)
def test_an_input_that_was_no_json_is_sent_as_it_was(input_: bytes, arguments: str) -> None:
    (message,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(input_)),)))

    assert message["toolCalls"][0]["function"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("output", "content"), [(b'"sunny"', "sunny"), (b'{"a": 1}', '{"a": 1}'), (b"null", "null")]
)
def test_an_output_that_is_a_text_is_sent_as_one(output: bytes, content: str) -> None:
    (message,) = written(Result("r", "c", "add", Raw(output)))

    assert message == {"role": "tool", "id": "r", "toolCallId": "c", "content": content}


def test_an_error_stands_in_both_fields() -> None:
    """One server reads `error` and another one `content`."""
    (message,) = written(Result("r", "c", "add", None, "broken"))

    assert (message["content"], message["error"]) == ("broken", "broken")


@pytest.mark.parametrize(
    ("parts", "kind", "count"),
    [
        ((Reasoning("hm"), Text("hi"), Reasoning("so")), "reasoning", 2),
        ((Text("hi"), File(Attachment("image/png", "data:,"))), "file of the assistant", 1),
    ],
)
def test_what_this_wire_cannot_say(parts: tuple[Any, ...], kind: str, count: int) -> None:
    with pytest.raises(UnsayableError) as raised:
        list(write(AssistantMessage("a", parts)))

    assert raised.value.kind == kind
    assert len(raised.value.parts) == count


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_long_json_is_put_into_a_string_in_steps(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of a few bytes cut characters and escapes everywhere."""
    monkeypatch.setattr(json_text, "_STEP_BYTES", step)
    output = rb'{"a\": "\n\ud83d\ude00", "b": "' + "\U0001f600é".encode() + b'"}'
    items = list(write(Result("r", "c", "add", Raw(output))))

    assert items.count(b"") == -(-len(output) // step)
    assert json.loads(items[-1])["content"] == output.decode()
    (call,) = written(AssistantMessage("a", (), (Call("c", "add", Raw(output)),)))[0]["toolCalls"]
    assert call["function"] == {"name": "add", "arguments": output.decode()}


# Any conversation


def expected(messages: Sequence[Any]) -> Iterable[Item]:
    """What these messages of a client say, without the ids of the calls."""
    for message in messages:
        if message["role"] == "user":
            yield from (_expected_of_user(part) for part in message["parts"] if _is_sent(part))
            continue
        results: list[Item] = []
        texts: list[str] = []
        for part in [*message["parts"], {"type": "step-start"}]:
            is_text = part["type"] in {"text", "reasoning", "file"}
            if (is_text and results) or part["type"] == "step-start":
                if texts:
                    yield Item("assistant", "text", "\n\n".join(texts))
                for result in results:
                    yield Item("assistant", "call", result.value[0])
                yield from (result._replace(value=result.value[1]) for result in results)
                results, texts = [], []
            if part["type"] == "text":
                texts.append(part["text"])
            elif part["type"].startswith("tool-"):
                called = (part["type"][5:], part["input"])
                what, value = _expected_result(part)
                results.append(Item("tool", what, (called, value)))


def _is_sent(part: Any) -> bool:
    return part["type"] in {"text", "file"}


def _expected_of_user(part: Any) -> Item:
    if part["type"] == "text":
        return Item("user", "text", part["text"])
    mime, url = part["mediaType"], part["url"]
    kind = {"image/png": "image", "text/plain": "document", "video/mp4": "video"}[mime]
    how, value = ("url", url) if url.startswith("https:") else ("data", url.split(",")[1])
    return Item("user", kind, (how, mime, value, "f"))


def _expected_result(part: Any) -> tuple[str, Any]:
    match part["state"]:
        case "output-available":
            return "result", part["output"]
        case "output-error":
            return "error", part["errorText"]
        case "output-denied":
            return "error", DENIED
        case _:
            return "error", NO_RESULT


def _decoded(one: Item) -> Item:
    """What was read, with JSON as values and without the ids of the calls."""
    match one.what:
        case "call":
            name, arguments = one.value
            return Item(one.who, one.what, (name, json.loads(arguments)))
        case "result":
            return Item(one.who, one.what, _loads(one.value))
        case _:
            return one._replace(call_id="")


def _loads(text: str) -> Any:
    """The value of a result. A text is not told apart from JSON: this wire has strings alone."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _by_wire(one: Item) -> Item:
    is_text = one.what == "result" and isinstance(one.value, str)
    return one._replace(value=_loads(one.value)) if is_text else one


@pytest.mark.no_cover  # any messages; the cases above reach the same lines
@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(USER | ASSISTANT, max_size=6))
def test_what_a_client_says_is_read_back_in_order(messages: list[Any]) -> None:
    said = read(converted(messages, write).written)

    assert [_decoded(one) for one in said] == [_by_wire(one) for one in expected(messages)]
    assert len(set(calls(said))) == len(calls(said))
    answered: list[str] = []
    for number, one in enumerate(said):
        if one.who == "tool":
            assert one.call_id in calls(said[:number])
            answered.append(one.call_id)
    assert answered == calls(said)


@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(USER | ASSISTANT, max_size=5), USER)
def test_a_message_is_written_the_same_in_each_request(messages: list[Any], prompt: Any) -> None:
    before = converted(messages, write).written

    assert converted([*messages, prompt], write).written[: len(before)] == before
