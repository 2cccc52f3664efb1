"""The schema of this wire: it names events and fields that exist, and every event is in it."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.schemas import unknown_paths
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import redactor_of
from turnwire.dialects.ag_ui.content import snapshots
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
    redactor = redactor_of(SCHEMA)
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
        f.event("STATE_SNAPSHOT", snapshot={"name": "secret", "secret": {"role": "secret"}}),
        f.event("STATE_SNAPSHOT", snapshot="secret"),
        f.finished(result={"name": "secret", "secret": {"role": "secret"}}),
        f.event("STATE_DELTA", delta=[{"op": "add", "path": "/secret", "value": "secret"}]),
        f.event("STATE_DELTA", delta=[{"op": "move", "from": "/a/secret", "path": "/secret/0"}]),
        f.event("ACTIVITY_DELTA", messageId="m", patch=[{"op": "test", "path": "/secret/b"}]),
        f.event(
            "ACTIVITY_SNAPSHOT", messageId="m", activityType="PLAN", content={"outcome": "secret"}
        ),
        f.raw(name="secret", data={"output": {"name": "secret", "status": "secret"}}),
        f.text("a", rawEvent={"name": "secret", "state": "secret", "id": "secret"}),
        f.text_start("m1", name="secret", metadata={"type": "secret"}),
        f.snapshot({"id": "m1", "role": "activity", "content": {"name": "secret"}}),
        f.snapshot({"id": "m1", "role": "user", "name": "secret", "content": "/secret"}),
        f.interrupted({"id": "i1", "metadata": {"adk": {"name": "secret"}}}),
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
        (f.event("STATE_DELTA", delta=[{"op": "remove", "path": "/1/-"}]), "delta"),
        (f.snapshot(f.assistant("", c1="{}")), "messages"),
    ],
)
def test_what_a_replay_needs_stays(frame: bytes, field: str) -> None:
    assert redacted(frame)[field] == json.loads(frame)[field]


def test_what_a_graph_tells_of_its_calls_stays_where_it_is() -> None:
    call = {"id": "c1", "name": "x", "args": {"city": "Rome"}}
    messages = [{"type": "ai", "tool_calls": [call], "tool_call_id": "c2", "status": "error"}]
    ended = f.raw(event="on_chat_model_end", data={"output": messages[0], "input": "x"})
    state = f.event("STATE_SNAPSHOT", snapshot={"messages": messages})

    redactor = redactor_of(SCHEMA)

    expected = snapshots.InGraph({"c1": Raw(b'{"xxxx": "xxxx"}')}, {"c2": Raw()})
    assert snapshots.in_raw(redactor.frame(ended)) == expected
    read = json.loads(redactor.frame(state))["snapshot"]
    assert snapshots.in_state(Raw(json.dumps(read).encode())) == expected
