"""Each chunk and each field of the AI SDK's own schema is read, or listed as lost."""

import json
from typing import Any, Final

import pytest

from docs.lost_rows import claims, invented, is_counted, silent, unlisted
from support.ui_stream_turn import Played
from support.vocabulary import fields_by_tag, fields_of, types, vocabulary
from turnwire.core.recording.drift import Drift
from turnwire.dialects.ui_stream.frames import KNOWN, DataPart
from turnwire.dialects.ui_stream.schema import SCHEMA
from turnwire_lab.docs.lost import listed
from turnwire_lab.docs.lost.ui_stream import ROWS

LOST: Final = listed(ROWS)
WIRE: Final = "ui-stream"
DATA: Final = "data-*"
READ: Final = fields_by_tag(KNOWN) | {DATA: fields_of(DataPart)}
VALUE: Final = "told-7f3a"
"""What stands in a field that is lost."""


def chunk(kind: str, /, **fields: Any) -> bytes:
    return json.dumps({"type": kind.replace("*", "x"), **fields}).encode()


def test_all_majors_of_the_sdk_are_there() -> None:
    versions = vocabulary(WIRE)

    assert [version.partition(".")[0] for version in versions] == ["5", "6", "7"]
    assert all(len(chunks) >= 22 for chunks in versions.values())


def test_each_chunk_and_each_field_is_read_or_listed_as_lost() -> None:
    assert unlisted(types(WIRE), READ, LOST) == []


def test_nothing_is_listed_that_the_sdk_has_not() -> None:
    assert invented(types(WIRE), LOST) == []


def test_no_chunk_of_the_sdk_is_drift() -> None:
    frames = [chunk(kind, **dict.fromkeys(fields, "x")) for kind, fields in types(WIRE).items()]

    assert Drift(SCHEMA).inspect(frames) == []


CALL: Final = {"toolCallId": "c1", "toolName": "ls", "input": {}}
WHOLE: Final[dict[str, Any]] = {
    "tool-input-start": CALL,
    "tool-input-available": CALL,
    "tool-input-error": CALL | {"errorText": "no"},
    "tool-output-available": CALL | {"output": 1},
    "tool-output-error": CALL | {"errorText": "no"},
    "tool-approval-request": {"approvalId": "a1", "toolCallId": "c1"},
    "text-delta": {"id": "t1", "delta": "a"},
    "reasoning-delta": {"id": "t1", "delta": "a"},
    "source-url": {"sourceId": "s1", "url": "https://example.com"},
    "file": {"url": "https://example.com/a.png", "mediaType": "image/png"},
}
"""What a chunk must have, by its type."""


def played(kind: str, /, **fields: Any) -> Played:
    before = [chunk("start"), chunk("tool-input-available", **CALL)]
    return Played(*before, chunk(kind, **{**fields, **WHOLE.get(kind, {})}), chunk("finish"))


@pytest.mark.parametrize("lost", sorted(claims(LOST)), ids=" ".join)
def test_what_is_listed_as_counted_is_counted(lost: tuple[str, str]) -> None:
    kind, _ = lost
    turn = played(kind, **dict.fromkeys(types(WIRE)[kind], VALUE) | {"isAutomatic": True})

    assert is_counted(turn.protocol.frame_stats, kind, LOST[lost])
    assert VALUE not in turn.written.decode()


@pytest.mark.parametrize("lost", sorted(silent(LOST)), ids=" ".join)
def test_clients_get_nothing_of_what_is_listed_as_lost(lost: tuple[str, str]) -> None:
    kind, field = lost
    turn = played(kind, **{field: VALUE})

    assert turn.protocol.frame_stats.malformed == 0
    assert turn.protocol.frame_stats.left_out == {}
    assert VALUE not in turn.written.decode()
