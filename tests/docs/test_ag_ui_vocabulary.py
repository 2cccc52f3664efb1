"""Each event and each field of the protocol's published schemas is read, or listed as lost."""

import json
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played
from turnwire.core.recording.drift import Drift
from turnwire.core.requests import DialectOptions, StateMode
from turnwire.dialects.ag_ui.frames import KNOWN
from turnwire.dialects.ag_ui.schema import SCHEMA
from turnwire_lab.docs.lost import ANY, listed
from turnwire_lab.docs.lost.ag_ui import ROWS

VOCABULARY: Final[dict[str, dict[str, list[str]]]] = json.loads(
    (Path(__file__).parents[1] / "golden/vocabularies/ag-ui.json").read_text()
)
"""By version of the protocol: the fields of each type of event. `tests/agents` compares it."""
LOST: Final = listed(ROWS)
ALL: Final = [
    (version, kind, field)
    for version, events in VOCABULARY.items()
    for kind, fields in events.items()
    for field in fields
]
READ: Final = {
    str(frame.__struct_config__.tag): {
        field.encode_name for field in msgspec.structs.fields(frame) if field.encode_name != "type"
    }
    for frame in KNOWN
}


def test_both_generations_of_the_protocol_are_there() -> None:
    versions = [version.partition(".")[0] for version in VOCABULARY]

    assert sorted(versions) == ["0", "1"]
    assert len(VOCABULARY) == 2
    assert all(len(events) >= 31 for events in VOCABULARY.values())


@pytest.mark.parametrize("version", VOCABULARY)
def test_each_type_of_event_is_known(version: str) -> None:
    assert VOCABULARY[version].keys() - READ.keys() == set()


@pytest.mark.parametrize("version", VOCABULARY)
def test_each_field_is_read_or_listed_as_lost(version: str) -> None:
    assert [
        (kind, field)
        for each, kind, field in ALL
        if each == version
        and field not in READ[kind]
        and (kind, field) not in LOST
        and (ANY, field) not in LOST
    ] == []


def test_no_field_is_listed_that_the_protocol_has_not() -> None:
    told = {(kind, field) for _, kind, field in ALL} | {(ANY, field) for *_, field in ALL}

    assert LOST.keys() - told == set()


@pytest.mark.parametrize("version", VOCABULARY)
def test_no_field_of_the_protocol_is_drift(version: str) -> None:
    frames = [
        f.event(kind, **dict.fromkeys(fields, "x")) for kind, fields in VOCABULARY[version].items()
    ]

    assert Drift(SCHEMA).inspect(frames) == []


VALUE: Final = "told-7f3a"
"""What stands in the field."""
COUNTED: Final = {
    ("RUN_FINISHED", "result"): (f.finished(result=VALUE), "result of a run"),
    ("REASONING_ENCRYPTED_VALUE", "encryptedValue"): (
        f.event("REASONING_ENCRYPTED_VALUE", subtype="message", entityId="x", encryptedValue=VALUE),
        "REASONING_ENCRYPTED_VALUE",
    ),
    ("MESSAGES_SNAPSHOT", "messages"): (f.snapshot(f.assistant(VALUE)), "contradicted text"),
    ("STATE_SNAPSHOT", "snapshot"): (f.event("STATE_SNAPSHOT", snapshot=VALUE), "STATE_SNAPSHOT"),
    ("STATE_DELTA", "delta"): (f.event("STATE_DELTA", delta=[VALUE]), "STATE_DELTA"),
    ("ACTIVITY_SNAPSHOT", "content"): (
        f.event("ACTIVITY_SNAPSHOT", messageId="a", activityType="x", content=VALUE),
        "ACTIVITY_SNAPSHOT",
    ),
    ("ACTIVITY_DELTA", "patch"): (
        f.event("ACTIVITY_DELTA", messageId="a", patch=[VALUE]),
        "ACTIVITY_DELTA",
    ),
    ("SUBAGENT_FINISHED", "result"): (
        f.event("SUBAGENT_FINISHED", subagentRunId="s1", result=VALUE),
        "result of a subagent",
    ),
    ("RAW", "event"): (f.raw(data=VALUE), "RAW"),
    ("CUSTOM", "value"): (f.custom("progress", VALUE), "CUSTOM progress"),
}


def played(frame: bytes, **asked: Any) -> Played:
    return Played(f.started(), f.text("a"), f.text_end(), frame, f.finished(), **asked)


@pytest.mark.parametrize("lost", COUNTED, ids=".".join)
def test_content_that_nobody_is_shown_is_counted(lost: tuple[str, str]) -> None:
    frame, what = COUNTED[lost]
    turn = played(frame)

    assert f"`{what.partition(' progress')[0]}`" in LOST[lost]
    assert turn.protocol.frame_stats.left_out[what] >= 1
    assert turn.protocol.frame_stats.left_out_bytes > 0
    assert VALUE not in turn.written.decode()


@pytest.mark.parametrize(
    "frame",
    [
        f.finished(result=None),
        f.event("SUBAGENT_FINISHED", subagentRunId="s1", result=None),
        f.event("SUBAGENT_FINISHED", subagentRunId="s1"),
    ],
)
def test_a_result_that_is_none_is_not_counted(frame: bytes) -> None:
    assert played(frame).protocol.frame_stats.left_out == {}


def test_what_is_left_out_by_default_may_be_shown() -> None:
    shown = played(
        f.event("STATE_SNAPSHOT", snapshot=VALUE), options=DialectOptions(state=StateMode.PARTS)
    )

    assert VALUE in shown.written.decode()
    assert shown.protocol.frame_stats.left_out == {}


@pytest.mark.parametrize(
    ("version", "noted"), [("1.0", "1.0"), (None, None), (7, None), ("x" * 5_000, None)]
)
def test_the_version_that_an_agent_names_is_noted(version: Any, noted: str | None) -> None:
    started = f.event("RUN_STARTED", runId=f.RUN, threadId=f.THREAD, protocolVersion=version)

    assert Played(started).protocol.frame_stats.protocol_version == noted
