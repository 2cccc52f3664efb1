import json
from typing import Any

import msgspec
import pytest

from runtime.llm.transcripts import PNG, SCHEMA, request
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.request import OneTool, Request, ToolSpec
from turnwire_agent.llm.shape import UnsendableError
from turnwire_agent.llm.shapes import chat
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

MODEL = Model(provider="openai", name="gpt", shape="chat", base_url="https://example.com/v1")
HI = User((Text("hi"),))


def asked(*messages: Message, quirks: Quirks | None = None, **more: Any) -> dict[str, Any]:
    model = msgspec.structs.replace(MODEL, quirks=quirks or Quirks())
    encoded = chat.encode(model, Request(transcript=messages, **more))
    body: dict[str, Any] = json.loads(encoded.body)
    return body


def losses(*messages: Message, **more: Any) -> tuple[Loss, ...]:
    return chat.encode(MODEL, Request(transcript=messages, **more)).losses


def test_the_least_request_byte_for_byte() -> None:
    encoded = chat.encode(MODEL, Request(transcript=(HI,)))

    assert encoded.path == "/chat/completions"
    assert encoded.body == (
        b'{"model":"gpt","messages":[{"role":"user","content":"hi"}],"stream":true,'
        b'"stream_options":{"include_usage":true}}'
    )
    assert encoded.headers == ()
    assert encoded.losses == ()


def test_all_that_a_request_can_ask() -> None:
    tools = (ToolSpec("search", "It searches.", SCHEMA, strict=True), ToolSpec("t", "", SCHEMA))
    body = asked(
        HI,
        instructions="Be brief.",
        tools=tools,
        tool_choice="required",
        parallel_tools=False,
        max_tokens=10,
        temperature=0.0,
        top_p=0.5,
        stop=("END",),
        effort="low",
        answer_schema=SCHEMA,
    )

    assert body.pop("messages")[0] == {"role": "system", "content": "Be brief."}
    assert [tool["function"].pop("parameters") for tool in body["tools"]] == [SCHEMA, SCHEMA]
    assert body == {
        "model": "gpt",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "search", "description": "It searches.", "strict": True},
            },
            {"type": "function", "function": {"name": "t", "description": ""}},
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "reasoning_effort": "low",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA},
        },
        "max_completion_tokens": 10,
        "temperature": 0.0,
        "top_p": 0.5,
        "stop": ["END"],
    }


def test_one_tool_can_be_chosen() -> None:
    body = asked(HI, tools=(ToolSpec("t", "", SCHEMA),), tool_choice=OneTool("t"))

    assert body["tool_choice"] == {"type": "function", "function": {"name": "t"}}
    assert "parallel_tool_calls" not in body


def test_quirks_of_a_server() -> None:
    quirks = Quirks(
        max_tokens_field="max_tokens",
        stream_usage=False,
        effort_field=False,
        strict_tools=False,
        system_role="developer",
    )
    tools = (ToolSpec("t", "", SCHEMA, strict=True),)
    body = asked(HI, quirks=quirks, instructions="x", tools=tools, max_tokens=1, effort="low")

    assert body["messages"][0]["role"] == "developer"
    assert body["max_tokens"] == 1
    assert "strict" not in body["tools"][0]["function"]
    assert not {"stream_options", "reasoning_effort", "max_completion_tokens"} & set(body)
    model = msgspec.structs.replace(MODEL, quirks=quirks)
    told = chat.encode(model, Request(transcript=(HI,), effort="low")).losses
    assert told == (Loss("effort", "dropped", "the server does not know it"),)


def test_a_user_has_texts_pictures_and_files() -> None:
    parts = (
        Text("see"),
        Text(""),
        Image("image/png", PNG[:3]),
        Image("image/png", url="https://example.com/a.png"),
        File("application/pdf", b"%PDF", name="a.pdf"),
        File("application/pdf", b"%PDF"),
        File("audio/mpeg", b"mp3"),
        File("text/csv", "ä,b".encode()),
    )
    (message,) = asked(User(parts))["messages"]

    assert message["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
        },
        {
            "type": "file",
            "file": {"filename": "file.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
        },
        {"type": "input_audio", "input_audio": {"data": "bXAz", "format": "mp3"}},
        {"type": "text", "text": "ä,b"},
    ]
    assert [loss.where for loss in losses(User(parts))] == ["messages[0].parts[7]"]


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (File("application/x-foo", b"1"), "messages[1].parts[1]: application/x-foo cannot be sent"),
        (
            File("application/pdf", url="https://example.com/a"),
            "application/pdf cannot be sent by its URL",
        ),
    ],
)
def test_what_the_wire_has_no_place_for_is_named(file: File, why: str) -> None:
    with pytest.raises(UnsendableError) as error:
        asked(HI, User((Text("secret"), file)))

    assert why in str(error.value)
    assert "secret" not in str(error.value)


