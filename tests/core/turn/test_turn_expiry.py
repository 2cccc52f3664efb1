"""A token that expires in mid-turn ends the stream."""

import pytest

from support import v2_frames as f
from support.turns import NOTHING, QUEUED, RUNNING, opened, sent_types, verdict, wait
from turnwire.core.turn.inputs import Blocked, ClientLeft, Tick
from turnwire.core.turn.limits import DisconnectPolicy
from turnwire.core.turn.outcome import Outcome

TEXT = "The token has expired"


@pytest.mark.parametrize(
    ("policy", "aborts"),
    [
        (DisconnectPolicy.ABORT, ["abort"]),
        (DisconnectPolicy.GRACE, ["abort"]),
        (DisconnectPolicy.CONTINUE, []),
    ],
)
def test_the_stream_is_cut_and_the_turn_treated_as_at_a_hang_up(
    policy: DisconnectPolicy, aborts: list[str]
) -> None:
    turn = opened(*RUNNING, expires_at=7, on_disconnect=policy)

    assert turn.handle(Tick(), 6.9) == NOTHING
    ((at, act),) = wait(turn, 500)

    assert (at, verdict(act), sent_types(act)) == (7, TEXT, aborts)
    assert (turn.outcome, turn.deadline) == (Outcome.EXPIRED, float("inf"))


def test_a_turn_that_is_over_in_time_is_not_cut() -> None:
    turn = opened(*RUNNING, expires_at=7)

    turn.frames([f.finalize()], 6)

    assert turn.handle(Tick(), 7) == NOTHING
    assert turn.outcome is Outcome.COMPLETED


def test_words_that_keep_coming_do_not_put_it_off() -> None:
    turn = opened(*RUNNING, expires_at=7)
    for now in range(2, 7):
        turn.frames([f.part("b")], now)

    assert wait(turn, 500)[0][0] == 7


def test_a_prompt_that_nobody_answered_yet_is_aborted() -> None:
    turn = opened(expires_at=3)

    ((at, act),) = wait(turn, 4)

    assert (at, verdict(act), sent_types(act)) == (3, TEXT, ["abort"])


def test_behind_the_turn_of_another_it_waits_for_our_turn() -> None:
    """An abort would stop the other turn."""
    turn = opened(*QUEUED, expires_at=7)

    assert wait(turn, 20) != []  # keepalives
    turn.frames([f.finalize("turn-0"), f.begin()], 21)
    assert turn.deadline <= 21

    act = turn.handle(Tick(), 21)

    assert (verdict(act), sent_types(act), turn.outcome) == (TEXT, ["abort"], Outcome.EXPIRED)


def test_a_client_that_is_gone_has_nothing_to_be_cut() -> None:
    turn = opened(*RUNNING, expires_at=7, on_disconnect=DisconnectPolicy.GRACE)
    turn.handle(ClientLeft(), 2)

    assert turn.handle(Tick(), 7) == NOTHING
    assert [at for at, _ in wait(turn, 500)] == [32]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_one_that_does_not_read_is_cut_too() -> None:
    turn = opened(*RUNNING, expires_at=7, stall_s=300)
    turn.handle(Blocked(), 3)

    ((at, act),) = wait(turn, 100)

    assert (at, sent_types(act), turn.outcome) == (7, ["abort"], Outcome.EXPIRED)
