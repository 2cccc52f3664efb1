"""Each event, item and field of the `openai` package is read, or listed as lost."""

from typing import Any, Final

import pytest

from docs.lost_rows import claims, invented, is_counted, silent, unlisted
from support import openai_responses_frames as f
from support.openai_turn import Played
from support.vocabulary import fields_by_tag, fields_of, types
from turnwire.core.recording.drift import Drift
from turnwire.dialects.openai_responses import OpenAiResponses, frames, items, turn
from turnwire.dialects.openai_responses.schema import SCHEMA
from turnwire_lab.docs.lost import ALL, listed
from turnwire_lab.docs.lost.openai_responses import ROWS

LOST: Final = listed(ROWS)
TYPES: Final = types("openai-responses")
ITEMS: Final = sorted(kind for kind in TYPES if kind.startswith("item."))
PARTS: Final = sorted(kind for kind in TYPES if kind.startswith("part."))
EVENTS: Final = sorted(kind for kind in TYPES if kind.startswith("response.") or kind == "error")
READ: Final[dict[str, Any]] = {
    **fields_by_tag(frames.KNOWN),
    "response": fields_of(turn._Response),
    **dict.fromkeys(ITEMS, fields_of(items.Item)),
    **dict.fromkeys(PARTS, fields_of(items.Part)),
    "annotation.url_citation": fields_of(items.Annotation),
}
"""What is read of each event, and of what stands in it."""
VALUE: Final = "told-7f3a"
"""What stands in a field that is lost."""


def test_each_event_and_each_field_is_read_or_listed_as_lost() -> None:
    assert unlisted(TYPES, READ, LOST) == []


def test_nothing_is_listed_that_the_package_has_not() -> None:
    assert invented(TYPES, LOST) == []


def test_no_event_of_the_package_is_drift() -> None:
    frames = [f.event(kind, **dict.fromkeys(TYPES[kind], VALUE)) for kind in EVENTS]

    assert len(frames) == 53
    assert Drift(SCHEMA).inspect(frames) == []


CALL: Final = {"call_id": "c1", "name": "ls", "arguments": "{}", "input": "a"}
TEXT: Final = {"type": "output_text", "text": "a", "annotations": []}
WHOLE: Final[dict[str, Any]] = {
    "item.message": {"content": [TEXT]},
    "item.reasoning": {"summary": [{"type": "summary_text", "text": "a"}], "content": []},
    "item.mcp_approval_response": {"approval_request_id": "mcpr_1"},
    "response.output_text.delta": {"delta": "a"},
    "response.output_text.done": {"text": "a"},
    "response.output_text.annotation.added": {
        "annotation": {"type": "url_citation", "url": "https://example.com"}
    },
    "response.function_call_arguments.done": {"arguments": "{}"},
    "annotation.url_citation": {"url": "https://example.com"},
}
"""What an event, an item or a citation must have."""


NO_FAILURE: Final[dict[str, Any]] = {"item.mcp_list_tools": {"error": None}}


def played(kind: str, fields: dict[str, Any]) -> Played:
    """A turn that has one event or item of this kind with these fields beside its own."""
    group, _, name = kind.partition(".")
    if group == "item":
        needed = WHOLE.get(kind, CALL)
        item = {**fields, "id": "i1", **needed, "type": name}
        before = [f.item_done(f.call(), 1)] if items.OUTPUT in name else []
        return _played(*before, f.added(item, 2), f.item_done(item, 2))
    if group in {"part", "annotation"}:
        part = TEXT | (fields if group == "part" else {})
        if group == "annotation":
            part["annotations"] = [{**fields, **WHOLE.get(kind, {}), "type": name}]
        return _played(f.item_done({"type": "message", "content": [part]}))
    if kind == "response":
        return Played(OpenAiResponses(), f.created(), f.text("a"), f.completed(**fields))
    return _played(f.event(kind, **{**fields, **WHOLE.get(kind, {})}))


def _played(*frames: bytes) -> Played:
    return Played(OpenAiResponses(), f.created(), *frames, f.completed())


@pytest.mark.parametrize("lost", sorted(claims(LOST)), ids=" ".join)
def test_what_is_listed_as_counted_is_counted(lost: tuple[str, str]) -> None:
    kind, _ = lost
    found = played(kind, dict.fromkeys(TYPES[kind], VALUE) | NO_FAILURE.get(kind, {}))

    assert is_counted(found.protocol.frame_stats, kind, LOST[lost])
    assert VALUE not in found.written.decode() or kind == "error"


def test_a_list_of_tools_that_failed_is_counted_as_such() -> None:
    found = played("item.mcp_list_tools", {"error": VALUE})

    assert found.left_out == {"list of tools that failed": 1}


WHOLE_EVENTS: Final = sorted(
    kind for (kind, field), becomes in LOST.items() if field == ALL and "nothing" in becomes
)


@pytest.mark.parametrize(
    ("kind", "field"), [*silent(LOST), *((kind, ALL) for kind in WHOLE_EVENTS)]
)
def test_clients_get_nothing_of_what_is_listed_as_lost(kind: str, field: str) -> None:
    found = played(kind, dict.fromkeys(TYPES[kind] if field == ALL else [field], VALUE))

    assert found.protocol.frame_stats.malformed == 0
    assert found.left_out.keys() <= {"call that nobody ran"}
    assert VALUE not in found.written.decode()
