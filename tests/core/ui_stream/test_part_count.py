"""The parts of a turn are counted as the agent counts them."""

from turnwire.core.ui_stream.blocks import Kind
from turnwire.core.ui_stream.part_count import PartCount

TEXT, REASONING = Kind


def test_blocks_in_a_row_of_one_kind_are_one_part() -> None:
    parts = PartCount()
    counts = []
    for kind in (TEXT, TEXT, REASONING, TEXT):
        parts.add_block(kind)
        counts.append(parts.count)

    assert counts == [1, 1, 2, 3]


def test_behind_another_part_or_a_step_or_what_was_taken_back_a_block_is_a_part() -> None:
    parts = PartCount()
    parts.add_block(TEXT)
    assert parts.add() == 1
    parts.add_block(TEXT)
    assert parts.end_block() == 3
    parts.add_block(TEXT)
    assert parts.count == 4
    parts.begin_step()
    parts.add_block(TEXT)
    assert parts.count == 5
    parts.retract(3)
    parts.add_block(TEXT)
    assert parts.count == 4


def test_a_step_begins_where_the_count_is() -> None:
    parts = PartCount()
    assert parts.is_step_empty
    parts.add_lasting()
    assert (parts.step_since, parts.holds_lasting, parts.is_step_empty) == (0, True, False)
    parts.begin_step()

    assert (parts.step_since, parts.holds_lasting, parts.is_step_empty) == (1, False, True)


def test_no_more_is_taken_back_than_there_is() -> None:
    parts = PartCount()
    parts.add()
    parts.retract(7)

    assert parts.count == 1


def test_a_turn_that_starts_over_counts_from_0_and_its_step_is_not_empty() -> None:
    parts = PartCount()
    parts.add_block(TEXT)
    parts.begin_step()
    parts.start_over()

    assert (parts.count, parts.step_since, parts.holds_lasting) == (0, 0, True)
    assert not parts.is_step_empty
    parts.add_block(TEXT)
    assert parts.count == 1
