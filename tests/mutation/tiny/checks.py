"""The tests of `doors`, which pytest runs only if it is asked for this file."""

import pytest

from mutation.tiny import doors


@pytest.mark.parametrize(("count", "full"), [(2, False), (3, True), (4, True)])
def test_full(count: int, *, full: bool) -> None:
    assert doors.is_full(count, 3) == full


def test_grade_far_from_its_limit() -> None:
    assert (doors.grade(20), doors.grade(0)) == ("many", "few")


def test_counting_ends() -> None:
    assert doors.counted_down(3) == 0


def test_turn() -> None:
    assert (doors.turn(doors.Side.LEFT), doors.turn(doors.Side.RIGHT)) == (-90, 90)


def test_what_was_cached_when_it_was_imported() -> None:
    assert doors.doubled(3) == 6 == doors.six


def test_what_a_default_holds() -> None:
    assert doors.held_twice(6) == 6


def test_odd() -> None:
    with pytest.raises(ValueError, match="odd"):
        doors.halved(3)


@pytest.mark.parametrize("name", ["a", "b"])
def test_nothing_is_left_of_another_test(name: str) -> None:
    doors.opened.clear()

    doors.Door(name).open()

    assert doors.opened == [name]


def test_label() -> None:
    assert doors.Door("a").label == "door a"
