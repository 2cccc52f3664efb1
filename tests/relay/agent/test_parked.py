"""An agent that stalls: within a frame of its own, or over the prompt that it does not read."""

import pytest

from turnwire.relay.agent.parked import WHOLE_S, AgentSide, Parked, track
from turnwire.relay.memory_budget import SMALL_BYTES, Budget, Reservation

STALL_S = 20.0


class Unwritten:
    """A connection of which only the unwritten bytes count here."""

    brings_frames = False

    def __init__(self, unwritten_bytes: int = 0) -> None:
        self.unwritten_bytes = unwritten_bytes

    def send(self, _: object) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def may_open_late(self) -> bool:
        return False

    def finish(self) -> None:
        self.close()

    def close(self) -> None: ...


def agent_side(prompt_bytes: int | None) -> tuple[AgentSide, Budget, list[str]]:
    """One with such a prompt to send, or with none; and the ends that the budget asked of it."""
    budget, ends = Budget(100), list[str]()
    holder = budget.holder("u1")
    prompt: Reservation | None = None
    if prompt_bytes is not None:
        prompt = holder.reserve()
        prompt.set(prompt_bytes)
    return AgentSide(holder, prompt, lambda: ends.append("end")), budget, ends


@pytest.mark.parametrize(
    ("moves_at", "overdue_at"),
    [
        pytest.param([], STALL_S, id="nothing moves"),
        pytest.param([15.0], 15 + STALL_S, id="it moved once"),
        pytest.param([15.0 * n for n in range(1, 8)], WHOLE_S, id="it moves, but takes too long"),
    ],
)
def test_a_transfer_is_overdue(moves_at: list[float], overdue_at: float) -> None:
    parked: Parked | None = track(None, 100, 0)
    for number, now in enumerate(moves_at, 1):
        assert parked is not None
        assert not parked.is_overdue(now, STALL_S)
        parked = track(parked, 100 + number, now)
    assert parked is not None

    assert not parked.is_overdue(overdue_at - 0.1, STALL_S)
    assert parked.is_overdue(overdue_at, STALL_S)


def test_as_many_bytes_as_before_are_no_progress() -> None:
    parked = track(track(None, 5, 0), 5, STALL_S)

    assert parked is not None
    assert parked.is_overdue(STALL_S, STALL_S)


def test_another_transfer_has_its_own_time() -> None:
    first = track(None, 5, 0, 1)
    second = track(first, 5, STALL_S, 2)

    assert second is not None
    assert second is not first
    assert not second.is_overdue(STALL_S, STALL_S)


def test_where_nothing_waits_there_is_no_transfer() -> None:
    assert track(track(None, 5, 0), 0, 1) is None


@pytest.mark.parametrize(
    ("longest", "unwritten", "is_sent", "is_parked"),
    [
        pytest.param(49, 9, False, False, id="another frame"),
        pytest.param(50, 0, True, False, id="the prompt, and the kernel took it"),
        pytest.param(60, 9, True, True, id="the prompt, and a part of it waits"),
    ],
)
def test_a_frame_as_long_as_the_prompt_is_the_prompt(
    longest: int, unwritten: int, *, is_sent: bool, is_parked: bool
) -> None:
    side, budget, _ = agent_side(50)

    assert side.sent(longest, Unwritten(unwritten), 0) is is_parked
    assert (side.prompt is None, side.is_parked) == (is_sent, is_parked)
    assert budget.held_bytes == (unwritten if is_sent else 50)


def test_a_prompt_that_nobody_counts_is_not_waited_for() -> None:
    side, _, _ = agent_side(None)

    assert not side.sent(1_000_000, Unwritten(9), 0)


def test_a_prompt_that_the_agent_does_not_read_is_overdue() -> None:
    side, budget, _ = agent_side(50)
    connection = Unwritten(40)
    side.sent(50, connection, 0)

    connection.unwritten_bytes = 30
    assert not side.is_overdue(connection, STALL_S, STALL_S, reads=0, is_read=True)
    assert budget.held_bytes == 30
    assert side.is_overdue(connection, 2 * STALL_S, STALL_S, reads=0, is_read=True)

    connection.unwritten_bytes = 0
    assert not side.is_overdue(connection, 2 * STALL_S, STALL_S, reads=0, is_read=True)
    assert (budget.held_bytes, side.is_parked) == (0, False)


@pytest.mark.parametrize(
    ("reads", "is_read", "is_overdue"),
    [
        pytest.param(0, True, True, id="no frame came meanwhile"),
        pytest.param(1, True, False, id="it is another frame"),
        pytest.param(0, False, False, id="the agent is not read"),
    ],
)
def test_a_frame_that_does_not_go_on_is_overdue(
    reads: int, *, is_read: bool, is_overdue: bool
) -> None:
    side, _, _ = agent_side(None)
    side.frame.set(70)
    assert not side.is_overdue(None, 0, STALL_S, reads=0, is_read=True)
    assert side.is_parked

    overdue = side.is_overdue(None, STALL_S, STALL_S, reads=reads, is_read=is_read)

    assert (overdue, side.is_parked) == (is_overdue, is_read)


@pytest.mark.parametrize("largest", ["prompt", "frame"])
def test_either_of_the_two_ends_the_stream_if_the_budget_asks(largest: str) -> None:
    side, budget, ends = agent_side(90 if largest == "prompt" else 1)
    if largest == "frame":
        side.frame.set(90)

    assert budget.holder("u2").reserve().set(50)

    assert ends == ["end"]


def test_the_prompt_of_another_connection_is_counted_and_awaited_as_the_first() -> None:
    side, budget, _ = agent_side(50)
    stuck = Unwritten(40)
    assert side.sent(50, stuck, 0)
    assert budget.held_bytes == 40

    assert side.hold_prompt(SMALL_BYTES)
    assert budget.held_bytes == 0
    assert side.prompt is None
    assert not overdue(side, stuck, 2 * STALL_S)


def test_a_long_prompt_of_another_connection_needs_room() -> None:
    side, budget, ends = agent_side(None)

    assert not side.hold_prompt(SMALL_BYTES + 1)

    assert budget.held_bytes == SMALL_BYTES + 1
    assert side.prompt is not None
    side.prompt.on_end()
    assert ends == ["end"]


def overdue(side: AgentSide, connection: Unwritten, now: float) -> bool:
    return side.is_overdue(connection, now, STALL_S, reads=0, is_read=True)
