"""The schema of this wire: it names events and fields that exist, and every event is in it."""

import json
from typing import Any

import pytest

from support import openai_chat_frames as f
from support.schemas import unknown_paths
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import redactor_of
from turnwire.dialects.openai_chat.frames import KNOWN
from turnwire.dialects.openai_chat.schema import SCHEMA

TYPES = {str(frame.__struct_config__.tag) for frame in KNOWN}


def test_all_events_are_in_it_under_their_types() -> None:
    assert {str(frame.__struct_config__.tag) for frame in SCHEMA.frames} == TYPES
    assert SCHEMA.deltas <= TYPES
    assert unknown_paths(SCHEMA, SCHEMA.unread) == []


@pytest.mark.parametrize(
    "frame",
    [
        f.started(),
        f.text("a"),
        f.chunk({"role": "assistant", "reasoning_content": None}, system_fingerprint="x"),
        f.call(f.head()),
        f.finished(usage={"prompt_tokens": 1, "anything": {"n": 1}}),
        f.finished("error", error={"message": "x"}, hermes={"failed": True}),
        f.progress("running", emoji="x", label="ls"),
        f.failed("no", type="x", param=None, code="500"),
        f.event(choices=[], x_groq={"id": "r", "usage": {}}),
        f.chunk({"role": "tool", "tool_call_id": "c1", "content": "x"}),
        f.event(choices=[{"delta": {}, "error": {"code": 502}}]),
    ],
)
def test_what_agents_send_is_no_drift(frame: bytes) -> None:
    assert Drift(SCHEMA).inspect([frame]) == []


@pytest.mark.parametrize(
    ("frame", "found"),
    [
        (
            f.chunk({"content": "a", "mood": "x"}),
            ("field", "chunk", ("choices.delta.mood:string",)),
        ),
        (f.progress("running", percent=5), ("field", "progress", ("percent:number",))),
        (f.event(step=1), ("type", "(odd)", ("step:number",))),
    ],
)
def test_what_is_new_is_drift(frame: bytes, found: tuple[str, str, tuple[str, ...]]) -> None:
    (finding,) = Drift(SCHEMA).inspect([frame, f.DONE])

    assert (finding.kind, finding.type, finding.fields) == found


def redacted(frame: bytes) -> Any:
    return json.loads(redactor_of(SCHEMA).frame(frame))


@pytest.mark.parametrize(
    "frame",
    [
        f.text("my secret"),
        f.thought("a secret"),
        f.text([{"type": "text", "text": "a secret"}]),
        f.refusal("a secret"),
        f.call(f.head(args='{"city":"secret"}')),
        f.progress("running", label="cat secret"),
        f.failed("a secret"),
        f.chunk({}, citations=["https://secret.example"]),
        f.chunk({"images": [{"image_url": {"url": "data:image/png;base64,secret"}}]}),
    ],
)
def test_no_text_of_people_is_in_a_redacted_event(frame: bytes) -> None:
    assert "secret" not in json.dumps(redacted(frame))


def test_what_a_replay_needs_stays() -> None:
    given = json.loads(f.call(f.head(index=2)))
    call = redacted(f.call(f.head(index=2)))["choices"][0]["delta"]["tool_calls"][0]

    assert call == given["choices"][0]["delta"]["tool_calls"][0]
    assert redacted(f.finished("length"))["choices"][0]["finish_reason"] == "length"
    output = redacted(f.chunk({"role": "tool", "tool_call_id": "c1", "content": "x"}))
    assert output["choices"][0]["delta"]["role"] == "tool"
    assert output["choices"][0]["delta"]["tool_call_id"] == "c1"
    note = redacted(f.progress("completed"))
    assert (note["status"], note["toolCallId"], note["tool"]) == ("completed", "c1", "terminal")
