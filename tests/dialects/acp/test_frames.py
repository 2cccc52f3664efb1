"""Messages as structs: only what is read is decoded."""

import json
from typing import Any

import pytest

from support import acp_messages as f
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import frames


def test_the_three_kinds_of_messages() -> None:
    answer, asked, notice = map(frames.decode, (f.done(), f.permission(), f.text("a")))

    assert (answer.method, answer.number, answer.is_response) == (None, f.PROMPT, True)
    assert (asked.method, asked.number) == (frames.PERMISSION, 0)
    assert (notice.method, notice.has_id) == (frames.UPDATE, False)


@pytest.mark.parametrize(
    "line",
    [
        {"level": "info"},
        {"type": "of.a.log", "id": 7},
        {"level": "error", "error": "boom", "id": None},
        {"level": "error", "error": {"message": "boom"}},
    ],
)
def test_a_line_of_something_else_is_no_response(line: Any) -> None:
    assert not frames.decode(json.dumps(line).encode()).is_response


@pytest.mark.parametrize(
    "line",
    [
        {"id": 7, "result": None},
        {"id": 7, "error": None, "jsonrpc": "2.0"},
        {"id": None, "error": {"code": -32700, "message": "Parse error"}},
    ],
)
def test_what_is_a_response(line: Any) -> None:
    assert frames.decode(json.dumps(line).encode()).is_response


def test_a_null_beside_the_result_is_no_error() -> None:
    assert not frames.decode(f.message(id=1, result={}, error=None)).failure


def test_nothing_is_built_of_what_is_not_read() -> None:
    noisy = json.loads(f.text("a"))
    noisy["params"]["update"]["_meta"] = {"x": [{}] * 1_000}

    read = frames.update_params(frames.decode(json.dumps(noisy).encode()).params)
    assert read == frames.update_params(frames.decode(f.text("a")).params)


def test_a_message_of_a_wrong_shape() -> None:
    stats = FrameStats()

    assert frames.decoder.read(f.message(method=7), stats) is None
    assert stats.malformed == 1


def test_a_message_that_is_no_strict_json_is_read() -> None:
    read = frames.decoder.read(f.text("X").replace(b"X", rb"a\ud83d"), FrameStats())

    assert read is not None
    assert b"a\xef\xbf\xbd" in bytes(read.params)
    assert isinstance(read, frames.TornMessage)
    assert read.text == "a\ud83d"


def test_a_half_elsewhere_is_none_of_a_text() -> None:
    read = frames.decoder.read(f.call(title="X").replace(b"X", rb"\ud83d"), FrameStats())

    assert type(read) is frames.Message


@pytest.mark.parametrize(
    ("frame", "unrecognised"),
    [
        (f.update("new_update"), {"new_update": 1}),
        (f.update("tool_call"), {}),
        (f.update(""), {}),
        (f.message(method="session/update", params=7), {}),
        (f.message(id=7, method="session/request_permission"), {}),
    ],
)
def test_an_update_of_an_unknown_kind_is_counted_by_its_name(
    frame: bytes, unrecognised: dict[str, int]
) -> None:
    stats = FrameStats()
    frames.count_rejected(frame, frames.decode(frame), stats)

    assert (stats.unrecognised, stats.malformed) == (unrecognised, 0 if unrecognised else 1)
