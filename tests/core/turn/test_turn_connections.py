"""A turn over several connections: it waits without one, and goes on over the next."""

from collections.abc import Sequence

import pytest
from msgspec import Raw

from support.hesitant import Hesitant
from support.serial_protocol import Serial
from support.turns import verdict
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.connect import ConnectRequest
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Opened, Replied, Tick, Unreachable
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream

REPLY = Replied(QuestionReply("q1", Raw(b"1")), "u1")
NEXT_RUN = ConnectRequest(method="POST", body=b"1")
LIMITS = Limits(idle_s=20, question_wait_s=600, turn_s=3_000)


def opened(*frames: bytes, limits: Limits = LIMITS) -> tuple[Turn, Serial]:
    protocol = Serial()
    turn = Turn(protocol, limits, UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames(frames, 1)
    return turn, protocol


def waiting(limits: Limits = LIMITS) -> tuple[Turn, Serial]:
    """A turn that asked a question and waits for the answer, without a connection since 2."""
    turn, protocol = opened(b"Hello", b"ask", limits=limits)
    assert turn.handle(AgentLeft(), 2) == Output()
    return turn, protocol


def test_a_turn_that_needs_its_connection_is_interrupted() -> None:
    turn, _ = opened(b"Hello")

    assert verdict(turn.handle(AgentLeft(), 2)) == "Stream interrupted"
    assert turn.outcome is Outcome.INTERRUPTED


def test_a_turn_that_waits_goes_on_after_the_answer_over_another_connection() -> None:
    turn, protocol = waiting()

    replied = turn.handle(REPLY, 300)

    assert replied.connect == NEXT_RUN
    assert b"data-question" in replied.to_client
    assert protocol.replies == [(REPLY.reply, "u1")]

    assert turn.handle(Opened(), 301).connect is None
    assert turn.handle(Opened(), 301) == Output()
    assert protocol.opened == 2
    said = turn.frames([b" world", b"end"], 302).to_client

    assert b'"delta":" world"' in said
    assert b'"type":"start"' not in said
    assert turn.outcome is Outcome.COMPLETED


def test_it_waits_as_long_as_for_a_question_and_then_for_the_agent_anew() -> None:
    turn, _ = waiting()
    while turn.deadline < 601:
        turn.handle(Tick(), turn.deadline)
        assert turn.outcome is None
    turn.handle(REPLY, 600)
    turn.handle(Tick(), 619)
    assert turn.outcome is None

    assert verdict(turn.handle(Tick(), 621)) == "Agent stopped responding"


def test_the_next_connection_that_opens_is_a_sign_of_life() -> None:
    turn, _ = waiting()
    turn.handle(REPLY, 300)
    turn.handle(Opened(), 315)
    turn.handle(Tick(), 334)
    assert turn.outcome is None

    turn.handle(Tick(), 336)

    assert turn.outcome is Outcome.SILENT


def test_the_next_connection_brings_no_more_time_for_the_turn() -> None:
    turn, _ = waiting(Limits(idle_s=500, turn_s=400))
    turn.handle(REPLY, 300)
    turn.handle(Opened(), 301)
    turn.handle(Tick(), 401)

    assert turn.outcome is Outcome.TOO_LONG


def test_the_end_of_a_connection_may_ask_for_the_next_one() -> None:
    turn, _ = opened(b"next")

    assert turn.handle(AgentLeft(), 2).connect == ConnectRequest(method="POST", body=b"next")


def test_the_end_of_a_connection_may_end_the_turn() -> None:
    turn, _ = opened(b"Hello", b"last")

    assert verdict(turn.handle(AgentLeft(), 2)) == ""
    assert turn.outcome is Outcome.COMPLETED


def test_a_frame_may_ask_for_the_next_connection() -> None:
    turn, _ = opened()

    output = turn.frames([b"Hello", b"again"], 2)

    assert output.connect == ConnectRequest(method="POST", body=b"again")
    assert output.to_agent == [b"bye"]
    assert b"Hello" in output.to_client


def test_the_last_portion_of_a_long_frame_may_ask_for_it() -> None:
    turn, _ = opened()

    (output,) = turn.long_frame(b"again", 2)

    assert output.connect == ConnectRequest(method="POST", body=b"again")


def test_a_turn_that_is_over_needs_none() -> None:
    turn, _ = opened()

    assert turn.frames([b"end"], 2).connect is None


def test_a_turn_that_is_rejected_needs_none() -> None:
    late = Decoded(rejection=Rejection.SESSION, connect=NEXT_RUN)
    turn = Turn(Hesitant(late=late, deadline=3), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    assert turn.handle(Tick(), 3) == Output()
    assert turn.outcome is Outcome.REFUSED


class Waiting(Hesitant):
    """A frame after `wait` asks for the next run, and then nothing is left to abort."""

    def receive_frame(self, frame: bytes, now: float) -> Decoded | None:
        if frame != b"next":
            return super().receive_frame(frame, now)
        self.queued, self.has_asked = False, True
        return Decoded(connect=NEXT_RUN)

    has_asked = False

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.NONE if self.has_asked else super().abort_scope

    def abort(self) -> Sequence[bytes]:
        return () if self.has_asked else super().abort()


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_turn_whose_client_is_gone_needs_none(*, is_gone: bool) -> None:
    """It waited for what an abort would stop, and the next run does not begin."""
    turn = Turn(Waiting(), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([b"wait"], 1)
    if is_gone:
        turn.handle(ClientLeft(), 2)
        assert turn.outcome is None

    output = turn.frames([b"next"], 3)

    assert output.connect == (None if is_gone else NEXT_RUN)
    assert turn.outcome is (Outcome.CLIENT_GONE if is_gone else None)


@pytest.mark.parametrize(
    ("end", "outcome", "says"),
    [
        (AgentLeft(), Outcome.INTERRUPTED, "Stream interrupted"),
        (Unreachable(), Outcome.UNREACHABLE, "Connection failed"),
    ],
)
def test_a_next_connection_that_does_not_open_ends_the_turn(
    end: AgentLeft | Unreachable, outcome: Outcome, says: str
) -> None:
    turn, _ = waiting()
    turn.handle(REPLY, 300)

    assert verdict(turn.handle(end, 301)) == says
    assert turn.outcome is outcome


def test_a_turn_that_waits_ends_with_its_client_and_without_an_abort() -> None:
    turn, _ = waiting()

    assert turn.handle(ClientLeft(), 3) == Output()
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_turn_whose_client_left_for_good_still_takes_an_answer() -> None:
    turn, _ = waiting(Limits(on_disconnect=DisconnectPolicy.CONTINUE))
    turn.handle(ClientLeft(), 3)

    output = turn.handle(REPLY, 4)

    assert output == Output(connect=NEXT_RUN, to_agent=[])


@pytest.mark.parametrize("late", [REPLY, AgentLeft(), Opened()])
def test_nothing_comes_of_what_is_late(late: Replied | AgentLeft | Opened) -> None:
    turn, protocol = opened(b"end")

    assert turn.handle(late, 3) == Output()
    assert protocol.replies == []
    assert protocol.opened == 1
