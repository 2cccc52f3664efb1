"""A conversation as UI messages: written in pieces, and joined."""

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
from turnwire.dialects.ui_stream.messages import joined, write

CALL = Call("c1", "add", Raw(b'{"a": 1}'))
STEP = {"type": "step-start"}
SAID = {"type": "tool-add", "toolCallId": "c1", "input": {"a": 1}}


def sent(*messages: Message, **open_: bytes) -> list[Any]:
    pieces = [one for message in messages for one in write(message)]
    return [json.loads(one) for one in joined(pieces, open_)]


def test_all_steps_of_an_answer_are_one_message() -> None:
    assert sent(
        SystemMessage("s", "Be brief."),
        UserMessage("u", (Text("1 + 2?"),)),
        AssistantMessage("a", (Text("Let me see."),), (CALL,)),
        Result("c:result", "c1", "add", Raw(b"3")),
        AssistantMessage("a:1", (Text("It is 3."), Text("Really."))),
        AssistantMessage("b", (Text("Else?"),)),
        UserMessage("u2", (Text("No."),)),
    ) == [
        {"id": "s", "role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
        {"id": "u", "role": "user", "parts": [{"type": "text", "text": "1 + 2?"}]},
        {
            "id": "a",
            "role": "assistant",
            "parts": [
                *(STEP, {"type": "text", "text": "Let me see."}),
                SAID | {"state": "output-available", "output": 3},
                *(STEP, {"type": "text", "text": "It is 3."}, {"type": "text", "text": "Really."}),
            ],
        },
        {"id": "b", "role": "assistant", "parts": [STEP, {"type": "text", "text": "Else?"}]},
        {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "No."}]},
    ]


def test_files_are_parts() -> None:
    data = Attachment("image/png", "data:image/png;base64,QUJD", "a.png")
    link = Attachment("application/pdf", "https://files.example/a")

    (message,) = sent(UserMessage("u", (Text("see"), File(data), File(link))))

    assert message["parts"][1:] == [
        {"type": "file", "mediaType": "image/png", "url": data.url, "filename": "a.png"},
        {"type": "file", "mediaType": "application/pdf", "url": link.url},
    ]


def test_a_call_that_failed_and_calls_without_an_end() -> None:
    answer = b'{"type":"tool-add","state":"approval-responded"}'
    calls = tuple(Call(f"c{number}", "add", Raw(b"{}")) for number in range(3))

    (message,) = sent(
        AssistantMessage("a", (), calls), Result("r", "c0", "add", None, "broken"), c1=answer
    )

    states = [(part["state"], part.get("errorText")) for part in message["parts"][1:]]
    assert states == [
        *(("output-error", "broken"), ("approval-responded", None), ("output-error", "No result"))
    ]


def test_a_call_that_is_told_again_has_its_last_input() -> None:
    again = Call("c1", "add", Raw(b"{}"))
    other = Call("c2", "add", Raw(b"[]"))

    (message,) = sent(
        AssistantMessage("a", (), (CALL, other, again)), Result("r", "c1", "add", Raw(b"1"))
    )

    assert [part["input"] for part in message["parts"][1:]] == [{}, []]


def test_a_result_of_no_call_is_nothing() -> None:
    assert sent(Result("r", "c0", "add", Raw(b"1"))) == []


def test_reasoning_is_not_said() -> None:
    thought, text = Reasoning("hm"), Text("x")

    with pytest.raises(UnsayableError) as refused:
        list(write(AssistantMessage("a", (thought, text))))

    assert (refused.value.kind, refused.value.parts) == ("reasoning", [thought])


@settings(max_examples=200, deadline=None, database=None)
@given(messages=st.lists(USER | ASSISTANT, max_size=6))
def test_whatever_a_client_says_is_messages_whose_calls_have_ends(messages: list[Any]) -> None:
    written = converted(messages, write).written
    said = [json.loads(one) for one in joined(written)]

    calls = [
        part for message in said for part in message["parts"] if part["type"].startswith("tool-")
    ]
    assert {part["state"] for part in calls} <= {"output-available", "output-error"}
    assert len({part["toolCallId"] for part in calls}) == len(calls)
    assert len({message["id"] for message in said}) == len(said)
    assert all(message["parts"] for message in said)
