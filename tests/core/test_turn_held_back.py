"""Response headers are held back where a dialect can still refuse the prompt."""

from collections.abc import Iterator, Sequence

import pytest

from turnwire.core import events
from turnwire.core.act import Act
from turnwire.core.dialect import NEVER, Reach, Tally
from turnwire.core.events import Event, Reason, Told
from turnwire.core.limits import Limits
from turnwire.core.outcome import Outcome
from turnwire.core.refusal import Refusal
from turnwire.core.turn import Turn

ABORT = b"abort"


class Hesitant:
    """A wire on which `yes`, `no`, `wait` and `end` are said; it decides at its deadline."""

    def __init__(self, *, late: Sequence[Event] = (), deadline: float = NEVER) -> None:
        self.tally = Tally()
        self.accompanied = False
        self.committed = False
        self.queued = False
        self.deadline = deadline
        self._late = late

    def look_into(self, _frame: bytes, /) -> Iterator[None]:
        yield from ()

    def open(self, _now: float) -> Sequence[Event]:
        return ()

    def unattended(self) -> None:
        pass

    def unwatched(self) -> None:
        pass

    def doubt(self) -> None:
        pass

    def hear(self, frame: bytes, _now: float) -> Told:
        match frame:
            case b"yes":
                self.committed, self.queued = True, False
                return [events.TurnStarted("t")]
            case b"no":
                return [events.Refused(), events.TextDelta("never")]
            case b"wait":
                self.queued = True
                return [events.Queued()]
            case _:
                return [events.TurnFinished(reason=Reason.END_TURN)]

    def tick(self, _now: float) -> Sequence[Event]:
        self.deadline = NEVER
        return self._late

    @property
    def reach(self) -> Reach:
        return Reach.OTHERS if self.queued else Reach.OURS

    def abort(self) -> Sequence[bytes]:
        return () if self.queued else [ABORT]


def opened(conversation: Hesitant | None = None) -> Turn:
    turn = Turn(conversation or Hesitant(), Limits(hold_s=5))
    assert turn.opened(0) == Act()
    return turn


def test_nothing_is_written_until_the_dialect_commits() -> None:
    turn = opened()

    assert turn.frames([b"wait"], 1) == Act()
    assert turn.deadline == 5

    written = turn.frames([b"yes"], 2).write

    assert written.startswith(b": keepalive\n\nevent: data-agent-status\n")
    assert b"message-start" in written


def test_nothing_is_held_back_longer_than_it_may_be() -> None:
    turn = opened()
    turn.frames([b"wait"], 1)

    assert b'"queued"' in turn.tick(5).write
    assert turn.deadline == 20


def test_the_headers_go_out_even_if_there_is_nothing_to_say() -> None:
    turn = opened()

    assert turn.tick(5).write == b": keepalive\n\n"


def test_a_refusal_before_the_headers_leaves_the_answer_to_the_caller() -> None:
    turn = opened()
    turn.frames([b"wait"], 1)

    assert turn.frames([b"no"], 2) == Act()
    assert turn.outcome is Outcome.REFUSED
    assert turn.tick(9) == turn.blocked(9) == Act()


def test_a_refusal_after_the_headers_is_an_error_in_the_stream() -> None:
    turn = opened()
    turn.tick(5)

    written = turn.frames([b"no"], 6).write

    assert turn.outcome is Outcome.REFUSED
    assert b'"errorText":"The session cannot take this prompt"' in written
    assert written.endswith(b"data: [DONE]\n\n")


def test_an_end_before_the_headers_is_streamed() -> None:
    turn = opened()

    written = turn.frames([b"end"], 1).write

    assert turn.outcome is Outcome.COMPLETED
    assert written.startswith(b": keepalive\n\n")
    assert written.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("now", [1, 15, 500, 5_000])
def test_an_end_at_the_dialects_own_deadline_is_the_last_word(now: float) -> None:
    finished = [events.TurnFinished(reason=Reason.END_TURN)]
    turn = opened(Hesitant(late=finished, deadline=1))
    turn.drain(0)
    assert turn.deadline == 1

    act = turn.tick(now)

    assert turn.outcome is Outcome.COMPLETED
    assert act.write.endswith(b'{"type":"finish"}\n\ndata: [DONE]\n\n')
    assert act.tell == ()


def test_a_deadline_of_the_dialect_may_bring_frames_to_send() -> None:
    turn = opened(Hesitant(late=[events.Send(b"ping")], deadline=1))

    assert turn.tick(1) == Act(tell=[b"ping"])
    assert turn.outcome is None


def test_a_client_gone_before_the_headers_is_waited_for_without_spinning() -> None:
    turn = opened()
    turn.frames([b"wait"], 1)
    turn.client_left(2)

    assert turn.tick(5) == Act()
    assert turn.deadline == 601  # the queue's silence
    assert turn.frames([b"yes"], 9).tell == [ABORT]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_before_the_dial_is_done_nothing_is_written() -> None:
    turn = Turn(Hesitant(), Limits())

    assert turn.frames([b"yes"], 1) == Act()
    assert turn.agent_left(2).write.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("shorter", ["idle_s", "turn_s"])
@pytest.mark.parametrize(("deadline", "hold_s"), [(5, 10), (5, 5)])
def test_whether_there_is_a_stream_the_dialect_says_whatever_the_limits(
    shorter: str, deadline: float, hold_s: float
) -> None:
    nothing = [events.Refused(Refusal.NOTHING)]
    limits = Limits(**{"hold_s": hold_s, shorter: 4})  # type: ignore[arg-type]
    turn = Turn(Hesitant(late=nothing, deadline=deadline), limits)
    turn.opened(0)

    assert turn.deadline == 5
    assert turn.tick(4.9) == Act()
    assert turn.outcome is None
    assert turn.tick(5) == Act()
    assert turn.outcome is Outcome.NOTHING


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [(Limits(idle_s=1), Outcome.SILENT), (Limits(turn_s=1), Outcome.TOO_LONG)],
)
def test_one_that_never_says_it_is_overdue_when_the_headers_are(
    limits: Limits, outcome: Outcome
) -> None:
    turn = Turn(Hesitant(), limits)
    turn.opened(0)

    assert turn.deadline == limits.hold_s
    assert turn.tick(4.9) == Act()
    assert turn.tick(limits.hold_s).tell == [ABORT]
    assert turn.outcome is outcome


def test_one_that_has_said_it_is_overdue_when_the_limits_say_so() -> None:
    turn = Turn(Hesitant(), Limits(idle_s=1))
    turn.opened(0)
    turn.frames([b"yes"], 2)

    assert turn.deadline == 3
    assert turn.tick(3).tell == [ABORT]
    assert turn.outcome is Outcome.SILENT


class Unasked(Hesitant):
    """A wire on which the gateway waits for something before it asks."""

    @property
    def reach(self) -> Reach:
        return Reach.NOTHING

    def abort(self) -> Sequence[bytes]:
        return ()


def test_a_client_that_leaves_before_anything_was_asked_ends_the_stream() -> None:
    turn = opened(Unasked())

    assert turn.client_left(1) == Act()
    assert turn.outcome is Outcome.CLIENT_GONE


class Restless(Hesitant):
    """A wire that sets itself a deadline with a frame that tells nothing."""

    def hear(self, _frame: bytes, now: float) -> Told:
        self.deadline = now + 1
        return ()


def test_a_deadline_that_comes_nearer_is_noticed_though_nothing_was_told() -> None:
    turn = opened(Restless())
    turn.frames([b"x"], 2)

    assert turn.deadline == 3
