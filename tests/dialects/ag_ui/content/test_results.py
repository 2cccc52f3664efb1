"""Results of calls: a text, JSON, parts with files; and the mark of a failure."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from turnwire.core.events import FilePart
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui.content.results import marked_failure, outcome_of
from turnwire.dialects.ag_ui.frames import EncryptedValue, decode


def source(kind: str, value: str, mime: str | None = None) -> dict[str, Any]:
    named = {} if mime is None else {"mimeType": mime}
    return {"type": "image", "source": {"type": kind, "value": value, **named}}


def of(content: Any, stats: FrameStats | None = None) -> tuple[bytes, list[Any], str | None]:
    outcome = outcome_of(Raw(json.dumps(content).encode()), stats or FrameStats())
    return bytes(outcome.output), list(outcome.files), outcome.text


@pytest.mark.parametrize(
    ("content", "output", "text"),
    [
        ("21", b'"21"', "21"),
        ('{"a": 1}', b'{"a": 1}', '{"a": 1}'),
        ({"a": 1}, b'{"a": 1}', None),
        ([{"type": "text", "text": "[1"}, {"type": "text", "text": "]"}], b"[1]", "[1]"),
        ([], b'""', None),
    ],
)
def test_an_output_is_read_out_of_the_content(content: Any, output: bytes, text: str) -> None:
    assert of(content) == (output, [], text)


def test_media_are_files() -> None:
    parts = [
        {"type": "text", "text": "see"},
        source("url", "https://a.example/x", "image/png"),
        source("url", "https://a.example/y"),
        source("data", "QQ==", "image/png"),
    ]

    assert of(parts) == (
        b'"see"',
        [
            FilePart("https://a.example/x", "image/png"),
            FilePart("https://a.example/y", "application/octet-stream"),
            FilePart("data:image/png;base64,QQ==", "image/png"),
        ],
        "see",
    )


def test_what_is_no_file_is_counted() -> None:
    stats = FrameStats()
    parts = [source("file", "f-1"), source("data", "QQ=="), {"type": "image"}, 7]

    assert of(parts, stats) == (b'""', [], None)
    assert stats.left_out == {"part of a result": 3}


def marked(frame: bytes, message_id: str = "t1") -> bool:
    read = decode(frame)
    assert isinstance(read, EncryptedValue)
    return marked_failure(read, message_id)


def encrypted(value: Any, **fields: Any) -> bytes:
    about = {"subtype": "message", "entityId": "t1", "encryptedValue": value, **fields}
    return f.event("REASONING_ENCRYPTED_VALUE", **about)


@pytest.mark.parametrize("outcome", ["failed", "denied", "retried"])
def test_a_mark_says_that_a_result_is_a_failure(outcome: str) -> None:
    assert marked(f.mark(outcome))


@pytest.mark.parametrize(
    "frame",
    [
        f.mark("success"),
        f.mark(message="t2"),
        encrypted('{"signature":"s"}'),
        encrypted("opaque"),
        encrypted("\ud83d"),
        encrypted(7),
        encrypted('{"pydantic_ai":{"outcome":"failed"}}', subtype="tool-call"),
        encrypted('{"pydantic_ai":{"outcome":"failed"}}', entityId=7),
    ],
)
def test_other_values_say_nothing_of_it(frame: bytes) -> None:
    assert not marked(frame.replace(rb"\ud83d", b"?"))
