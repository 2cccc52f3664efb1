"""Text told twice: of each delta only what neither spelling has told."""

import pytest

from turnwire.core.dialect import Tally
from turnwire.dialects.v2.spellings import CHUNK, PART, Spellings


@pytest.mark.parametrize(
    ("told", "fresh"),
    [
        pytest.param([(PART, "a"), (PART, "b")], ["a", "b"], id="one spelling"),
        pytest.param([(CHUNK, "a"), (PART, "a"), (PART, "b")], ["a", "", "b"], id="both"),
        pytest.param([(CHUNK, "ab"), (PART, "a"), (PART, "b")], ["ab", "", ""], id="one is ahead"),
        pytest.param([(CHUNK, "a"), (PART, "abc")], ["a", "bc"], id="the other overtakes"),
        pytest.param(
            [(CHUNK, "ab"), (PART, "a"), (PART, "bcd"), (CHUNK, "cde")],
            ["ab", "", "cd", "e"],
            id="each is ahead in turn",
        ),
        pytest.param([(PART, ""), (CHUNK, "")], ["", ""], id="nothing"),
        pytest.param(
            [(CHUNK, "\U0001f600"), (PART, "\ud83d"), (PART, "\ude00b")],
            ["\U0001f600", "", "b"],
            id="one cuts a pair that the other tells whole",
        ),
        pytest.param(
            [(PART, "\ud83d"), (CHUNK, "\U0001f600b")],
            ["\ud83d", "\ude00b"],
            id="one tells the half that the other has not told",
        ),
        pytest.param([(CHUNK, "é"), (PART, "éé")], ["é", "é"], id="lengths in UTF-16 units"),
    ],
)
def test_what_is_fresh(told: list[tuple[int, str]], fresh: list[str]) -> None:
    spellings = Spellings(Tally())

    assert [spellings.fresh(spelling, text) for spelling, text in told] == fresh


def test_deltas_told_before_are_counted() -> None:
    tally = Tally()
    spellings = Spellings(tally)

    for spelling, text in [(CHUNK, "ab"), (PART, "a"), (PART, "b"), (PART, "c")]:
        spellings.fresh(spelling, text)

    assert tally.doubled == 2
