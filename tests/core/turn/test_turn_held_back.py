"""Response headers are held back while a dialect can still reject the prompt."""

from collections.abc import Sequence

import pytest

from support.hesitant import ABORT, Hesitant
from turnwire.core import events
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.events import Reason
from turnwire.core.rejection import Rejection
from turnwire.core.turn.inputs import AgentLeft, Blocked, ClientLeft, Drain, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream


def opened(protocol: Hesitant | None = None) -> Turn:
    turn = Turn(protocol or Hesitant(), Limits(hold_s=5), UIMessageStream())
    assert turn.handle(Opened(), 0) == Output()
    return turn


def test_nothing_is_written_until_the_dialect_commits() -> None:
    turn = opened()

    assert turn.frames([b"wait"], 1) == Output()
    assert turn.deadline == 5

    written = turn.frames([b"yes"], 2).to_client

    assert written.startswith(b": keepalive\n\nevent: data-agent-status\n")
    assert b"message-start" in written


def test_nothing_is_held_back_longer_than_it_may_be() -> None:
    turn = opened()
    turn.frames([b"wait"], 1)

    assert b'"queued"' in turn.handle(Tick(), 5).to_client
    assert turn.deadline == 20


def test_the_headers_go_out_even_if_there_is_nothing_to_say() -> None:
    turn = opened()

    assert turn.handle(Tick(), 5).to_client == b": keepalive\n\n"


def test_a_refusal_before_the_headers_leaves_the_answer_to_the_caller() -> None:
    turn = opened()
    turn.frames([b"wait"], 1)

    assert turn.frames([b"no"], 2) == Output()
    assert turn.outcome is Outcome.REFUSED
    assert turn.handle(Tick(), 9) == turn.handle(Blocked(), 9) == Output()


def test_a_refusal_after_the_headers_is_an_error_in_the_stream() -> None:
    turn = opened()
    turn.handle(Tick(), 5)

    written = turn.frames([b"no"], 6).to_client

    assert turn.outcome is Outcome.REFUSED
    assert b'"errorText":"The session cannot take this prompt"' in written
    assert written.endswith(b"data: [DONE]\n\n")


def test_an_end_before_the_headers_is_streamed() -> None:
    turn = opened()

    written = turn.frames([b"end"], 1).to_client

    assert turn.outcome is Outcome.COMPLETED
    assert written.startswith(b": keepalive\n\n")
    assert written.endswith(b"data: [DONE]\n\n")


def test_nothing_counts_after_an_end() -> None:
    turn = opened()

    output = turn.frames([b"end"], 1)

    assert output.to_agent == ()
    assert (turn.outcome, turn.rejection) == (Outcome.COMPLETED, None)
    assert b"never" not in output.to_client


def test_events_come_before_frames_and_frames_before_the_rejection() -> None:
    turn = opened()
    turn.frames([b"yes"], 1)

    output = turn.frames([b"all"], 2)

    assert output.to_client.index(b"first") < output.to_client.index(b"cannot take this prompt")
    assert output.to_agent == [b"second"]
    assert (turn.outcome, turn.rejection) == (Outcome.REFUSED, Rejection.SESSION)


