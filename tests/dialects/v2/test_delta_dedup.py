"""Text told twice: of each delta only what neither spelling has told."""

import pytest

from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.v2.delta_dedup import CHUNK, KEPT_UNITS, PART, DeltaDeduplicator

LONG = "".join(f"{number:07} " for number in range(KEPT_UNITS // 8))
"""As much as is kept."""


@pytest.mark.parametrize(
    ("told", "new_text"),
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
        pytest.param(
            [(PART, "Hello "), (CHUNK, "world, how are you?")],
            ["Hello ", "world, how are you?"],
            id="a switch",
        ),
        pytest.param(
            [(PART, "The"), (PART, " cat."), (CHUNK, "The"), (CHUNK, " dog.")],
            ["The", " cat.", "", "The dog."],
            id="a switch that begins like what was told",
        ),
        pytest.param(
            [(PART, "😀 cat"), (CHUNK, "\ud83d"), (CHUNK, "\ude01 dog")],
            ["😀 cat", "", "😁 dog"],
            id="a switch that begins with half a pair alike",
        ),
        pytest.param(
            [(PART, "a"), (CHUNK, "b"), (PART, "bc"), (CHUNK, "cd"), (PART, "e")],
            ["a", "b", "c", "d", "e"],
            id="a switch, which is repeated and overtaken, and a switch back",
        ),
        pytest.param(
            [(PART, "a"), (CHUNK, "b"), (CHUNK, "c"), (PART, "bcd")],
            ["a", "b", "c", "d"],
            id="what is repeated after a switch",
        ),
        pytest.param(
            [(PART, "ab"), (PART, "c"), (CHUNK, "c"), (PART, "d"), (CHUNK, "d")],
            ["ab", "c", "", "d", ""],
            id="both from the middle on",
        ),
        pytest.param(
            [(PART, "a"), (PART, "b"), (PART, "a"), (CHUNK, "a"), (CHUNK, "c")],
            ["a", "b", "a", "", "c"],
            id="both from the middle on, with a delta like the first",
        ),
        pytest.param(
            [(PART, "ab"), (CHUNK, "a"), (PART, "c"), (CHUNK, "x")],
            ["ab", "", "c", "x"],
            id="what was repeated while the other went on is no news",
        ),
        pytest.param(
            [(PART, "a"), (PART, "b"), (CHUNK, "a"), (PART, "c"), (CHUNK, "b"), (CHUNK, "c")],
            ["a", "b", "", "c", "", ""],
            id="one is always behind",
        ),
        pytest.param(
            [(PART, LONG), (PART, "and"), (CHUNK, LONG + "andmore")],
            [LONG, "and", "more"],
            id="all that is kept and what is not, at once",
        ),
        pytest.param(
            [(PART, LONG + "and"), (CHUNK, LONG), (CHUNK, "a"), (PART, "b"), (CHUNK, "ndb!")],
            [LONG + "and", "", "", "b", "!"],
            id="beyond what is kept",
        ),
        pytest.param(
            [(PART, LONG + "and"), (CHUNK, LONG), (CHUNK, "xyz"), (CHUNK, "news")],
            [LONG + "and", "", "", "news"],
            id="beyond what is kept a length is believed",
        ),
        pytest.param(
            [(PART, LONG + "and"), (CHUNK, "A switch.")],
            [LONG + "and", "A switch."],
            id="a switch after more than is kept",
        ),
        pytest.param(
            [*((PART, word) for word in LONG.split()), (CHUNK, "".join(LONG.split()) + "!")],
            [*LONG.split(), "!"],
            id="many deltas that one alone told",
        ),
        pytest.param([(PART, "ab"), (CHUNK, ""), (CHUNK, "ab")], ["ab", "", ""], id="an empty one"),
    ],
)
def test_what_is_fresh(told: list[tuple[int, str]], new_text: list[str]) -> None:
    spellings = DeltaDeduplicator(FrameStats())

    assert [spellings.new_text(spelling, text) for spelling, text in told] == new_text


def test_deltas_told_before_are_counted() -> None:
    frame_stats = FrameStats()
    spellings = DeltaDeduplicator(frame_stats)

    for spelling, text in [(CHUNK, "ab"), (PART, "a"), (PART, "b"), (PART, "c")]:
        spellings.new_text(spelling, text)

    assert frame_stats.doubled == 2


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("delta", ["", "é", "a word ", LONG + LONG])
def test_what_is_kept_does_not_grow_with_the_turn(delta: str, twice: bool) -> None:  # noqa: FBT001
    spellings = DeltaDeduplicator(FrameStats())

    for _ in range(5_000 if len(delta) < KEPT_UNITS else 5):
        spellings.new_text(PART, delta)
        if twice:
            spellings.new_text(CHUNK, delta)

    assert sum(map(len, spellings._pending)) + len(spellings._pending) <= 2_048
    assert len(spellings._kept) <= 2 * KEPT_UNITS
    assert len(spellings._last_delta) + len(spellings._matched) <= 2 * KEPT_UNITS


def test_what_seemed_to_be_a_repetition_is_kept_no_longer_than_that() -> None:
    spellings = DeltaDeduplicator(FrameStats())
    spellings.new_text(PART, LONG * 3)

    for letter in LONG * 2:
        assert not spellings.new_text(CHUNK, letter)

    assert len(spellings._matched) <= KEPT_UNITS
