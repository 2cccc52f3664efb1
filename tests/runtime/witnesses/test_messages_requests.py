"""Anthropic's types take what goes back to a model, and what older models are asked."""

import json
from typing import Any, Final

import msgspec
import pytest

from runtime.llm.messages_events import MODEL, call, events_of, text, thinking
from runtime.llm.transcripts import request
from runtime.witnesses.test_requests import EXAMPLES, complaints
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.model import Quirks, ShapeName
from turnwire_agent.llm.shapes import messages
from turnwire_agent.llm.transcript import Assistant, Call, Message, Reasoning, Text

OLDER: Final = msgspec.structs.replace(MODEL, quirks=Quirks(thinking="budget"))


def streamed(message: Message) -> Message:
    """An answer as this model would have sent it."""
    if not isinstance(message, Assistant):
        return message
    events: list[Any] = []
    for index, part in enumerate(message.parts):
        if isinstance(part, Text):
            events += text(index, *part.text)
        elif isinstance(part, Reasoning):
            events += thinking(index, part.text, "Ab+/==")
        elif isinstance(part, Call):
            events += call(index, part.id, part.name, *part.arguments)
    answer = Answer(MODEL)
    for event in events_of(*events, reason="tool_use" if message.calls else "end_turn"):
        answer.add(event)
    again = answer.message()
    assert again is not None
    assert again.parts == message.parts
    assert again.native is not None
    return again


@pytest.mark.timeout(600)
def test_what_a_model_sent_and_what_older_ones_are_asked_is_taken() -> None:
    bodies: list[tuple[ShapeName, Any]] = []
    for seed in range(EXAMPLES // 3):  # each is three requests
        asked = request(seed)
        transcript = tuple(streamed(message) for message in asked.transcript)
        for model, told in ((MODEL, transcript), (OLDER, transcript), (OLDER, asked.transcript)):
            again = msgspec.structs.replace(asked, transcript=told, temperature=None)
            encoded = messages.encode(model, again)
            bodies.append(("messages", json.loads(encoded.body)))

    kinds = {body.get("thinking", {}).get("type") for _, body in bodies}
    assert kinds == {None, "adaptive", "enabled", "disabled"}
    assert complaints(bodies) == []