def test_an_answer_with_calls_and_their_results() -> None:
    answer = Assistant(
        (
            Reasoning("hm"),
            Text("one"),
            Text("two"),
            Call("c/1", "t", '{"broken'),
            Call("c2", "t", ""),
            Image("image/png", PNG),
        )
    )
    results = Results(
        (
            Result("c/1", "t", (Text("it"), Image("image/png", PNG[:3])), "failed"),
            Result("c2", "t", (), "unknown"),
        )
    )
    _, told, first, second, pictures = asked(HI, answer, results)["messages"]
    first_id = told["tool_calls"][0]["id"]
    first_arguments = told["tool_calls"][0]["function"]["arguments"]
    assert json.loads(first_arguments) == {"INVALID_JSON": '{"broken'}

    assert told == {
        "role": "assistant",
        "content": "one\n\ntwo",
        "tool_calls": [
            {
                "id": first_id,
                "type": "function",
                "function": {"name": "t", "arguments": first_arguments},
            },
            {"id": "c2", "type": "function", "function": {"name": "t", "arguments": "{}"}},
        ],
    }
    assert first == {
        "role": "tool",
        "tool_call_id": first_id,
        "content": "This call failed.\nit",
    }
    assert second["content"].startswith("It is not known whether this call ran.")
    assert pictures["role"] == "user"
    assert pictures["content"][0]["text"] == f"From the result of the call {first_id}:"
    assert pictures["content"][1]["type"] == "image_url"
    assert [loss.where for loss in losses(HI, answer, results)] == [
        "messages[1].reasoning",
        "messages[1].files",
        "messages[1].arguments",
        "messages[2]",
    ]


def test_a_server_may_take_pictures_in_a_result() -> None:
    answer = Assistant((Call("c", "t"),))
    results = Results((Result("c", "t", (Text("it"), Image("image/png", PNG[:3]))),))
    messages = asked(HI, answer, results, quirks=Quirks(result_images=True))["messages"]

    assert "content" not in messages[1]
    assert [part["type"] for part in messages[2]["content"]] == ["text", "image_url"]
    assert len(messages) == 3


def test_a_message_of_nothing_is_not_sent() -> None:
    empty = (User((Text(""),)), Assistant((Text(""),)))

    assert asked(HI, *empty)["messages"] == asked(HI)["messages"]
    assert losses(HI, *empty) == tuple(
        Loss(f"messages[{at}]", "dropped", "there is nothing in it") for at in (1, 2)
    )


def test_its_own_answer_goes_back_byte_for_byte_and_ids_stay_as_they_were() -> None:
    blocks = b'[{"role":"assistant", "x":1.50, "tool_calls":[{"id":"' + b"i" * 60 + b'"}]}]'
    native = Native("chat", "openai", "gpt", msgspec.Raw(blocks))
    answer = Assistant((Reasoning("hm"), Call("i" * 60, "t")), native)
    results = Results((Result("i" * 60, "t", (Text("it"),)),))
    encoded = chat.encode(MODEL, Request(transcript=(HI, answer, results)))

    assert blocks[1:-1] in encoded.body
    assert json.loads(encoded.body)["messages"][2]["tool_call_id"] == "i" * 60
    assert encoded.losses == ()
    for other in ("provider", "name"):
        model = msgspec.structs.replace(MODEL, **{other: "another"})
        encoded = chat.encode(model, Request(transcript=(HI, answer, results)))
        assert blocks[1:-1] not in encoded.body
        assert [loss.what for loss in encoded.losses] == ["dropped"]
        assert len(json.loads(encoded.body)["messages"][2]["tool_call_id"]) == 40


def test_half_a_character_costs_itself_alone() -> None:
    assert asked(User((Text("a\ud800b"), Text("ü"))))["messages"][0]["content"] == [
        {"type": "text", "text": "a\ufffdb"},
        {"type": "text", "text": "ü"},
    ]


def test_any_transcript_can_be_sent() -> None:
    for seed in range(500):
        body = json.loads(chat.encode(MODEL, request(seed)).body)
        called = [each["id"] for each in body["messages"] for each in each.get("tool_calls", [])]
        answered = [each["tool_call_id"] for each in body["messages"] if each["role"] == "tool"]
        assert called == answered
