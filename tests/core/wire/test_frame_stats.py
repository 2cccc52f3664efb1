"""What is counted of the frames of one connection."""

import pytest

from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import ODD


def test_unknown_frames_are_counted_by_type() -> None:
    frame_stats = FrameStats()

    for kind in ("a", "b", "a"):
        frame_stats.count_unknown(kind)

    assert frame_stats.unrecognised == {"a": 2, "b": 1}


def test_the_types_counted_are_bounded_in_number() -> None:
    frame_stats = FrameStats()

    for number in range(100):
        frame_stats.count_unknown(f"type{number}")
    frame_stats.count_unknown("type0")

    assert len(frame_stats.unrecognised) == FrameStats.KINDS_MAX + 1
    assert frame_stats.unrecognised["other"] == 100 - FrameStats.KINDS_MAX
    assert frame_stats.unrecognised["type0"] == 2


@pytest.mark.parametrize("kind", ["my prompt", "x" * 65, "", "<script>", "tagesablauf für ann"])
def test_a_type_that_may_be_a_text_is_not_shown(kind: str) -> None:
    frame_stats = FrameStats()

    frame_stats.count_unknown(kind)

    assert frame_stats.unrecognised == {ODD: 1}


def test_what_is_left_out_is_counted_with_its_bytes() -> None:
    frame_stats = FrameStats()

    for number in range(FrameStats.KINDS_MAX + 2):
        frame_stats.count_left_out(f"kind {number}", 10)
    frame_stats.count_left_out("kind 0", 5)

    assert len(frame_stats.left_out) == FrameStats.KINDS_MAX + 1
    assert (frame_stats.left_out["kind 0"], frame_stats.left_out["other"]) == (2, 2)
    assert frame_stats.left_out_bytes == 10 * (FrameStats.KINDS_MAX + 2) + 5
