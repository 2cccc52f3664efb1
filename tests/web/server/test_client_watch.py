"""When the kernel is asked about a client, and what its answer means."""

import pytest

from turnwire.relay.tcp import PeerState
from turnwire.web.server.client_watch import ClientWatch, Loss

STALL_S = 20.0
GOOD = PeerState(vanishes_in_s=30, silent_s=0, has_unacked=False, acked_bytes=100, is_probed=False)
BEHIND = GOOD._replace(has_unacked=True)
GONE = BEHIND._replace(vanishes_in_s=-1, silent_s=31, is_probed=True)


def watched(*states: tuple[float, PeerState | None]) -> list[Loss | None]:
    watch = ClientWatch()
    return [watch.check(peer, now, STALL_S) for now, peer in states]


@pytest.mark.parametrize(
    ("last", "loss"),
    [
        pytest.param(GOOD, None, id="has all"),
        pytest.param(BEHIND._replace(acked_bytes=101), None, id="took something"),
        pytest.param(BEHIND, Loss.STALLED, id="no probe yet"),
        pytest.param(
            BEHIND._replace(is_probed=True, silent_s=3), Loss.STALLED, id="answers probes"
        ),
        pytest.param(
            BEHIND._replace(is_probed=True, silent_s=20), Loss.VANISHED, id="answers none"
        ),
        pytest.param(GONE, Loss.VANISHED, id="silent for too long"),
    ],
)
def test_a_client_that_takes_nothing_is_lost_in_the_end(last: PeerState, loss: Loss) -> None:
    assert watched((1000, BEHIND), (1019.9, BEHIND), (1020, last)) == [None, None, loss]


def test_a_client_that_vanishes_is_lost_before_it_stalls() -> None:
    assert watched((1000, BEHIND), (1005, GONE)) == [None, Loss.VANISHED]


def test_an_idle_client_is_never_stalled() -> None:
    assert watched((1000, GOOD), (5000, GOOD), (5019, BEHIND)) == [None, None, None]


@pytest.mark.parametrize(
    ("peer", "due_at"),
    [
        pytest.param(None, 1020, id="the kernel does not say"),
        pytest.param(GOOD, 1005, id="four times in the time of a stall"),
        pytest.param(GOOD._replace(vanishes_in_s=2), 1002, id="when it may have vanished"),
    ],
)
def test_the_kernel_is_asked_when_a_loss_is_possible(peer: PeerState | None, due_at: float) -> None:
    watch = ClientWatch()
    assert watch.is_due(0)

    assert watch.check(peer, 1000, STALL_S) is None

    assert not watch.is_due(due_at - 0.1)
    assert watch.is_due(due_at)
