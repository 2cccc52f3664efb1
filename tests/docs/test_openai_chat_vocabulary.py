"""Each field of a chunk of the `openai` package is read, or listed as lost."""

import json
from typing import Any, Final

import pytest

from docs.lost_rows import claims, invented, is_counted, silent, unlisted
from support import openai_chat_frames as f
from support.openai_turn import Played
from support.vocabulary import fields_of, types
from turnwire.core.recording.drift import Drift
from turnwire.dialects.openai_chat import OpenAiChat, frames
from turnwire.dialects.openai_chat.schema import SCHEMA
from turnwire_lab.docs.lost import listed
from turnwire_lab.docs.lost.openai_chat import ROWS

LOST: Final = listed(ROWS)
TYPES: Final = types("openai-chat")
CALLS: Final = "chunk.choices.delta.tool_calls"
READ: Final[dict[str, Any]] = {
    "chunk": fields_of(frames.Chunk),
    "chunk.choices": fields_of(frames.Choice),
    "chunk.choices.delta": fields_of(frames.Delta),
    "chunk.choices.delta.function_call": fields_of(frames.Function),
    CALLS: fields_of(frames.ToolCall),
    f"{CALLS}.function": fields_of(frames.Function),
    # The usage is handed on whole.
    **{kind: TYPES[kind] for kind in TYPES if kind.startswith("chunk.usage")},
}
"""What is read of each object of a chunk."""
VALUE: Final = "told-7f3a"
"""What stands in a field that is lost."""


def whole(path: str) -> dict[str, Any]:
    """An object with all of its fields, and with all that is in them."""
    found: dict[str, Any] = {}
    for field in TYPES[path]:
        inner = f"{path}.{field}"
        value: Any = whole(inner) if inner in TYPES else VALUE
        found[field] = [value] if field in {"choices", "tool_calls"} else value
    return found


def test_each_field_is_read_or_listed_as_lost() -> None:
    assert unlisted(TYPES, READ, LOST) == []


def test_nothing_is_listed_that_the_package_has_not() -> None:
    assert invented(TYPES, LOST) == []


def test_no_field_of_the_package_is_drift() -> None:
    assert Drift(SCHEMA).inspect([json.dumps(whole("chunk")).encode()]) == []


def test_the_usage_is_handed_on_whole() -> None:
    usage = whole("chunk.usage")
    turn = Played(OpenAiChat(), f.text("a"), f.finished(), f.usage(**usage), f.DONE)

    assert turn.chunks[-1]["messageMetadata"]["usage"] == usage


def played(path: str, field: str, value: Any) -> Played:
    """A turn with a chunk that has this field in the object at this path."""
    call = f.head()
    choice: dict[str, Any] = {"index": 0, "delta": {"content": "a", "tool_calls": [call]}}
    given: dict[str, Any] = {"choices": [choice]}
    found = {"chunk": given, "chunk.choices": choice, "chunk.choices.delta": choice["delta"]}
    (found | {CALLS: call})[path][field] = value
    return Played(OpenAiChat(), f.event(**given), f.finished(), f.DONE)


@pytest.mark.parametrize("lost", sorted(claims(LOST)), ids=" ".join)
def test_what_is_listed_as_counted_is_counted(lost: tuple[str, str]) -> None:
    turn = played(*lost, 1 if lost[1] == "index" else {"content": [VALUE]})

    assert is_counted(turn.protocol.frame_stats, lost[0], LOST[lost])
    assert VALUE not in turn.written.decode()


@pytest.mark.parametrize("lost", sorted(silent(LOST)), ids=" ".join)
def test_clients_get_nothing_of_what_is_listed_as_lost(lost: tuple[str, str]) -> None:
    turn = played(*lost, VALUE)

    assert turn.protocol.frame_stats.malformed == 0
    assert turn.left_out.keys() <= {"call that nobody ran"}
    assert VALUE not in turn.written.decode()
    assert turn.of_call()[-1]["type"] == "tool-output-error"
