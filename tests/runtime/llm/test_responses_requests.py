import json
from typing import Any

import msgspec
import pytest

from runtime.llm.transcripts import PNG, SCHEMA, request
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.request import OneTool, Request, ToolSpec
from turnwire_agent.llm.shape import UnsendableError
from turnwire_agent.llm.shapes import responses
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Message,
    Native,
    Reasoning,
    Result,
    Results,
    Text,
    User,
)

MODEL = Model(provider="openai", name="gpt", shape="responses", base_url="https://example.com/v1")
HI = User((Text("hi"),))


def asked(*messages: Message, model: Model = MODEL, **more: Any) -> dict[str, Any]:
    encoded = responses.encode(model, Request(transcript=messages, **more))
    body: dict[str, Any] = json.loads(encoded.body)
    return body


def losses(*messages: Message, **more: Any) -> tuple[Loss, ...]:
    return responses.encode(MODEL, Request(transcript=messages, **more)).losses


def test_the_least_request_byte_for_byte() -> None:
    encoded = responses.encode(MODEL, Request(transcript=(HI,)))

    assert encoded.path == "/responses"
    assert encoded.body == (
        b'{"model":"gpt","input":[{"type":"message","role":"user",'
        b'"content":[{"type":"input_text","text":"hi"}]}],"stream":true,"store":false,'
        b'"include":["reasoning.encrypted_content"]}'
    )
    assert encoded.losses == ()


def test_all_that_a_request_can_ask() -> None:
    tools = (ToolSpec("search", "It searches.", SCHEMA, strict=True), ToolSpec("t", "", SCHEMA))
    body = asked(
        HI,
        instructions="Be brief.",
        tools=tools,
        tool_choice=OneTool("t"),
        parallel_tools=True,
        max_tokens=10,
        temperature=0.0,
        top_p=0.5,
        effort="low",
        answer_schema=SCHEMA,
    )

    assert [tool.pop("parameters") for tool in body["tools"]] == [SCHEMA, SCHEMA]
    del body["input"], body["include"]
    assert body == {
        "model": "gpt",
        "stream": True,
        "store": False,
        "instructions": "Be brief.",
        "tools": [
            {"type": "function", "name": "search", "description": "It searches.", "strict": True},
            {"type": "function", "name": "t", "description": "", "strict": False},
        ],
        "tool_choice": {"type": "function", "name": "t"},
        "parallel_tool_calls": True,
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA}},
        "max_output_tokens": 10,
        "temperature": 0.0,
        "top_p": 0.5,
    }
    assert asked(HI, tools=tools, tool_choice="none")["tool_choice"] == "none"
    plain = msgspec.structs.replace(
        MODEL, quirks=Quirks(strict_tools=False, sealed_reasoning=False)
    )
    assert asked(HI, model=plain, tools=tools)["tools"][0]["strict"] is False
    assert "include" not in asked(HI, model=plain)
    assert losses(HI, stop=("END",)) == (Loss("stop", "dropped", "the wire has no stop sequences"),)


def test_a_user_has_texts_pictures_and_files() -> None:
    parts = (
        Text("see"),
        Text(""),
        Image("image/png", PNG[:3]),
        Image("image/png", url="https://example.com/a.png"),
        File("application/pdf", b"%PDF"),
        File("application/x-foo", url="https://example.com/a"),
        File("text/csv", "ä,b".encode()),
    )

    assert asked(User(parts))["input"][0]["content"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "auto"},
        {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
        {
            "type": "input_file",
            "filename": "file.pdf",
            "file_data": "data:application/pdf;base64,JVBERg==",
        },
        {"type": "input_file", "file_url": "https://example.com/a"},
        {"type": "input_text", "text": "ä,b"},
    ]
    assert [loss.where for loss in losses(User(parts))] == ["messages[0].parts[6]"]


def test_what_the_wire_has_no_place_for_is_named() -> None:
    with pytest.raises(UnsendableError, match=r"messages\[1\]\.parts\[1\]: audio/wav cannot"):
        asked(HI, User((Text("secret"), File("audio/wav", b"1"))))


def test_an_answer_with_calls_and_their_results() -> None:
    answer = Assistant(
        (
            Reasoning("hm"),
            Text("one"),
            Text(""),
            Call("c/1", "t", '{"broken'),
            Call("c2", "t", ""),
            Image("image/png", PNG),
        )
    )
    results = Results(
        (
            Result("c/1", "t", (Text("it"), Image("image/png", PNG[:3])), "denied"),
            Result("c2", "t", (Text("yes"),)),
            Result("c3", "t", (Image("image/png", PNG[:3]),)),
        )
    )
    _, told, first, second, *outputs = asked(HI, answer, results)["input"]

    assert told == {"type": "message", "role": "assistant", "content": "one"}
    assert first["call_id"] == outputs[0]["call_id"] != "c/1"
    assert json.loads(first["arguments"]) == {"INVALID_JSON": '{"broken'}
    assert second == {"type": "function_call", "call_id": "c2", "name": "t", "arguments": "{}"}
    assert outputs[0]["output"] == [
        {"type": "input_text", "text": "A person denied this call. It did not run.\nit"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "auto"},
    ]
    assert outputs[1] == {"type": "function_call_output", "call_id": "c2", "output": "yes"}
    assert [part["type"] for part in outputs[2]["output"]] == ["input_image"]
    assert [loss.where for loss in losses(HI, answer, results)] == [
        "messages[1].reasoning",
        "messages[1].arguments",
        "messages[1].files",
    ]


def test_its_own_answer_goes_back_byte_for_byte_and_ids_stay_as_they_were() -> None:
    call_id = "i" * 450
    blocks = b'[{"type":"reasoning", "encrypted_content":"x=="},{"call_id":"%s"}]'
    blocks = blocks.replace(b"%s", call_id.encode())
    native = Native("responses", "openai", "gpt", msgspec.Raw(blocks))
    answer = Assistant((Reasoning("hm"), Call(call_id, "t")), native)
    results = Results((Result(call_id, "t", (Text("it"),)),))
    encoded = responses.encode(MODEL, Request(transcript=(HI, answer, results)))

    assert blocks[1:-1] in encoded.body
    assert json.loads(encoded.body)["input"][3]["call_id"] == call_id
    assert encoded.losses == ()
    other = msgspec.structs.replace(MODEL, name="another")
    encoded = responses.encode(other, Request(transcript=(HI, answer, results)))
    assert b'encrypted_content":' not in encoded.body
    assert [loss.what for loss in encoded.losses] == ["dropped"]
    assert len(json.loads(encoded.body)["input"][2]["call_id"]) == 64


def test_any_transcript_can_be_sent() -> None:
    for seed in range(500):
        asked_items = json.loads(responses.encode(MODEL, request(seed)).body)["input"]
        called = [each["call_id"] for each in asked_items if each["type"] == "function_call"]
        answered = [
            each["call_id"] for each in asked_items if each["type"] == "function_call_output"
        ]
        assert called == answered
