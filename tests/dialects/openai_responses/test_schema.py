"""The schema of this wire: it names events and fields that exist, and every event is in it."""

import json
from typing import Any

import pytest

from support import openai_responses_frames as f
from support.schemas import unknown_paths
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import redactor_of
from turnwire.dialects.openai_responses.frames import KNOWN
from turnwire.dialects.openai_responses.schema import SCHEMA

TYPES = {str(frame.__struct_config__.tag) for frame in KNOWN}


def test_all_events_are_in_it_under_their_types() -> None:
    assert {str(frame.__struct_config__.tag) for frame in SCHEMA.frames} == TYPES
    assert SCHEMA.deltas <= TYPES
    assert unknown_paths(SCHEMA, SCHEMA.unread) == []


@pytest.mark.parametrize(
    "frame",
    [
        f.created(),
        f.text("a", item_id="m", sequence_number=3, logprobs=[], obfuscation="x"),
        f.added(f.call()),
        f.completed(usage={"input_tokens": 1}),
        f.error("no", param=None, sequence_number=3),
        f.event("response.content_part.added", part={}, item_id="m", output_index=0),
    ],
)
def test_what_agents_send_is_no_drift(frame: bytes) -> None:
    assert Drift(SCHEMA).inspect([frame]) == []


def test_what_is_new_is_drift() -> None:
    frames = [f.text("a", mood="x"), f.event("response.new", a=1), f.DONE]

    assert [(each.kind, each.type, each.fields) for each in Drift(SCHEMA).inspect(frames)] == [
        ("field", "response.output_text.delta", ("mood:string",)),
        ("type", "response.new", ("a:number", "type:string")),
    ]


def redacted(frame: bytes) -> Any:
    return json.loads(redactor_of(SCHEMA).frame(frame))


@pytest.mark.parametrize(
    "frame",
    [
        f.text("my secret"),
        f.summary("a secret"),
        f.text_done("a secret"),
        f.refusal("a secret"),
        f.args('{"city":"secret"}'),
        f.item_done(f.call(args='{"city":"secret"}')),
        f.item_done(f.output("a secret")),
        f.item_done(f.message("a secret")),
        f.failed("a secret"),
        f.completed(output=[f.message("a secret")]),
    ],
)
def test_no_text_of_people_is_in_a_redacted_event(frame: bytes) -> None:
    assert "secret" not in json.dumps(redacted(frame))


def test_what_a_replay_needs_stays() -> None:
    given = json.loads(f.item_done(f.asks(), 2))
    read = redacted(f.item_done(f.asks(), 2))

    assert (read["type"], read["output_index"]) == (given["type"], 2)
    kept = ("id", "type", "name", "server_label")
    assert [read["item"][name] for name in kept] == [given["item"][name] for name in kept]
    output = redacted(f.item_done(f.output("x")))["item"]
    assert (output["call_id"], output["type"]) == ("c1", "function_call_output")
    assert redacted(f.incomplete())["response"]["status"] == "incomplete"
