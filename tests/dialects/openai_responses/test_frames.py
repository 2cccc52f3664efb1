"""How an event is decoded, and what is counted of one that is not."""

from typing import Any

import pytest

from support import openai_responses_frames as f
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import frames
from turnwire.dialects.openai_responses.frames import decoder


def read(raw: bytes) -> tuple[Any, FrameStats]:
    frame_stats = FrameStats()
    return decoder.read(raw, frame_stats), frame_stats


def test_a_delta_may_end_with_half_of_a_character() -> None:
    assert read(f.text("a\ud83d"))[0].delta == "a\ud83d"
    assert read(f.args("a\ud83d"))[0].delta == "a\ud83d"
    assert isinstance(read(f.event("response.created", note="\ud83d"))[0], frames.Created)


@pytest.mark.parametrize("raw", [b'{"error":{"message":"boom"}}', b'{"error":"boom"}'])
def test_an_error_may_come_without_a_type(raw: bytes) -> None:
    frame, frame_stats = read(raw)

    assert isinstance(frame, frames.Failure)
    assert frame.error
    assert frame_stats.malformed == 0


@pytest.mark.parametrize(
    ("raw", "unknown", "malformed"),
    [
        (b'{"type":"response.new"}', {"response.new": 1}, 0),
        (b'{"type":"response.new","error":{}}', {"response.new": 1}, 0),
        (b'{"type":"response.output_text.delta"}', {}, 1),
        *((b'{"error":%b}' % none, {}, 1) for none in (b"null", b'""', b"{}", b"[]", b"false")),
        (b'{"type":"response.output_text.delta","delta":7,"output_index":null}', {}, 1),
        (b"[1]", {}, 1),
        (b"nonsense", {}, 1),
        (b"[" * 5_000, {}, 1),
    ],
)
def test_what_is_nothing_known_is_counted(
    raw: bytes, unknown: dict[str, int], malformed: int
) -> None:
    frame, frame_stats = read(raw)

    assert frame is None
    assert (frame_stats.unrecognised, frame_stats.malformed) == (unknown, malformed)


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        (b"null", -1),
        (b'"3"', 3),
        (b'"x"', -1),
        (b"{}", -1),
        (b"2", 2),
    ],
)
def test_a_place_of_a_wrong_type_does_not_hide_the_text(given: bytes, read_as: int) -> None:
    raw = b'{"type":"response.output_text.delta","delta":"a","item_id":7,"output_index":%b}'
    frame, frame_stats = read(raw % given)

    assert (frame.delta, frame.output_index, frame.item_id) == ("a", read_as, "")
    assert frame_stats.malformed == 0
    assert read(raw.replace(b"7", b'"m"') % given)[0].item_id == "m"


def test_what_only_repeats_is_skipped() -> None:
    for kind in frames.SKIPPED:
        assert isinstance(read(f.event(kind, anything=1))[0], frames.Skipped)
