import json
from typing import Any

import msgspec

from runtime.llm.transcripts import PNG, SCHEMA, request
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.request import OneTool, Request, ToolSpec
from turnwire_agent.llm.shapes import google
from turnwire_agent.llm.shapes.google.request import MODES
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

MODEL = Model(provider="google", name="gemini", shape="google", base_url="https://example.com/v1")
HI = User((Text("hi"),))


def asked(*messages: Message, model: Model = MODEL, **more: Any) -> dict[str, Any]:
    encoded = google.encode(model, Request(transcript=messages, **more))
    body: dict[str, Any] = json.loads(encoded.body)
    return body


def losses(*messages: Message, **more: Any) -> tuple[Loss, ...]:
    return google.encode(MODEL, Request(transcript=messages, **more)).losses


def test_the_least_request_byte_for_byte() -> None:
    encoded = google.encode(MODEL, Request(transcript=(HI,)))

    assert encoded.path == "/models/gemini:streamGenerateContent?alt=sse"
    assert encoded.body == b'{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
    assert encoded.losses == ()


def test_a_tuned_model_has_a_path_of_its_own_and_no_name_leaves_it() -> None:
    def path(name: str) -> str:
        model = msgspec.structs.replace(MODEL, name=name)
        return google.encode(model, Request(transcript=(HI,))).path

    assert path("tunedModels/a") == "/tunedModels/a:streamGenerateContent?alt=sse"
    assert path("a?b#c") == "/models/a%3Fb%23c:streamGenerateContent?alt=sse"


def test_all_that_a_request_can_ask() -> None:
    tools = (ToolSpec("search", "It searches.", SCHEMA, strict=True), ToolSpec("t", "", SCHEMA))
    body = asked(
        HI,
        instructions="Be brief.",
        tools=tools,
        tool_choice=OneTool("t"),
        max_tokens=10,
        temperature=0.0,
        top_p=0.5,
        stop=("END",),
        effort="low",
        answer_schema=SCHEMA,
    )

    declared = body["tools"][0]["functionDeclarations"]
    assert [tool.pop("parametersJsonSchema") for tool in declared] == [SCHEMA, SCHEMA]
    assert body["generationConfig"].pop("responseJsonSchema") == SCHEMA
    del body["contents"]
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "search", "description": "It searches."},
                    {"name": "t", "description": ""},
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["t"]}},
        "generationConfig": {
            "maxOutputTokens": 10,
            "temperature": 0.0,
            "topP": 0.5,
            "stopSequences": ["END"],
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
            "responseMimeType": "application/json",
        },
    }
    for choice, mode in MODES.items():
        calling = asked(HI, tools=tools, tool_choice=choice)["toolConfig"]["functionCallingConfig"]
        assert calling == {"mode": mode}
    assert losses(HI, tools=tools, parallel_tools=False) == (
        Loss("parallel_tools", "dropped", "the wire cannot forbid it"),
    )


def test_a_user_has_texts_pictures_and_files() -> None:
    parts = (
        Text("see"),
        Text(""),
        Image("image/png", PNG[:3]),
        File("audio/wav", b"wav"),
        File("application/pdf", url="https://example.com/a.pdf"),
    )

    assert asked(User(parts), User(()))["contents"] == [
        {
            "role": "user",
            "parts": [
                {"text": "see"},
                {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
                {"inlineData": {"mimeType": "audio/wav", "data": "d2F2"}},
                {
                    "fileData": {
                        "mimeType": "application/pdf",
                        "fileUri": "https://example.com/a.pdf",
                    }
                },
            ],
        }
    ]


def test_an_answer_with_calls_and_their_results() -> None:
    answer = Assistant(
        (
            Reasoning("hm"),
            Text("one"),
            Text(""),
            Call("c1", "t", '{"a":1}'),
            Call("c2", "t", '{"broken'),
            Call("c3", "t", "[1]"),
            Image("image/png", PNG[:3]),
        )
    )
    results = Results(
        (
            Result("c1", "t", (Text("it"), Image("image/png", PNG[:3])), "failed"),
            Result("c2", "t", (Text("yes"),)),
        )
    )
    _, told, answered = asked(HI, answer, results)["contents"]

    assert told == {
        "role": "model",
        "parts": [
            {"text": "one"},
            # The first call needs a signature: another model's has none.
            {
                "functionCall": {"name": "t", "args": {"a": 1}},
                "thoughtSignature": "skip_thought_signature_validator",
            },
            {"functionCall": {"name": "t", "args": {"INVALID_JSON": '{"broken'}}},
            {"functionCall": {"name": "t", "args": {"INVALID_JSON": "[1]"}}},
            {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
        ],
    }
    failed = {"name": "t", "response": {"error": "This call failed.\nit"}}
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}
    assert answered == {
        "role": "user",
        "parts": [
            {"functionResponse": failed},
            {"functionResponse": {"name": "t", "response": {"output": "yes"}}},
            {"text": "From the result of t:"},
            picture,
        ],
    }
    assert [loss.where for loss in losses(HI, answer, results)] == [
        "messages[1].reasoning",
        "messages[1].arguments",
        "messages[1].arguments",
        "messages[2]",
    ]
    newer = msgspec.structs.replace(MODEL, quirks=Quirks(result_images=True))
    assert asked(HI, answer, results, model=newer)["contents"][2]["parts"][0] == {
        "functionResponse": failed | {"parts": [picture]}
    }


def test_its_own_answer_goes_back_byte_for_byte_with_the_ids_it_gave() -> None:
    blocks = (
        b'[{"functionCall":{"id":"g1","name":"t","args":{}},"thoughtSignature" : "s=="},'
        b'{"functionCall":{"name":"t","args":{}}}]'
    )
    native = Native("google", "google", "gemini", msgspec.Raw(blocks))
    answer = Assistant((Call("g1", "t"), Call("call-1", "t")), native)
    results = Results((Result("g1", "t", (Text("1"),)), Result("call-1", "t", (Text("2"),))))
    encoded = google.encode(MODEL, Request(transcript=(HI, answer, results)))

    assert b'{"role":"model","parts":' + blocks in encoded.body
    parts = json.loads(encoded.body)["contents"][2]["parts"]
    assert [part["functionResponse"].get("id") for part in parts] == ["g1", None]
    assert encoded.losses == ()
    other = msgspec.structs.replace(MODEL, provider="another")
    encoded = google.encode(other, Request(transcript=(HI, answer, results)))
    assert b"g1" not in encoded.body
    assert b"s==" not in encoded.body


def test_arguments_of_any_depth_and_odd_native_blocks_are_sent() -> None:
    deep = Assistant((Call("c", "t", '{"a":' + "[" * 100_000),))
    (part,) = asked(HI, deep)["contents"][1]["parts"]
    assert list(part["functionCall"]["args"]) == ["INVALID_JSON"]

    blocks = b'[{"functionCall":5},{"functionCall":{"id":[]}},1]'
    odd = Assistant((), Native("google", "google", "gemini", msgspec.Raw(blocks)))
    results = Results((Result("c", "t"),))
    assert asked(HI, odd, results)["contents"][1]["parts"] == json.loads(blocks)


def test_any_transcript_can_be_sent() -> None:
    for seed in range(500):
        contents = json.loads(google.encode(MODEL, request(seed)).body)["contents"]
        parts = [part for content in contents for part in content["parts"]]
        called = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        answered = [
            part["functionResponse"]["name"] for part in parts if "functionResponse" in part
        ]
        assert called == answered
