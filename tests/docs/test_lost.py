"""The rows of the tables of losses: types and fields that are listed once each."""

import pytest

from turnwire_lab.docs.lost import ALL, ANY, Row, cells, listed


def test_a_row_is_of_each_of_its_types_and_fields() -> None:
    found = listed([Row("a b", "x y", "nothing"), Row(ANY, "z", "`word`")])

    assert found == {(kind, field): "nothing" for kind in "ab" for field in "xy"} | {
        (ANY, "z"): "`word`"
    }


def test_what_stands_in_two_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="two rows for b x"):
        listed([Row("a b", "x", "nothing"), Row("b", "x", "`word`")])


def test_a_reader_sees_names_and_words() -> None:
    rows = [Row(ANY, "z", "nothing"), Row("a b", ALL, "by its name"), Row("a", "x y", "`word`")]

    assert list(cells(rows)) == [
        ("any event", "`z`", "nothing"),
        ("`a`, `b`", "all", "by its name"),
        ("`a`", "`x`, `y`", "`word`"),
    ]
