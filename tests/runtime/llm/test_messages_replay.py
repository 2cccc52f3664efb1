"""aimock refuses what Anthropic refuses: a tool loop whose thinking did not come back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest

from models.mock import mock
from runtime.llm.streams import read
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.request import Request, ToolSpec
from turnwire_agent.llm.shapes import messages
from turnwire_agent.llm.transcript import Assistant, Message, Result, Results, Text, User

pytestmark = [pytest.mark.sockets, pytest.mark.node]

MODEL: Final = Model(
    provider="anthropic",
    name="claude",
    shape="messages",
    base_url="",
    quirks=Quirks(thinking="budget"),
)
CALLS: Final = [{"id": f"toolu_{n}", "name": "weather", "arguments": {"n": n}} for n in range(2)]
FIXTURE: Final = {
    "match": {"userMessage": "weather"},
    "response": {
        "reasoning": "I should look.",
        "reasoningSignature": "Eq+/sig==",
        "redactedThinking": ["Em+/opaque=="],
        "toolCalls": CALLS,
    },
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path: Path = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    path.write_text(json.dumps({"fixtures": [FIXTURE]}))
    with mock(path) as url:
        yield url


def post(url: str, *transcript: Message, **more: Any) -> httpx.Response:
    tools = (ToolSpec("weather", "It looks.", {"type": "object"}),)
    request = Request(transcript=transcript, tools=tools, effort="low", **more)
    encoded = messages.encode(MODEL, request)
    headers = dict(encoded.headers) | {"content-type": "application/json", "x-aimock-strict": "1"}
    return httpx.post(f"{url}/v1{encoded.path}", content=encoded.body, headers=headers)


def answer(response: httpx.Response) -> Assistant:
    assert response.status_code == 200, response.text
    gathered = Answer(MODEL)
    for event in read(messages, MODEL, [response.content]):
        gathered.add(event)
    message = gathered.message()
    assert message is not None
    return message


def results(message: Assistant) -> Results:
    return Results(tuple(Result(call.id, call.name, (Text("sunny"),)) for call in message.calls))


def test_ten_steps_of_a_loop_think_and_go_on(url: str) -> None:
    transcript: list[Message] = [User((Text("weather"),))]
    for _ in range(10):
        message = answer(post(url, *transcript))
        assert message.native is not None
        blocks = json.loads(bytes(message.native.blocks))
        assert [each["type"] for each in blocks][-2:] == ["tool_use"] * 2
        assert {"type": "redacted_thinking", "data": "Em+/opaque=="} in blocks
        assert any(each.get("signature") == "Eq+/sig==" for each in blocks)
        transcript += [message, results(message)]
    assert post(url, *transcript, User((Text("weather"),))).status_code == 200


def test_a_loop_of_another_model_goes_on_without_thinking(url: str) -> None:
    message = answer(post(url, User((Text("weather"),))))
    other = msgspec.structs.replace(message, native=None)

    assert post(url, User((Text("weather"),)), other, results(other)).status_code == 200


def test_the_mock_refuses_a_loop_whose_thinking_did_not_come_back(url: str) -> None:
    message = answer(post(url, User((Text("weather"),))))
    assert message.native is not None
    blocks = json.loads(bytes(message.native.blocks))
    forged = [each | {"signature": ""} if "signature" in each else each for each in blocks]
    forged.sort(key=lambda each: "signature" not in each)
    native = msgspec.structs.replace(
        message.native, blocks=msgspec.Raw(json.dumps(forged).encode())
    )
    unsigned = msgspec.structs.replace(message, native=native)

    refused = post(url, User((Text("weather"),)), unsigned, results(unsigned))

    assert refused.status_code == 400
    assert "signature" in refused.text
