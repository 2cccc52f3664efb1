"""Frames of the `v2` wire, as an agent would write them."""

import json
from typing import Any

Json = dict[str, Any]

TURN = "turn-1"


def create(prompt_id: str | None = None, turn: str = TURN, **more: Any) -> Json:
    named = {} if prompt_id is None else {"promptId": prompt_id}
    return {"type": "message.create", "turnId": turn, **named, **more}


def delta(text: str, turn: str = TURN) -> Json:
    return {"type": "message.part.text-delta", "turnId": turn, "delta": text}


def chunk_text(text: str, turn: str = TURN) -> Json:
    return {"type": "chunk", "content": text, "messageId": turn}


def finalize(turn: str = TURN, **more: Any) -> Json:
    return {"type": "message.finalize", "turnId": turn, "reason": "end_turn", **more}


def running_tool(turn: str = TURN) -> Json:
    return {
        "type": "message.part.tool-update",
        "turnId": turn,
        "callId": "c1",
        "toolName": "search",
        "status": "running",
        "args": {},
    }


def text(frame: Json) -> str:
    return json.dumps(frame, separators=(",", ":"))


def raw(
    payload: bytes, *, opcode: int = 1, fin: bool = True, rsv: int = 0, mask: bool = False
) -> bytes:
    """One WebSocket frame as the server's side would write it, or as it never should."""
    head = bytes([fin << 7 | rsv << 4 | opcode])
    size = len(payload)
    masked = mask << 7
    if size < 126:
        head += bytes([masked | size])
    elif size < 65_536:
        head += bytes([masked | 126]) + size.to_bytes(2, "big")
    else:
        head += bytes([masked | 127]) + size.to_bytes(8, "big")
    return head + (b"\0\0\0\0" if mask else b"") + payload
