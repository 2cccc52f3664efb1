"""How an event is decoded: by its fields, since it has no type."""

import json
from typing import Any

import pytest

from support import openai_chat_frames as f
from turnwire.core.wire.event_stream import NamedEvent
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_chat.frames import Chunk, Failure, ToolProgress, decoder, type_of


def read(raw: bytes) -> tuple[Any, FrameStats]:
    frame_stats = FrameStats()
    return decoder.read(raw, frame_stats), frame_stats


@pytest.mark.parametrize(
    ("frame", "kind", "struct"),
    [
        (f.text("a"), "chunk", Chunk),
        (f.usage(prompt_tokens=1), "chunk", Chunk),
        (f.event(usage={"prompt_tokens": 1}), "chunk", Chunk),
        (f.event(x_groq={"usage": {}}), "chunk", Chunk),
        (f.progress("running"), "progress", ToolProgress),
        (f.progress("failed", error="no"), "progress", ToolProgress),
        (f.failed("no"), "error", Failure),
        (f.event(error="no"), "error", Failure),
        (f.event(object="error", message="no", code=400), "error", Failure),
        (f.event(type="error", message="no"), "error", Failure),
        (f.chunk(finish="error", error={"message": "no"}), "chunk", Chunk),
        (NamedEvent(f.progress("running"), "hermes.tool.progress", ""), "progress", ToolProgress),
    ],
)
def test_the_fields_say_what_an_event_is(frame: bytes, kind: str, struct: type) -> None:
    decoded, frame_stats = read(frame)

    assert type_of(frame) == kind
    assert type(decoded) is struct
    assert frame_stats.malformed == 0


@pytest.mark.parametrize(
    ("frame", "unknown", "malformed"),
    [
        (f.event(progress=1), {"(odd)": 1}, 0),
        (f.event(error=None, usage=None), {"(odd)": 1}, 0),
        (NamedEvent(b'{"progress":1}', "agent.step", ""), {"agent.step": 1}, 0),
        (NamedEvent(b'{"progress":1}', "a b", ""), {"(odd)": 1}, 0),
        (f.event(choices=7), {}, 1),
        (f.event(toolCallId=7, status="running"), {}, 1),
        (b"[1]", {}, 1),
        (b"nonsense", {}, 1),
        (b"[" * 5_000, {}, 1),
    ],
)
def test_what_is_nothing_known_is_counted(
    frame: bytes, unknown: dict[str, int], malformed: int
) -> None:
    decoded, frame_stats = read(frame)

    assert decoded is None
    assert (frame_stats.unrecognised, frame_stats.malformed) == (unknown, malformed)


def test_half_a_surrogate_pair_stays_in_the_text() -> None:
    given = json.loads(f.text("a\ud83d"))
    given["choices"] += [
        {"index": 1, "delta": None},
        {"index": 2, "delta": {"content": ["\ud83d"]}},
    ]

    decoded, frame_stats = read(json.dumps(given).encode())

    assert decoded.choices[0].delta.content == "a\ud83d"
    assert frame_stats.malformed == 0
    progress, _ = read(f.progress("running", label="\ud83d"))
    assert progress.label == "\ufffd"
    (usage, _) = read(f.event(usage={"a": "\ud83d"}))
    assert type(usage) is Chunk
