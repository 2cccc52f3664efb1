"""The parts of a turn are counted as the agent counts them."""

from turnwire.core.ui_stream.blocks import Kind
from turnwire.core.ui_stream.told_parts import ToldParts

TEXT, REASONING = Kind


def test_blocks_in_a_row_of_one_kind_are_one_part() -> None:
    told = ToldParts()
    counts = []
    for kind in (TEXT, TEXT, REASONING, TEXT):
        told.add_block(kind)
        counts.append(told.count)

    assert counts == [1, 1, 2, 3]


def test_behind_another_part_or_a_step_or_what_was_taken_back_a_block_is_a_part() -> None:
    told = ToldParts()
    told.add_block(TEXT)
    assert told.add() == 1
    told.add_block(TEXT)
    assert told.end_block() == 3
    told.add_block(TEXT)
    assert told.count == 4
    told.begin_step()
    told.add_block(TEXT)
    assert told.count == 5
    told.retract(3)
    told.add_block(TEXT)
    assert told.count == 4


def test_a_step_begins_where_the_count_is() -> None:
    told = ToldParts()
    assert told.is_step_empty
    told.add_lasting()
    assert (told.step_since, told.holds_lasting, told.is_step_empty) == (0, True, False)
    told.begin_step()

    assert (told.step_since, told.holds_lasting, told.is_step_empty) == (1, False, True)


def test_no_more_is_taken_back_than_there_is() -> None:
    told = ToldParts()
    told.add()
    told.retract(7)

    assert told.count == 1


def test_a_turn_that_starts_over_counts_from_0_and_its_step_is_not_empty() -> None:
    told = ToldParts()
    told.add_block(TEXT)
    told.begin_step()
    told.start_over()

    assert (told.count, told.step_since, told.holds_lasting) == (0, 0, True)
    assert not told.is_step_empty
    told.add_block(TEXT)
    assert told.count == 1
