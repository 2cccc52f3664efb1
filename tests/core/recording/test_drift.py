"""What a wire has that its dialect does not know: found, named, bounded, and nothing else."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from support.recorded import RECORDINGS, dialect
from turnwire.core.recording import drift
from turnwire.core.recording.drift import (
    FINGERPRINTS_MAX,
    FRAMES_FIRST,
    FRAMES_NEXT,
    Drift,
    structure,
)
from turnwire.core.wire.schema import WireSchema
from turnwire.dialects import DIALECTS

NEW = {
    "v2/unknown_frames": {"agentPlan", "message.part.image"},
    "ui-stream/noise": {"new-chunk"},
    "acp/noise": {"new/notice"},
}
"""Types that a recording has on purpose."""
V2 = DIALECTS["v2"].schema
SA = DIALECTS["session-agent"].schema


def found(frame: Any, words: WireSchema = V2) -> list[tuple[str, ...]]:
    findings = Drift(words).inspect([json.dumps(frame).encode()])
    return [(each.kind, each.type, *each.fields) for each in findings]


@pytest.mark.parametrize("words", [V2, SA], ids=["v2", "session-agent"])
def test_a_type_that_nobody_knows(words: WireSchema) -> None:
    frame: dict[str, Any] = {
        "type": "brand.new",
        "b": [],
        "a": {"c": 1},
        "n": None,
        "t": True,
        "s": "",
        "i": 0.5,
    }

    (told,) = found(frame, words)

    kinds = ("a:object", "b:array", "i:number", "n:null", "s:string", "t:boolean", "type:string")
    assert told == ("type", "brand.new", *kinds)


class _Named(Struct, tag="chunk", tag_field="(frame)"):
    a: int = 0


def test_a_wire_may_say_the_type_of_a_frame_otherwise() -> None:
    words = WireSchema(
        frames=[_Named],
        deltas=frozenset(),
        unread={},
        inside={},
        types={},
        type_of=lambda frame: "chunk" if b'"a"' in frame else "",
    )

    assert found({"type": "any", "a": 1}, words) == []
    assert found({"a": 1, "b": 2}, words) == [("field", "chunk", "b:number")]
    assert found({"type": "any"}, words) == [("type", "(odd)", "type:string")]


ARRAYS = WireSchema(frames=[_Named], split=lambda frame: (frame[1], frame[2]))


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ([7, "chunk", {"a": 1}], []),
        ([7, "chunk", {"a": 1, "b": [2]}], [("field", "chunk", "b:array")]),
        ([7, "new", {"b": 2}], [("type", "new", "b:number")]),
        ([7, "new", "text"], [("type", "new", "(frame):array")]),
        ([], [("type", "(odd)", "(frame):array")]),
        ([7, 8, {"a": 1}], [("type", "(odd)", "a:number")]),
        (None, [("type", "(odd)", "(frame):null")]),
        ("chunk", [("type", "(odd)", "(frame):string")]),
    ],
)
def test_a_frame_may_be_no_object(frame: Any, told: list[tuple[str, ...]]) -> None:
    assert found(frame, ARRAYS) == told


def test_an_array_on_a_wire_that_names_no_envelope() -> None:
    words = WireSchema(frames=[_Named], type_of=lambda _: "new")

    assert found([7, "new", {}], words) == [("type", "new", "(frame):array")]


@pytest.mark.parametrize(
    ("frame", "fields"),
    [
        ({"type": "chunk", "content": "a", "messageId": "t", "seq": 1}, ("seq:number",)),
        ({"type": "chunk", "content": "a", "messageId": "t", "channelId": "c"}, None),
        (
            {"type": "complete", "turnId": "t", "cost": {"a": 1}, "b": []},
            ("b:array", "cost:object"),
        ),
        ({"type": "question", "questionId": "q", "anything": 1}, None),
        ({"type": "toast", "anything": 1}, None),
        ({"type": "init", "data": {"runnerBusy": True, "shard": 3}}, ("data.shard:number",)),
        (
            {
                "type": "init",
                "session": {
                    "id": "s",
                    "messages": [
                        {"id": "a", "role": "user", "parts": [], "mood": "good"},
                        {"id": "b", "parts": [{"type": "text", "text": ""}, {"type": "video"}]},
                        "no object",
                    ],
                },
            },
            ("session.messages.mood:string", "session.messages.parts.type=video:string"),
        ),
    ],
)
def test_fields_that_the_v2_wire_does_not_have(
    frame: dict[str, Any], fields: tuple[str, ...] | None
) -> None:
    assert found(frame) == ([] if fields is None else [("field", frame["type"], *fields)])


@pytest.mark.parametrize(
    ("frame", "fields"),
    [
        ({"type": "chunk", "content": "a", "messageId": "t", "seq": 1}, ("seq:number",)),
        (
            {"type": "status", "data": {"runnerBusy": False, "region": "eu"}},
            ("data.region:string",),
        ),
        ({"type": "queue.state", "data": {"pending": None}}, None),
        (
            {"type": "queue.state", "data": {"pending": {"messageId": "m", "rank": 1}}},
            ("data.pending.rank:number",),
        ),
        (
            {
                "type": "message.updated",
                "data": {"id": "t", "parts": [{"type": "reasoning"}, {"type": "text", "new": 1}]},
            },
            ("data.parts.new:number", "data.parts.type=reasoning:string"),
        ),
        ({"type": "git-state", "data": {"anything": 1}}, None),
        ({"type": "pong", "anything": 1}, None),
    ],
)
def test_fields_that_the_session_agent_wire_does_not_have(
    frame: dict[str, Any], fields: tuple[str, ...] | None
) -> None:
    assert found(frame, SA) == ([] if fields is None else [("field", frame["type"], *fields)])


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_nothing_in_our_recordings_is_taken_for_drift(path: Path) -> None:
    frames = [line for line in path.read_bytes().splitlines() if line.startswith(b"{")]

    findings = Drift(dialect(path).schema).inspect(frames)

    assert {each.type for each in findings} == NEW.get(f"{path.parent.name}/{path.stem}", set())


def test_a_fingerprint_is_the_same_everywhere_and_told_as_new_once() -> None:
    frame = b'{"type":"chunk","content":"secret","messageId":"t","b":1,"a":"secret"}'
    other = b'{"a":"x","messageId":"u","b":2,"type":"chunk","content":"y"}'
    watch = Drift(V2)

    first, second = watch.inspect([frame, other])

    assert first.fingerprint == second.fingerprint == Drift(V2).inspect([other])[0].fingerprint
    assert (first.is_new, second.is_new) == (True, False)
    assert first.structure == {
        "type": "string(5)",
        "content": "string(6)",
        "messageId": "string(1)",
        "b": "number",
        "a": "string(6)",
    }
    assert second.structure == ""
    (null,) = Drift(V2).inspect([frame.replace(b'"b":1', b'"b":null')])
    assert null.fingerprint != first.fingerprint


def test_the_first_frames_of_a_type_and_then_one_in_so_many() -> None:
    frame = b'{"type":"complete","new":1}'

    looked = [
        bool(watch.inspect([frame])) for watch in [Drift(V2)] for _ in range(2 * FRAMES_NEXT + 1)
    ]

    assert looked[:FRAMES_FIRST] == [True] * FRAMES_FIRST
    assert [n for n, due in enumerate(looked) if due][FRAMES_FIRST:] == [
        FRAMES_NEXT,
        2 * FRAMES_NEXT,
    ]


@pytest.mark.parametrize(
    "begins", [b'{"type":"chunk",', b'{"type": "chunk", ', b'{"a":1,"type":"chunk",']
)
def test_deltas_are_looked_into_a_few_times_in_a_process(begins: bytes) -> None:
    frame = begins + b'"content":"a","messageId":"t","new":1}'
    watch = Drift(V2)

    findings = watch.inspect([frame] * 10 * FRAMES_NEXT)

    assert len(findings) == FRAMES_FIRST
    is_known_by_prefix = begins != b'{"a":1,"type":"chunk",'
    counted = FRAMES_FIRST + 1 if is_known_by_prefix else 10 * FRAMES_NEXT
    assert watch._frame_counts == {"chunk": counted}
    assert watch.inspect([b'{"type":"complete","new":1}'])


def test_types_that_may_be_anything_take_no_room() -> None:
    watch = Drift(V2)

    findings = watch.inspect([b'{"type":"%d%s"}' % (n, b"y" * 9_000) for n in range(100)])

    assert {each.type for each in findings} == {"(odd)"}
    assert watch._frame_counts == {"(odd)": 100}


def test_some_streams_are_watched_and_the_one_after_an_unknown_type() -> None:
    watch = Drift(V2)
    watched = [watch.is_stream_due() for _ in range(2 * drift.STREAMS_NEXT + 1)]
    watch.inspect_next_stream()
    after = [watch.is_stream_due(), watch.is_stream_due()]

    first = [True] * drift.STREAMS_FIRST
    assert watched[: drift.STREAMS_FIRST] == first
    assert sum(watched) == drift.STREAMS_FIRST + 2
    assert after == [True, False]


@pytest.mark.parametrize(
    "frame",
    [
        *(b"", b"no JSON", b'"type"', b"[]", b'{"type":1}', b'{"no":"type"}', b'{"type":"a","b":'),
        b'{"type":"chunk","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"chunk","new":"' + b"a" * drift.FRAME_BYTES_MAX + b'"}',
        b'{"type":"\xff"}',
    ],
)
def test_what_cannot_be_read_is_left_alone(frame: bytes) -> None:
    assert Drift(V2).inspect([frame]) == []


def test_a_hundred_fingerprints_are_told_apart() -> None:
    watch = Drift(V2)
    frames = [json.dumps({"type": f"t{number}"}).encode() for number in range(1_000)]

    findings = watch.inspect(frames)

    told = Counter(each.fingerprint for each in findings)
    assert len(told) == FINGERPRINTS_MAX + 1
    assert sum(each.is_new for each in findings) == FINGERPRINTS_MAX + 1
    assert told[drift.OTHER] > 0
    assert len(watch._frame_counts) <= drift.TYPES_MAX + 1


def test_names_that_are_none_are_not_shown() -> None:
    (told,) = found({"type": "an odd\ntype", "a b": 1, "ok": {"my secret": "x"}})
    many = found({"type": "chunk", **{f"f{n:03}": 1 for n in range(500)}})

    assert told == ("type", "(odd)", "(odd):number", "ok:object", "type:string")
    assert len(many[0]) == 2 + 32


def test_a_structure_has_no_values_and_an_end() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = [{"a": deep}]

    assert structure({"a": "secret", "b c": [1, 2, "xx", "yy"], "n": None, "o": {}}) == {
        "a": "string(6)",
        "(odd)": ["array(4)", "number", "string(2)"],
        "n": "null",
        "o": {},
    }
    assert len(json.dumps(structure(deep))) < 500
    assert structure([1] * 1000) == ["array(1000)", "number"]
    assert len(structure({f"k{n}": 1 for n in range(1000)})) == 64


def test_what_is_nested_too_deeply_in_objects_that_are_known_is_left_alone() -> None:
    entry: Any = {"type": "text"}
    for _ in range(100):
        entry = [entry]

    assert found({"type": "init", "session": {"messages": [{"parts": entry}]}}) == []
