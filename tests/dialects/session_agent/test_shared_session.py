"""Several streams of one process in one session, and what they know of each other."""

from typing import Any

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, error, receive_frame, sent
from support.turns import wait
from turnwire.core.agent import NEVER, AbortScope
from turnwire.core.events import TurnStarted
from turnwire.core.requests import DEFAULT_CHANNEL, Channel, PromptRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import Blocked, ClientLeft, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent import commands, progress
from turnwire.dialects.session_agent.turn import TurnProtocol

THREAD = {"channel": Channel("thread", "th1")}


def running(revision: str, member: Member, **ask: Any) -> TurnProtocol:
    where = {"channelType": "thread", "channelId": "th1", "threadId": "th1"} if ask else f.CHANNEL
    return conversation(f.init(revision), f.user(**where), f.begin(**where), member=member, **ask)


@pytest.mark.parametrize(
    ("revision", "ours", "neighbour", "abort_scope"),
    [
        pytest.param("R", {}, {}, AbortScope.NONE, id="R would drop it from the queue"),
        pytest.param(
            "R", {}, {"channel": Channel("web", "c2")}, AbortScope.NONE, id="R, on any channel"
        ),
        pytest.param("V", {}, {}, AbortScope.OURS, id="V keeps what is queued behind ours"),
        pytest.param(
            "V",
            {},
            {"channel": Channel("web", "c2")},
            AbortScope.NONE,
            id="V would stop it as well",
        ),
        pytest.param("V", THREAD, {}, AbortScope.OURS, id="V stops a thread alone"),
    ],
)
def test_a_prompt_that_is_on_its_way_is_not_harmed(
    revision: str, ours: dict[str, Any], neighbour: dict[str, Any], abort_scope: AbortScope
) -> None:
    group = SessionGroup()
    made = running(revision, Member(group), **ours)
    assert made.abort_scope is AbortScope.OURS

    conversation(f.init(revision), text="other", member=Member(group), **neighbour)

    assert made.abort_scope is abort_scope


def test_one_that_left_is_no_neighbour() -> None:
    group = SessionGroup()
    made, member = running("R", Member(group)), Member(group)
    conversation(f.init("R"), text="other", member=member)

    member.leave()

    assert made.abort_scope is AbortScope.OURS


def test_a_prompt_that_was_queued_after_an_abort_outlives_its_acknowledgement() -> None:
    """R deletes its queue with the abort, and acknowledges when the runner has stopped."""
    aborted = f.doing("idle"), f.audit("user.abort")
    made = conversation(f.init("R", runnerBusy=True), *aborted, *f.queued("R"))

    assert receive_frame(made, f.status(runnerBusy=False, aborted=True), now=1) == []
    assert receive_frame(made, *f.dequeued("R"), now=1) == []
    assert made.deadline == 30
    assert receive_frame(made, f.begin(), now=1) == [TurnStarted(f.TURN)]


def test_a_queue_that_does_not_move_on_after_an_abort_is_gone() -> None:
    made = conversation(f.init("R", runnerBusy=True), *f.queued("R"))

    receive_frame(made, f.status(runnerBusy=False, aborted=True), now=1)

    assert error(made.tick(1 + progress.COMPLETION_GRACE_S)) == progress.DROPPED


def test_after_a_while_of_not_reading_a_pong_comes_before_an_abort() -> None:
    """Frames that were not read yet may have ended our turn, and an abort names no turn."""
    made = conversation(*f.running("V"))
    made.tick(30)
    sure = made.abort_scope

    made.mark_stale()

    assert (sure, made.abort_scope, made.abort()) == (AbortScope.OURS, AbortScope.SHARED, ())
    assert made.deadline < 31
    assert sent(made.tick(31)) == [{"type": "ping"}]
    assert made.receive_frame(f.frame("pong"), 31) is None
    assert not made.abort(), "it is the pong of the ping before"
    assert made.receive_frame(f.frame("pong"), 31) is None
    assert len(made.abort()) == 1
    assert made.deadline == 61


def begun(**limits: Any) -> Turn:
    made = Turn(
        DIALECTS["session-agent"].prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME)),
        Limits(**limits),
        UIMessageStream(),
    )
    made.handle(Opened(), 0)
    made.frames(f.running("V"), 1)
    return made


def unread(**limits: Any) -> Turn:
    """A stream whose client has read nothing since 2, so that nothing is read from the agent."""
    made = begun(**limits)
    made.handle(Blocked(), 2)
    return made


