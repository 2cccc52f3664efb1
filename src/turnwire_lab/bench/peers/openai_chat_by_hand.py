"""An agent that speaks Chat Completions, read and translated by hand."""

from typing import Any

from turnwire_lab.bench.peers.httpx_by_hand import app_of


def body_of(text: str) -> dict[str, Any]:
    """A request for a completion."""
    return {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]}


def chunks(event: dict[str, Any]) -> list[dict[str, Any]]:
    """What a chunk of a completion is worth."""
    message_id, choice = event["id"], event["choices"][0]
    if choice["finish_reason"]:
        return [{"type": "text-end", "id": message_id}, {"type": "finish-step"}, {"type": "finish"}]
    delta = choice["delta"]
    if "role" in delta:
        return [
            {"type": "start", "messageId": message_id},
            {"type": "start-step"},
            {"type": "text-start", "id": message_id},
        ]
    return [{"type": "text-delta", "id": message_id, "delta": delta["content"]}]


app = app_of(body_of, chunks)
