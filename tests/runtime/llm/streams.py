"""Streams of server-sent events, as bytes, and what a shape reads in them."""

import json
from collections.abc import Iterable
from types import ModuleType

from turnwire_agent.llm.events import Event
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.sse import EventReader


def sse(*events: object, named: bool = False, end: str = "\n") -> bytes:
    """A body: a string is data as it is, anything else JSON; `named` writes its `type` too."""
    text = ""
    for event in events:
        if named and isinstance(event, dict):
            text += f"event: {event['type']}{end}"
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        text += f"data: {data}{end}{end}"
    return text.encode()


def read(
    shape: ModuleType, model: Model, chunks: Iterable[bytes], made_ids: str = "call"
) -> list[Event]:
    """All that a body says, with its end."""
    reader = EventReader()
    decoder = shape.decoder(model, made_ids)
    events: list[Event] = []
    for chunk in chunks:
        for event in reader.feed(chunk):
            events += decoder.event(event)
    events += decoder.end()
    return events
