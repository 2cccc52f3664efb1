"""The schema of this wire: it names events and fields that exist, and every event is in it."""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.schemas import unknown_paths
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import Redactor
from turnwire.dialects.ag_ui.frames import KNOWN
from turnwire.dialects.ag_ui.schema import SCHEMA

TYPES = {str(frame.__struct_config__.tag) for frame in KNOWN}


def test_all_events_are_in_it_under_their_types() -> None:
    assert {str(frame.__struct_config__.tag) for frame in SCHEMA.frames} == TYPES
    assert SCHEMA.deltas
    assert SCHEMA.deltas <= TYPES
    assert unknown_paths(SCHEMA, SCHEMA.unread) == []


@pytest.mark.parametrize(
    "frame",
    [
        f.event("RUN_STARTED", threadId="t", runId="r", protocolVersion="1.0", input={}),
        f.text("a", timestamp=1, rawEvent={"x": 1}, metadata={}, subagentRunId="s"),
        f.event("TOOL_CALL_START", toolCallId="c", toolCallName="x", parentMessageId="m"),
        f.result("x"),
        f.event("TOOL_CALL_RESULT", toolCallId="c", content="x", messageId="m", role="tool"),
        f.event("RUN_FINISHED", threadId="t", runId="r", result=1, outcome={}, usage=[]),
        f.event("SUBAGENT_STARTED", subagentRunId="s", name="x", parentToolCallId="c"),
    ],
)
def test_what_the_protocol_has_is_no_drift(frame: bytes) -> None:
    assert Drift(SCHEMA).inspect([frame]) == []


def test_what_it_has_not_is_drift() -> None:
    (finding,) = Drift(SCHEMA).inspect([f.text("a", newField=1)])

    assert (finding.kind, finding.type, finding.fields) == (
        "field",
        "TEXT_MESSAGE_CONTENT",
        ("newField:number",),
    )


def redacted(frame: bytes) -> Any:
    redactor = Redactor(kept=SCHEMA.kept, ids=SCHEMA.ids, phrases=SCHEMA.phrases)
    return json.loads(redactor.frame(frame))


@pytest.mark.parametrize(
    "frame",
    [
        f.text("my secret"),
        f.args('{"city": "secret"}'),
        f.result("a secret"),
        f.custom("on_interrupt", '{"question": "secret?"}'),
        f.snapshot(f.user("secret")),
        f.event("STATE_SNAPSHOT", snapshot={"token": "secret"}),
        f.failed("secret"),
    ],
)
def test_no_text_of_people_is_in_a_redacted_event(frame: bytes) -> None:
    read = redacted(frame)

    assert "secret" not in json.dumps(read)
    assert read["type"] == json.loads(frame)["type"]


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        (f.call("c1", "weather"), "toolCallName"),
        (f.custom("on_interrupt", 1), "name"),
        (f.mark("denied"), "encryptedValue"),
        (f.mark("failed"), "encryptedValue"),
        (f.mark(), "subtype"),
        (f.started(), "runId"),
    ],
)
def test_what_a_replay_needs_stays(frame: bytes, field: str) -> None:
    assert redacted(frame)[field] == json.loads(frame)[field]
