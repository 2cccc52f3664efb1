"""Bodies of requests that `messages` writes."""

import json
from typing import Any

import msgspec

from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shape import Encoded
from turnwire_agent.llm.shapes import messages
from turnwire_agent.llm.transcript import Assistant, Call, Message, Native, Reasoning, Text, User

MODEL = Model(provider="anthropic", name="claude", shape="messages", base_url="https://e.com/v1")
HI = User((Text("hi"),))
HI_BLOCK = {"type": "text", "text": "hi"}


def encoded(*told: Message, quirks: Quirks | None = None, **more: Any) -> Encoded:
    model = msgspec.structs.replace(MODEL, quirks=quirks or Quirks())
    return messages.encode(model, Request(transcript=told, **more))


def asked(*told: Message, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(encoded(*told, **more).body)
    return body


def native(blocks: bytes, *parts: Text | Reasoning | Call) -> Assistant:
    return Assistant(parts, Native("messages", "anthropic", "claude", msgspec.Raw(blocks)))
