"""Chunks as the records that they become, to compare with what a test expects."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from turnwire.core import events
from turnwire.core.events import Event, Phase
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.translator import Translator

_WITHOUT_A_FLAG = {"tool-input-delta", "tool-approval-request"}
"""Tool chunks that have no field `providerExecuted`."""


def shown(chunks: Iterable[Chunk]) -> list[dict[str, Any]]:
    """The chunks as JSON, without the flag that tool chunks carry."""
    records: list[dict[str, Any]] = [msgspec.json.decode(msgspec.json.encode(c)) for c in chunks]
    for record in records:
        if record["type"].startswith("tool-"):
            flag = record.pop("providerExecuted", None)
            assert flag is (None if record["type"] in _WITHOUT_A_FLAG else True)
    return records


def brief(chunks: Iterable[Chunk]) -> list[str]:
    """The chunks in a word or two each."""
    return [" ".join(map(str, _values(record))) for record in shown(chunks)]


def _values(record: dict[str, Any]) -> list[Any]:
    return [value for key, value in record.items() if key != "toolName"]


def tool(phase: Phase, call_id: str = "c", name: str = "bash", **fields: Any) -> events.ToolUpdate:
    for field in ("args", "result"):
        if field in fields:
            fields[field] = Raw(msgspec.json.encode(fields[field]))
    return events.ToolUpdate(call_id=call_id, tool_name=name, phase=phase, **fields)


def started(*said: Event, **options: Any) -> Translator:
    """A translator in mid-turn, that was told these events."""
    translator = Translator(**options)
    for event in (events.TurnStarted("t"), *said):
        translator.feed(event)
    return translator