@pytest.mark.parametrize(("frame", "is_heard"), [(b"yes", True), (b"other", False)])
def test_only_a_frame_that_means_something_is_a_sign_of_life(
    frame: bytes, *, is_heard: bool
) -> None:
    turn = Turn(Picky(), Limits(idle_s=10), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([b"yes"], 1)

    for _ in turn.long_frame(frame, 6):
        pass

    assert turn.deadline == (16 if is_heard else 11)


@pytest.mark.parametrize("now", [1, 15, 500, 5_000])
def test_an_end_at_the_dialects_own_deadline_is_the_last_word(now: float) -> None:
    finished = Decoded([events.TurnFinished(reason=Reason.END_TURN)])
    turn = opened(Hesitant(late=finished, deadline=1))
    turn.handle(Drain(), 0)
    assert turn.deadline == 1

    act = turn.handle(Tick(), now)

    assert turn.outcome is Outcome.COMPLETED
    assert act.to_client.endswith(b'{"type":"finish"}\n\ndata: [DONE]\n\n')
    assert act.to_agent == ()


def test_a_deadline_of_the_dialect_may_bring_frames_to_send() -> None:
    turn = opened(Hesitant(late=Decoded(to_agent=[b"ping"]), deadline=1))

    assert turn.handle(Tick(), 1) == Output(to_agent=[b"ping"])
    assert turn.outcome is None


def test_a_client_gone_before_the_headers_is_waited_for_without_spinning() -> None:
    turn = opened()
    turn.frames([b"wait"], 1)
    turn.handle(ClientLeft(), 2)

    assert turn.handle(Tick(), 5) == Output()
    assert turn.deadline == 601  # the queue's silence
    assert turn.frames([b"yes"], 9).to_agent == [ABORT]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_before_the_dial_is_done_nothing_is_written() -> None:
    turn = Turn(Hesitant(), Limits(), UIMessageStream())

    assert turn.frames([b"yes"], 1) == Output()
    assert turn.handle(AgentLeft(), 2).to_client.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("shorter", ["idle_s", "turn_s"])
@pytest.mark.parametrize(("deadline", "hold_s"), [(5, 10), (5, 5)])
def test_whether_there_is_a_stream_the_dialect_says_whatever_the_limits(
    shorter: str, deadline: float, hold_s: float
) -> None:
    nothing = Decoded(rejection=Rejection.NO_TURN)
    limits = Limits(**{"hold_s": hold_s, shorter: 4})  # type: ignore[arg-type]
    turn = Turn(Hesitant(late=nothing, deadline=deadline), limits, UIMessageStream())
    turn.handle(Opened(), 0)

    assert turn.deadline == 5
    assert turn.handle(Tick(), 4.9) == Output()
    assert turn.outcome is None
    assert turn.handle(Tick(), 5) == Output()
    assert turn.outcome is Outcome.NOTHING


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [(Limits(idle_s=1), Outcome.SILENT), (Limits(turn_s=1), Outcome.TOO_LONG)],
)
def test_one_that_never_says_it_is_overdue_when_the_headers_are(
    limits: Limits, outcome: Outcome
) -> None:
    turn = Turn(Hesitant(), limits, UIMessageStream())
    turn.handle(Opened(), 0)

    assert turn.deadline == limits.hold_s
    assert turn.handle(Tick(), 4.9) == Output()
    assert turn.handle(Tick(), limits.hold_s).to_agent == [ABORT]
    assert turn.outcome is outcome


def test_one_that_has_accepted_is_overdue_when_the_limits_say_so() -> None:
    turn = Turn(Hesitant(), Limits(idle_s=1), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([b"yes"], 2)

    assert turn.deadline == 3
    assert turn.handle(Tick(), 3).to_agent == [ABORT]
    assert turn.outcome is Outcome.SILENT


class Unasked(Hesitant):
    """A wire on which the gateway waits for a frame before it sends the prompt."""

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        return ()


def test_a_client_that_leaves_before_the_prompt_was_sent_ends_the_stream() -> None:
    turn = opened(Unasked())

    assert turn.handle(ClientLeft(), 1) == Output()
    assert turn.outcome is Outcome.CLIENT_GONE


class Picky(Hesitant):
    """A wire with frames of other turns as well: all but `yes`, which is a sign of life."""

    def receive_frame(self, frame: bytes, _now: float) -> Decoded | None:
        self.accepted = True
        return Decoded() if frame == b"yes" else None


class Restless(Hesitant):
    """A wire that sets its deadline by a frame without events."""

    def receive_frame(self, _frame: bytes, now: float) -> None:
        self.deadline = now + 1


def test_an_earlier_deadline_is_noticed_though_no_event_came() -> None:
    turn = opened(Restless())
    turn.frames([b"x"], 2)

    assert turn.deadline == 3
