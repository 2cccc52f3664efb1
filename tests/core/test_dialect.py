from turnwire.core.agent import FrameStats


def test_unknown_frames_are_counted_by_type() -> None:
    frame_stats = FrameStats()

    for kind in ("a", "b", "a"):
        frame_stats.count_unknown(kind)

    assert frame_stats.unrecognised == {"a": 2, "b": 1}


def test_the_types_counted_are_bounded_in_number_and_length() -> None:
    frame_stats = FrameStats()

    for number in range(100):
        frame_stats.count_unknown(f"{number}" + "x" * 100)
    frame_stats.count_unknown("0" + "x" * 100)

    assert len(frame_stats.unrecognised) == FrameStats.KINDS_MAX + 1
    assert frame_stats.unrecognised["other"] == 100 - FrameStats.KINDS_MAX
    assert frame_stats.unrecognised["0" + "x" * 63] == 2
