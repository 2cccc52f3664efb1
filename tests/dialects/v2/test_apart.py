"""Agents that name no prompts, where other processes may have streams of the session too."""

from random import Random
from typing import Any, Final

import pytest

from support import v2_frames as f
from support.continued import continued, question
from support.decoded import outputs
from support.seeds import each_seed
from support.v2_protocol import conversation
from turnwire.core.agent import ALIVE, AbortScope, AgentProtocol, Decoded
from turnwire.core.events import (
    AgentStatus,
    Queued,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import ClientLeft, Held, Opened, Tick
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

AT_A_LOSS: Final = Decoded(rejection=Rejection.UNNAMED)
STARTED: Final = Decoded([TurnStarted(f.OURS)])


def apart(
    *frames: bytes, user: str = "ann", group: SessionGroup | None = None, **ask: Any
) -> AgentProtocol:
    """A conversation of a process that has not the only room of its session."""
    asked = PromptRequest(**{"text": "hi", "prompt_id": f.PROMPT, "user_id": user} | ask)
    made = DIALECTS["v2"].prompt(asked, Member(group or SessionGroup(apart=True)))
    for frame in frames:
        made.receive_frame(frame, 0)
    return made


@pytest.mark.nameless(
    "`message.create` without `promptId`",
    "`apart`: as with `together`, and only if its `userId` is our user; it is never aborted",
    "another process may have prompted too; of two prompts of one user the user may see either "
    "turn",
)
@pytest.mark.parametrize(
    ("create", "told"),
    [
        pytest.param(f.create(), AT_A_LOSS, id="it says nothing of whose it is"),
        pytest.param(f.create(userId=None), AT_A_LOSS, id="null is nothing"),
        pytest.param(f.create(userId=""), AT_A_LOSS, id="nor is the empty id"),
        pytest.param(f.create(userId=7), AT_A_LOSS, id="a number is no id of a user"),
        pytest.param(f.create(userId="ann"), STARTED, id="our user's"),
        pytest.param(f.create(userId="bob"), None, id="another user's"),
        pytest.param(f.create(userId="ann", channelId="x"), None, id="our user's, elsewhere"),
        pytest.param(f.create(channelId="x"), None, id="nobody's, elsewhere"),
        pytest.param(f.begin(), STARTED, id="it has our promptId"),
        pytest.param(f.create(promptId="p1", userId="bob"), STARTED, id="a promptId is enough"),
        pytest.param(f.create(promptId="p0", userId="ann"), None, id="another promptId"),
    ],
)
def test_a_turn_is_bound_only_if_nobody_else_can_mean_it(
    create: bytes, told: Decoded | None
) -> None:
    heard = apart().receive_frame(create, 0)

    assert heard == told or (told is None and heard == Decoded([Queued()]))


@pytest.mark.parametrize("user", ["", "bob"])
def test_in_one_process_nothing_of_that_is_asked(user: str) -> None:
    assert conversation(user_id="ann").receive_frame(f.create(userId=user), 0) == STARTED


def test_whoever_has_no_name_is_not_taken_for_another_without_one() -> None:
    assert apart(user="").receive_frame(f.create(userId=""), 0) == AT_A_LOSS


def test_two_prompts_of_one_user_in_one_process_are_still_told_apart() -> None:
    group = SessionGroup(apart=True)
    one, other = apart(group=group), apart(group=group)
    create = f.create(userId="ann")

    assert one.receive_frame(create, 0) == STARTED
    assert TurnStarted not in map(type, outputs(other.receive_frame(create, 0)))


@pytest.mark.attack(
    "several processes, an agent that names no prompts: a client hangs up",
    "a turn that was matched without its `promptId` is never aborted",
)
@pytest.mark.parametrize("policy", list(DisconnectPolicy))
def test_a_turn_that_was_bound_by_its_user_is_never_aborted(policy: DisconnectPolicy) -> None:
    turn = Turn(apart(), Limits(on_disconnect=policy, grace_s=1), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([f.create(userId="ann"), f.part("a")], 1)

    told = [
        *turn.handle(ClientLeft(), 2).to_agent,
        *turn.handle(Tick(), 9).to_agent,
        *turn.frames([f.part("b")], 10).to_agent,
    ]
    told += turn.frames([f.finalize()], 11).to_agent

    assert told == []
    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize("outcome", [Outcome.SILENT, Outcome.TOO_LONG, Outcome.SLOW_CLIENT])
def test_nor_is_it_aborted_for_any_other_reason(outcome: Outcome) -> None:
    limits = {Outcome.TOO_LONG: Limits(turn_s=5), Outcome.SILENT: Limits(idle_s=5)}
    turn = Turn(apart(), limits.get(outcome, Limits()), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([f.create(userId="ann"), f.part("a")], 1)

    act = (
        turn.handle(Held(1 << 30), 2) if outcome is Outcome.SLOW_CLIENT else turn.handle(Tick(), 20)
    )

    assert (act.to_agent, turn.outcome) == ((), outcome)


def test_once_the_agent_names_our_prompt_it_may_be_aborted() -> None:
    made = apart(f.create(userId="ann"))
    guessed = made.abort_scope

    assert made.receive_frame(f.begin(), 0) == ALIVE
    assert (guessed, made.abort_scope) == (AbortScope.NONE, AbortScope.OURS)
    assert len(made.abort()) == 1


def test_a_turn_with_our_prompt_takes_the_place_of_the_one_that_was_guessed() -> None:
    made = apart(f.create(userId="ann"))

    assert made.receive_frame(f.begin("turn-2"), 0) == Decoded([TurnStarted("turn-2")])
    assert made.abort_scope is AbortScope.OURS


@pytest.mark.fault(
    "several processes, and an agent that names neither prompt nor user",
    "no user sees the answer of another user: the stream ends with an error",
)
def test_a_stream_that_cannot_know_its_turn_says_so_and_stops_nothing() -> None:
    turn = Turn(apart(), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    act = turn.frames([f.create(), f.part("4111"), f.finalize()], 1)

    assert turn.outcome is Outcome.UNNAMED
    assert act.to_agent == ()
    assert b'"errorText":"The agent does not say whose answer this is"' in act.to_client
    assert act.to_client.endswith(b"data: [DONE]\n\n")
    assert b"4111" not in act.to_client


def test_a_prompt_that_waits_behind_a_turn_learns_of_its_own_later() -> None:
    made = apart(f.init(runningTurnId="turn-0"))

    assert made.receive_frame(f.create(userId="bob"), 0) is None, (
        "the one that ran may be on our channel"
    )
    made.receive_frame(f.finalize("turn-0"), 0)
    made.receive_frame(f.finalize(), 0)
    assert made.receive_frame(f.create("turn-2", userId="ann"), 0) == Decoded(
        [TurnStarted("turn-2")]
    )


def test_a_refusal_and_a_status_that_name_nobody_are_heard_before_a_turn_as_ever() -> None:
    """An agent that runs one turn at a time need not name it (docs/scale.md)."""
    made = apart()

    thinking = made.receive_frame(f.frame("agentStatus", status="thinking"), 0)
    assert thinking == Decoded([AgentStatus("thinking")])
    (end,) = outputs(made.receive_frame(f.frame("error", error="no"), 0))
    assert isinstance(end, TurnFinished)


@pytest.mark.nameless(
    "an entry of `init` without `promptId`, for a client that resumes its own run",
    "`together`: if it runs on the channel. `apart`: never",
    "it continues a message that the client has",
)
@pytest.mark.parametrize(("is_apart", "found"), [(False, True), (True, False)])
def test_a_run_is_not_resumed_in_a_turn_without_a_prompt(*, is_apart: bool, found: bool) -> None:
    """A client that resumes its own run goes on in its own message: no other turn may follow."""
    look = ResumeRequest(user_id="ann", init_s=5, prompt_id="p1")
    made = DIALECTS["v2"].resume(look, Member(SessionGroup(apart=is_apart)))
    made.connection_opened(0)
    turn = {"id": f.OURS, "role": "assistant", "parts": []}
    busy = {"runnerBusy": True, "runningTurnId": f.OURS}

    told = made.receive_frame(f.frame("init", session={"messages": [turn]}, data=busy), 0)

    assert (told == STARTED) == found
    assert (told == Decoded(rejection=Rejection.NO_TURN)) != found


@pytest.mark.nameless(
    "the next turn of a channel, for a resumed stream that waits",
    "always",
    "the client names a channel, not a turn; a resumed stream aborts nothing",
)
def test_a_look_at_a_channel_is_shown_what_runs_there_whoever_asked() -> None:
    made = DIALECTS["v2"].resume(
        ResumeRequest(user_id="ann", init_s=5), Member(SessionGroup(apart=True))
    )
    made.connection_opened(0)
    waits = {"id": "u1", "role": "user", "queued": True, "parts": []}
    made.receive_frame(f.frame("init", session={"messages": [waits]}), 0)

    assert made.receive_frame(f.create(), 0) == STARTED
    assert made.abort_scope is AbortScope.NONE


@pytest.mark.nameless(
    "an entry of `init` without `userId`, whose question was answered with the message",
    "`together`: unless another stream follows it. `apart`: never; it is not stopped by a hang-up",
    "the stream that asked for it follows it in this process, or is gone",
)
@pytest.mark.parametrize(
    ("is_apart", "asker", "aborts"),
    [
        (False, {}, 1),
        (True, {}, 0),
        (True, {"userId": "u1"}, 1),
        (True, {"userId": "u2"}, 0),
    ],
)
def test_an_answered_turn_is_stopped_only_where_its_user_is_known(
    *, is_apart: bool, asker: dict[str, str], aborts: int
) -> None:
    made = continued(member=Member(SessionGroup(apart=is_apart)))
    turn = {"id": f.OURS, "role": "assistant", "parts": [question()], **asker}
    busy = {"runnerBusy": True, "runningTurnId": f.OURS}
    made.frames([f.frame("init", session={"messages": [turn]}, data=busy)], 1)

    assert len(made.handle(ClientLeft(), 2).to_agent) == aborts


def frames_of(seed: int, *, names_users: bool) -> list[tuple[str, bytes]]:
    """Turns of ann's and bob's, from an agent that names no prompts, one at a time."""
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    told: list[tuple[str, bytes]] = []
    for number in range(6):
        user, turn = dice.choice(("ann", "bob")), f"t{number}"
        named = {"userId": user} if names_users else {}
        frames = [
            f.create(turn, **named),
            f.part(f"for {user}", turn),
            f.question(f"q{dice.randrange(2)}", turnId=turn, said=f"for {user}"),
            f.finalize(turn),
        ]
        if dice.random() < 0.3:
            early = f.frame("agentStatus", status="thinking", turnId=turn, detail=f"for {user}")
            frames.insert(0, early)
        if dice.random() < 0.3:
            frames[-1:] = [f.frame("complete", turnId=turn)]
        told += [(user, frame) for frame in frames]
    return told


@pytest.mark.parametrize("names_users", [True, False])
@each_seed(40)
def test_nobody_is_shown_anything_of_another_user(seed: int, *, names_users: bool) -> None:
    for user, other in (("ann", b"for bob"), ("bob", b"for ann")):
        turn = Turn(apart(user=user), Limits(), UIMessageStream())
        written = turn.handle(Opened(), 0).to_client
        aborts: list[bytes] = []
        for now, (_, frame) in enumerate(frames_of(seed, names_users=names_users), start=1):
            act = turn.frames([frame], now)
            written += act.to_client
            aborts += act.to_agent
        aborts += turn.handle(ClientLeft(), 99).to_agent

        assert other not in written
        assert not aborts or turn.turn_id is None
        assert (turn.outcome is Outcome.UNNAMED) != names_users
