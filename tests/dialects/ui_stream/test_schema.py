"""The schema of this wire: it names chunks and fields that exist, and every chunk is in it."""

import json

import pytest

from support import ui_chunks as f
from support.schemas import unknown_paths
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import redactor_of
from turnwire.dialects.ui_stream.frames import KNOWN
from turnwire.dialects.ui_stream.schema import SCHEMA

TYPES = {str(frame.__struct_config__.tag) for frame in KNOWN}


def test_all_chunks_are_in_it_under_their_types() -> None:
    assert {str(frame.__struct_config__.tag) for frame in SCHEMA.frames} == TYPES | {"data-"}
    assert SCHEMA.deltas
    assert SCHEMA.deltas <= TYPES
    assert unknown_paths(SCHEMA, SCHEMA.unread) == []


@pytest.mark.parametrize(
    "frame",
    [
        f.start(messageId="m", messageMetadata={}),
        f.text("a", providerMetadata={"x": {"y": 1}}),
        f.call("c1", "x", providerExecuted=True, dynamic=True, title="X", toolMetadata={}),
        f.given("c1", "x", providerMetadata={}),
        f.output(1, preliminary=True, dynamic=True),
        f.ask(signature="s", isAutomatic=False, approvalDescriptor={}, reason="x"),
        f.finish(finishReason="stop", messageMetadata={"a": 1}),
        f.data("anything", {"a": {"b": 1}}, id="x", transient=False),
        f.chunk("message-metadata", messageMetadata={"a": 1}),
    ],
)
def test_what_the_ai_sdk_has_is_no_drift(frame: bytes) -> None:
    assert Drift(SCHEMA).inspect([frame]) == []


@pytest.mark.parametrize(
    ("frame", "kind", "fields"),
    [
        (f.text("a", newField=1), "field", ("newField:number",)),
        (f.data("x", 1, status="y"), "field", ("status:string",)),
        (f.chunk("new-chunk", a=1), "type", ("a:number", "type:string")),
    ],
)
def test_what_it_has_not_is_drift(frame: bytes, kind: str, fields: tuple[str, ...]) -> None:
    (finding,) = Drift(SCHEMA).inspect([frame])

    assert (finding.kind, finding.fields) == (kind, fields)


@pytest.mark.parametrize(
    "frame",
    [
        f.text("my secret"),
        f.piece('{"city": "secret"}'),
        f.given(input={"city": "secret"}),
        f.output({"type": "secret"}),
        f.data("chart", {"type": "secret", "kind": "secret", "userId": "secret"}),
        f.chunk("message-metadata", messageMetadata={"status": "secret"}),
        f.text("x", providerMetadata={"openai": {"reason": "secret"}}),
        f.error("secret"),
        f.ask(signature="secret"),
    ],
)
def test_no_text_of_people_or_apps_is_in_a_redacted_chunk(frame: bytes) -> None:
    read = json.loads(redactor_of(SCHEMA).frame(frame))

    assert "secret" not in json.dumps(read)
    assert read["type"] == json.loads(frame)["type"]


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        (f.call("c1", "weather"), "toolName"),
        (f.finish(finishReason="error"), "finishReason"),
        (f.text("x", "t1"), "id"),
        (f.ask("a1"), "approvalId"),
    ],
)
def test_what_a_replay_needs_stays(frame: bytes, field: str) -> None:
    assert json.loads(redactor_of(SCHEMA).frame(frame))[field] == json.loads(frame)[field]


def test_the_end_of_a_body_stays() -> None:
    assert redactor_of(SCHEMA).frame(f.DONE) == f.DONE
