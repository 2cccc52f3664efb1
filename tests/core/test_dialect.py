from turnwire.core.dialect import Tally


def test_unknown_frames_are_counted_by_type() -> None:
    tally = Tally()

    for kind in ("a", "b", "a"):
        tally.unknown(kind)

    assert tally.unrecognised == {"a": 2, "b": 1}


def test_the_types_counted_are_bounded_in_number_and_length() -> None:
    tally = Tally()

    for number in range(100):
        tally.unknown(f"{number}" + "x" * 100)
    tally.unknown("0" + "x" * 100)

    assert len(tally.unrecognised) == Tally.KINDS_MAX + 1
    assert tally.unrecognised["other"] == 100 - Tally.KINDS_MAX
    assert tally.unrecognised["0" + "x" * 63] == 2