def test_a_stream_that_expires_aborts_its_turn_unless_frames_of_it_are_unread() -> None:
    read, not_read = begun(expires_at=10), unread(expires_at=10)

    assert read.handle(Tick(), 10).to_agent == [commands.abort(DEFAULT_CHANNEL)]
    assert not_read.handle(Tick(), 10).to_agent == ()
    assert (read.outcome, not_read.outcome) == (Outcome.EXPIRED, Outcome.EXPIRED)


def test_a_client_that_leaves_after_not_reading_stops_its_turn_once_all_was_heard() -> None:
    made = unread()

    assert not made.handle(ClientLeft(), 3).to_agent
    assert made.deadline < 3
    assert made.handle(Tick(), 3).to_agent == [commands.PING]
    assert not made.frames([f.chunk("a")], 4).to_agent
    act = made.frames([f.frame("pong")], 4)

    assert act.to_agent == [commands.abort(DEFAULT_CHANNEL)]
    assert made.outcome is Outcome.CLIENT_GONE


def test_or_leaves_the_next_one_alone_if_its_turn_is_over() -> None:
    made = unread()
    made.handle(ClientLeft(), 3)
    made.handle(Tick(), 3)

    act = made.frames([f.done("x"), f.frame("pong")], 4)

    assert (act.to_agent, made.outcome) == ((), Outcome.CLIENT_GONE)


def test_a_client_that_is_cut_off_stops_its_turn_once_all_was_heard() -> None:
    made = unread()

    act = made.handle(Tick(), 22)
    assert (act.to_agent, act.disconnect_client, made.outcome) == ((), True, None)
    assert made.deadline < 22
    assert made.handle(Tick(), 22).to_agent == [commands.PING]
    assert made.frames([f.chunk("a")], 23) == Output()
    act = made.frames([f.frame("pong")], 23)

    assert act == Output(to_agent=[commands.abort(DEFAULT_CHANNEL)])
    assert (made.outcome, made.deadline) == (Outcome.SLOW_CLIENT, NEVER)


def test_or_stops_nothing_if_its_turn_is_over() -> None:
    made = unread()
    made.handle(Tick(), 22)
    made.handle(Tick(), 22)

    act = made.frames([f.done("x"), f.begin("T2"), f.frame("pong")], 23)

    assert (act, made.outcome) == (Output(), Outcome.SLOW_CLIENT)


def test_or_if_no_pong_comes() -> None:
    made = unread()
    made.handle(Tick(), 22)

    made.handle(Tick(), 22)
    acts = wait(made, 5_000)

    assert {frame for _, act in acts for frame in act.to_agent} == {commands.PING}
    # It was heard from at 1, and the clock stood still from 2 to 22.
    assert acts[-1][0] == 22 - 1 + Limits().idle_s
    assert made.outcome is Outcome.SLOW_CLIENT


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_prompts_of_one_session_go_out_one_at_a_time(revision: str) -> None:
    group = SessionGroup()
    one, other = Member(group), Member(group)
    news: list[str] = []
    other.on_change = lambda: news.append("the floor is free")
    first = conversation(f.init(revision), member=one)
    second = conversation(member=other)

    assert sent(second.receive_frame(f.init(revision), 0)) == []
    assert (second.deadline, second.abort_scope) == (30, AbortScope.NONE)
    receive_frame(first, f.user(prompt="P1"))

    assert news
    assert second.deadline < 0
    assert [frame["type"] for frame in sent(second.tick(1))] == ["prompt"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_equal_prompts_are_two(revision: str) -> None:
    group = SessionGroup()
    first, second = (conversation(f.init(revision), member=Member(group)) for _ in range(2))
    # The second one's socket is behind, and hears the first one's echo when it has spoken.
    receive_frame(first, f.user(prompt="P1"))
    second.tick(0)

    receive_frame(second, f.user(prompt="P1"), f.user(prompt="P2"))

    assert (first.prompt_id, second.prompt_id) == ("P1", "P2")


def test_a_prompt_that_waits_before_we_have_spoken_is_not_ours() -> None:
    group = SessionGroup()
    ahead = conversation(f.init("V", runnerBusy=True), text="ahead", member=Member(group))
    made = conversation(f.init("V", runnerBusy=True), member=Member(group))
    # The same text, by somebody of another process.
    receive_frame(made, f.pending(prompt="P1"))
    receive_frame(ahead, f.user("ahead"))
    made.tick(0)

    receive_frame(made, f.pending(prompt="P1"))

    assert (made.queued, made.prompt_id) == (False, None)
