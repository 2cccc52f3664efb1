"""The events of AG-UI 1.0 that the agent sends, as server-sent events."""

from typing import Any

import msgspec

from turnwire_lab.agents.common.frames import Json


def encode(kind: str, **fields: Any) -> bytes:
    """One event; its fields are named as on the wire."""
    return b"data: %b\n\n" % msgspec.json.encode({"type": kind, **fields})


def started(thread_id: str, run_id: str) -> bytes:
    return encode("RUN_STARTED", threadId=thread_id, runId=run_id, protocolVersion="1.0")


def finished(thread_id: str, run_id: str, interrupts: list[Json] | None = None) -> bytes:
    """The end of a run, with what it waits for."""
    outcome: Json = {"type": "success"}
    if interrupts:
        outcome = {"type": "interrupt", "interrupts": interrupts}
    return encode("RUN_FINISHED", threadId=thread_id, runId=run_id, outcome=outcome)


def failed(message: str) -> bytes:
    return encode("RUN_ERROR", message=message)
