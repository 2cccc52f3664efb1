"""What may run before our prompt: the other turns, and the rows of the queue."""

from turnwire.core.requests import Channel
from turnwire.dialects.session_agent.open_turns import OpenTurns, QueuePosition


def test_what_is_known_of_others_is_bounded() -> None:
    open_turns = OpenTurns()

    for number in range(600):
        open_turns.dispatched(Channel("web", str(number)))
        open_turns.exclude_former(f"t{number}")

    assert len(open_turns._due) == len(open_turns._closed) == OpenTurns.KEPT_MAX


def test_a_place_is_never_below_nothing() -> None:
    place = QueuePosition(0)

    place.enter_other(None)

    assert place.advance(None)
    assert place.advance(None)
    assert place.length == 0


WEB = Channel("web", "default")
OTHER = Channel("web", "c2")


def test_a_turn_is_open_from_its_first_frame_to_the_end_of_its_channel() -> None:
    open_turns = OpenTurns()
    assert not open_turns

    open_turns.turn_seen("t1", WEB)
    open_turns.turn_seen("t2", OTHER)
    open_turns.close_channel(WEB)
    assert open_turns
    open_turns.turn_closed("t2")
    open_turns.turn_seen("t2", OTHER)  # late

    assert not open_turns


def test_a_prompt_that_is_dispatched_has_the_next_turn_of_its_channel() -> None:
    open_turns = OpenTurns()
    open_turns.dispatched(WEB)
    assert (bool(open_turns), open_turns.is_due(WEB), open_turns.is_due(OTHER)) == (
        True,
        True,
        False,
    )

    open_turns.turn_began("t1", WEB)

    assert (bool(open_turns), open_turns.is_due(WEB)) == (True, False)


def test_a_prompt_that_is_only_collected_has_no_turn() -> None:
    open_turns = OpenTurns()
    open_turns.dispatched(WEB)

    open_turns.collected(WEB)

    assert not open_turns


def test_a_turn_that_begins_ends_the_one_before_it_on_its_channel() -> None:
    open_turns = OpenTurns()
    open_turns.turn_began("t1", WEB)
    open_turns.turn_began("t2", WEB)

    open_turns.turn_closed("t2")

    assert not open_turns


def test_an_unknown_turn_is_the_one_that_the_runner_was_busy_with() -> None:
    open_turns = OpenTurns()
    open_turns.runner_busy()
    open_turns.turn_seen("t1", WEB)

    open_turns.turn_closed("t1")

    assert not open_turns


def test_a_turn_that_was_prompted_since_we_came_is_not_that_one() -> None:
    open_turns = OpenTurns()
    open_turns.runner_busy()
    open_turns.prompted(WEB)
    open_turns.turn_began("t1", WEB)

    open_turns.turn_closed("t1")

    assert open_turns


def test_if_the_turn_that_was_taken_for_it_is_ours_the_runner_is_busy_still() -> None:
    open_turns = OpenTurns()
    open_turns.runner_busy()
    open_turns.turn_seen("t1", WEB)

    open_turns.exclude_ours("t1")

    assert open_turns


def test_a_turn_that_was_ours_is_no_other_one_when_its_frames_are_late() -> None:
    open_turns = OpenTurns()
    open_turns.exclude_former("t1")

    open_turns.turn_seen("t1", WEB)

    assert not open_turns


def test_an_idle_runner_has_no_turn() -> None:
    open_turns = OpenTurns()
    open_turns.runner_busy()
    open_turns.dispatched(OTHER)
    open_turns.turn_seen("t1", WEB)

    open_turns.runner_idle()

    assert not open_turns


def test_our_prompt_is_out_when_all_rows_before_it_are() -> None:
    queue = QueuePosition(0)
    queue.enter(3)

    assert [queue.advance(left) for left in (2, 1, 0)] == [False, False, True]


def test_rows_behind_ours_do_not_hold_it_up() -> None:
    queue = QueuePosition(0)
    queue.enter(2)
    queue.enter_other(3)
    queue.enter_other(4)

    assert [queue.advance(3), queue.advance(2)] == [False, True]


def test_a_frame_that_was_missed_is_made_up_for_by_the_length() -> None:
    queue = QueuePosition(0)
    queue.enter(3)
    queue.enter_other(4)

    assert queue.advance(1)


def test_a_row_that_comes_back_is_before_ours() -> None:
    queue = QueuePosition(0)
    queue.enter(1)
    queue.requeued(2)

    assert [queue.advance(1), queue.advance(0)] == [False, True]


def test_a_queue_that_is_cleared_has_no_rows() -> None:
    queue = QueuePosition(4)

    queue.clear()

    assert (queue.length, queue.advance(None)) == (0, True)
