"""An agent that speaks AG-UI, read and translated by hand."""

import uuid
from typing import Any

from turnwire_lab.bench.peers.httpx_by_hand import app_of


def body_of(text: str) -> dict[str, Any]:
    """A run."""
    run_id = uuid.uuid4().hex
    return {
        "threadId": run_id,
        "runId": run_id,
        "messages": [{"id": "prompt", "role": "user", "content": text}],
        "tools": [],
        "context": [],
        "state": {},
        "forwardedProps": {},
    }


def chunks(event: dict[str, Any]) -> list[dict[str, Any]]:
    """What an event is worth."""
    match event["type"]:
        case "TEXT_MESSAGE_START":
            message_id = event["messageId"]
            return [
                {"type": "start", "messageId": message_id},
                {"type": "start-step"},
                {"type": "text-start", "id": message_id},
            ]
        case "TEXT_MESSAGE_CONTENT":
            return [{"type": "text-delta", "id": event["messageId"], "delta": event["delta"]}]
        case "TEXT_MESSAGE_END":
            return [{"type": "text-end", "id": event["messageId"]}]
        case "RUN_FINISHED":
            return [{"type": "finish-step"}, {"type": "finish"}]
        case _:
            return []


app = app_of(body_of, chunks)
