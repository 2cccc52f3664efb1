import base64
import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire_agent.generate.question import BadQuestionError, question
from turnwire_agent.llm.request import OneTool
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    Image,
    Native,
    Result,
    Results,
    Text,
    User,
)

USER: dict[str, Any] = {"type": "user", "parts": [{"type": "text", "text": "hi"}]}


def asked(**more: Any) -> bytes:
    return json.dumps({"model": "m", "transcript": [USER]} | more).encode()


def test_a_whole_conversation_is_read() -> None:
    native = {"shape": "chat", "provider": "p", "model": "m", "blocks": '[{"x":1.50}]'}
    picture = {
        "type": "image",
        "media_type": "image/png",
        "data": base64.b64encode(b"1").decode(),
    }
    call = {"type": "call", "id": "c", "name": "t", "arguments": "{}"}
    result = {"call_id": "c", "name": "t", "content": [{"type": "text", "text": "it"}]}
    body = asked(
        transcript=[
            {"type": "user", "parts": [picture]},
            {"type": "assistant", "parts": [call], "native": native},
            {"type": "results", "results": [result]},
            {"type": "assistant", "parts": []},
            USER,
        ],
        tools=[{"name": "t", "schema": {"type": "object"}}],
        tool_choice={"name": "t"},
        max_tokens=5,
    )
    read = question(body)

    assert read.neutral() == (
        User((Image("image/png", b"1"),)),
        Assistant((Call("c", "t"),), Native("chat", "p", "m", Raw(b'[{"x":1.50}]'))),
        Results((Result("c", "t", (Text("it"),)),)),
        Assistant(()),
        User((Text("hi"),)),
    )
    assert (read.tool_choice, read.max_tokens) == (OneTool("t"), 5)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "the body is no JSON"),
        (b'{"model": "\xff"}', "the body is no"),
        (b"[]", "the body is wrong"),
        (asked(secret="x"), "the body is wrong"),
        (asked(max_tokens="secret"), r"the body has a wrong value at \$\.max_tokens"),
        (asked(transcript=[{"type": "secret"}]), r"wrong value at \$\.transcript\[0\]\.type"),
    ],
)
def test_what_is_no_question_is_named_and_not_repeated(body: bytes, why: str) -> None:
    with pytest.raises(BadQuestionError, match=why) as error:
        question(body)

    assert "secret" not in str(error.value)


@pytest.mark.parametrize("blocks", ["{}", "x", "\ud800", "[1]", "[" * 100_000])
def test_native_blocks_are_an_array(blocks: str) -> None:
    native = {"shape": "chat", "provider": "p", "model": "m", "blocks": blocks}
    try:
        read = question(asked(transcript=[{"type": "assistant", "parts": [], "native": native}]))
    except BadQuestionError:
        return

    with pytest.raises(BadQuestionError, match="native blocks are no JSON array"):
        read.neutral()


def test_a_body_of_any_depth_is_answered() -> None:
    with pytest.raises(BadQuestionError, match="the body is too deep"):
        question(b'{"answer_schema":' + b'{"a":' * 100_000)
