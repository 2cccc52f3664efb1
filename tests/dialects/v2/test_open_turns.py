"""The open turns that are not ours: which frames open one, and what closes it."""

import pytest

from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.dialects.v2.open_turns import OpenTurns

OTHER = Channel("slack", "C1")


def test_a_turn_is_open_from_its_first_frame_to_its_end() -> None:
    turns = OpenTurns()
    assert (len(turns), turns.has_seen_any) == (0, False)

    turns.turn_seen("t1")
    turns.turn_seen("t1")
    turns.turn_created("t1", OTHER)
    assert len(turns) == 1

    turns.turn_closed("t1")
    turns.turn_seen("t1")
    turns.turn_created("t1", OTHER)

    assert (len(turns), turns.has_seen_any) == (0, True)


def test_until_a_frame_names_its_channel_a_turn_may_be_on_any() -> None:
    turns = OpenTurns()
    turns.turn_seen("t1")
    assert turns.may_be_open_on(DEFAULT_CHANNEL)

    turns.turn_created("t1", OTHER)

    assert not turns.may_be_open_on(DEFAULT_CHANNEL)
    assert turns.may_be_open_on(OTHER)


@pytest.mark.parametrize(
    ("is_earlier", "counts"),
    [
        pytest.param(False, False, id="it may be our own"),
        pytest.param(True, True, id="it ran when we came"),
    ],
)
def test_the_turn_that_may_be_ours_is_in_our_way_only_if_it_ran_before(
    *, is_earlier: bool, counts: bool
) -> None:
    turns = OpenTurns()
    turns.turn_seen("t1", is_earlier=is_earlier)
    turns.turn_created("t1", DEFAULT_CHANNEL)  # which keeps whether it is an earlier one

    assert turns.may_be_open_on(DEFAULT_CHANNEL, besides="t1") is counts
    assert turns.may_be_open_on(DEFAULT_CHANNEL, besides="t2")


def test_a_frame_of_an_unknown_turn_is_of_the_one_that_was_not_named() -> None:
    turns = OpenTurns()
    turns.unnamed_turn_seen()
    assert (len(turns), turns.may_be_open_on(OTHER)) == (1, True)

    turns.turn_seen("t1", DEFAULT_CHANNEL)

    assert (len(turns), turns.may_be_open_on(OTHER)) == (1, False)
    assert turns.may_be_open_on(DEFAULT_CHANNEL, besides="t1")  # so it is an earlier one


def test_the_end_of_an_unknown_turn_is_that_of_the_unnamed_one() -> None:
    turns = OpenTurns()
    turns.unnamed_turn_seen()

    turns.turn_closed("t1")
    assert len(turns) == 0

    turns.unnamed_turn_seen()
    turns.turn_closed("t1")  # the end of a turn that is over says nothing

    assert len(turns) == 1


def test_what_is_ours_is_no_other_turn() -> None:
    turns = OpenTurns()
    turns.turn_seen("t1")

    turns.forget("t1")
    turns.forget("t2")

    assert len(turns) == 0


def test_a_prompt_that_finished_closes_its_turn_alone() -> None:
    turns = OpenTurns()
    turns.turn_created("t1", OTHER, "p1")
    turns.turn_created("t2", OTHER, "p2")
    turns.turn_seen("t3")

    turns.prompt_finished("p1")

    assert len(turns) == 2


@pytest.mark.parametrize(("channel", "left"), [(OTHER, 3), (DEFAULT_CHANNEL, 3), (None, 0)])
def test_an_idle_agent_has_no_open_turn_on_that_channel(channel: Channel | None, left: int) -> None:
    turns = OpenTurns()
    turns.turn_created("t1", OTHER)
    turns.turn_created("t2", DEFAULT_CHANNEL)
    turns.turn_seen("t3")
    turns.unnamed_turn_seen()

    turns.channel_idle(channel)

    assert len(turns) == left
