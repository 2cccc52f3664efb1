from collections.abc import Sequence

import pytest
from msgspec import Raw

from support.hesitant import ABORT, Hesitant
from turnwire.core import events
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    Event,
    Question,
    QuestionClosed,
    ReasoningDelta,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    TextDelta,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.steps import run_steps
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.continuation import (
    ContinuationProtocol,
    FollowingProtocol,
    read_events,
    replay,
)
from turnwire.core.turn_log.entries import Entry, Head, Joined, UnreadableError, frame, pack

FIRST, SECOND = Question("q1", Raw(b"{}")), Question("q2", Raw(b"{}"))
REPLY = QuestionReply("q1", Raw(b"1"))
TURN: Sequence[Event] = [TurnStarted("t1"), TextDelta("a"), FIRST, TextDelta("b"), SECOND]
AGAIN: list[Event] = [
    ReplayStarted("t1"),
    TextDelta("a"),
    FIRST,
    Replied("q1"),
    ReplayUncertain(),
    TextDelta("b"),
    SECOND,
    ReplayFinished(),
]


def framed(*made: Entry) -> bytes:
    return frame(b"".join(map(pack, made)), len(made))


def test_deltas_in_a_row_are_one_event() -> None:
    frames = [
        framed(TurnStarted("t1"), TextDelta("a"), TextDelta("b")),
        framed(TextDelta("c"), ReasoningDelta("d"), ReasoningDelta("e"), FIRST, TextDelta("f")),
        framed(Joined(3)),
    ]

    assert run_steps(read_events(frames)) == [
        TurnStarted("t1"),
        TextDelta("abc"),
        ReasoningDelta("de"),
        FIRST,
        TextDelta("f"),
    ]
    assert len(list(read_events(frames))) == len(frames)


def test_events_that_cannot_be_read() -> None:
    with pytest.raises(UnreadableError):
        run_steps(read_events([b"\xff"]))


def test_a_client_has_all_up_to_what_it_answers() -> None:
    assert replay(TURN, [REPLY]) == AGAIN


def test_the_last_of_several_answers_counts() -> None:
    replies = [REPLY, QuestionReply("q2", Raw(b"2"))]

    assert replay([*TURN, TextDelta("c")], replies)[-4:] == [
        Replied("q2"),
        ReplayUncertain(),
        TextDelta("c"),
        ReplayFinished(),
    ]


def test_a_turn_that_started_over_keeps_its_second_start() -> None:
    again = replay([TurnStarted("t1"), TurnStarted("t2"), FIRST], [REPLY])

    assert again[:2] == [ReplayStarted("t1"), TurnStarted("t2")]


def test_answers_to_a_question_that_the_log_lacks() -> None:
    assert replay([TextDelta("a")], [REPLY]) == [
        ReplayStarted("turn"),
        Replied("q1"),
        ReplayUncertain(),
        TextDelta("a"),
        ReplayFinished(),
    ]


class Run(Hesitant):
    """The next run of the agent."""

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded([events.AgentStatus("on")], [b"hello"])


def test_the_next_run_continues_what_is_repeated() -> None:
    protocol = ContinuationProtocol(Run(), TURN, [REPLY])

    assert protocol.connection_opened(0) == Decoded([*AGAIN, events.AgentStatus("on")], [b"hello"])
    assert protocol.connection_opened(1) == Decoded([events.AgentStatus("on")], [b"hello"])


def test_all_else_is_the_next_runs() -> None:
    run = Run(deadline=7, late=Decoded(rejection=Rejection.SILENT))
    protocol = ContinuationProtocol(run, TURN, [REPLY])
    assert protocol.frame_stats is run.frame_stats
    assert (protocol.accepted, protocol.queued, protocol.deadline) == (False, False, 7)
    assert protocol.connect_request() == ConnectRequest()

    protocol.receive_frame(b"yes", 0)
    run.has_other_watchers = True
    assert protocol.accepted
    assert protocol.has_other_watchers
    assert protocol.abort_scope is AbortScope.OURS
    assert protocol.abort() == [ABORT]
    assert protocol.tick(8) == Decoded(rejection=Rejection.SILENT)
    assert list(protocol.prepare_frame(b"")) == []
    protocol.connection_lost(9)
    protocol.client_detached()
    protocol.unwatched()
    protocol.mark_stale()
    assert protocol.reply.__self__ is run  # type: ignore[attr-defined]  # a bound method


def following(backlog: int) -> FollowingProtocol:
    request = ResumeRequest(user_id="u1", init_s=1, replies=[REPLY])
    protocol = FollowingProtocol(request)
    opening = entries.opening(pack(Head("p1", "u1")), Joined(backlog), ())
    expected = Decoded() if backlog else Decoded(replay([], [REPLY]))
    assert protocol.receive_frame(opening, 0) == expected
    return protocol


@pytest.mark.parametrize("cut", range(1, 5))
def test_a_reader_that_answered_gets_what_is_new(cut: int) -> None:
    protocol = following(5)

    assert protocol.receive_frame(framed(*TURN[:cut]), 0) == Decoded()
    assert protocol.receive_frame(framed(*TURN[cut:]), 0) == Decoded(AGAIN)
    assert protocol.receive_frame(framed(TextDelta("c")), 0) == "c"
    closed = QuestionClosed("q1")
    assert protocol.receive_frame(framed(closed), 0) == Decoded([closed])


def test_a_delta_alone_is_repeated_too() -> None:
    protocol = following(1)

    assert protocol.receive_frame(framed(TextDelta("a")), 0) == Decoded(
        replay([TextDelta("a")], [REPLY])
    )


def test_a_turn_that_began_with_nothing() -> None:
    assert following(0).receive_frame(framed(TextDelta("a")), 0) == "a"


def test_a_turn_that_is_gone() -> None:
    protocol = FollowingProtocol(ResumeRequest(user_id="u1", init_s=1, replies=[REPLY]))

    assert protocol.receive_frame(entries.absent(), 0) == Decoded(rejection=Rejection.NO_TURN)
