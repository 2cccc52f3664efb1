"""Whether a prompt is ours for certain, where other processes may have sent an equal one."""

from typing import Any, Final

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, receive_frame, sent
from turnwire.core.agent import AbortScope
from turnwire.core.session_group import Member, SessionGroup
from turnwire.dialects.session_agent.open_turns import OpenTurns
from turnwire.dialects.session_agent.turn import TurnProtocol

PONG: Final = f.frame("pong")
QUEUED_BY_ANOTHER: Final = f.audit("prompt.queued", actorId="u2")


def apart(*frames: bytes, group: SessionGroup | None = None, **ask: Any) -> TurnProtocol:
    """A conversation of a process that has not the only room of its session."""
    made = conversation(member=Member(group or SessionGroup(apart=True)), **ask)
    for frame in frames:
        told = made.receive_frame(frame, 0)
        if {"type": "prompt"}.items() <= next(iter(sent(told)), {}).items():
            assert sent(made.tick(0)) == [{"type": "ping"}], "right after the prompt"
    return made


def equal(prompt: str, **fields: Any) -> bytes:
    return f.user(prompt=prompt, **fields)


def test_in_one_process_no_ping_follows_a_prompt() -> None:
    made = conversation(f.init("V"))

    assert made.deadline == 30
    assert sent(made.tick(1)) == []


@pytest.mark.nameless(
    "an equal prompt of the same user, by another process",
    "`apart`: the first echo is shown; it is aborted only if it was the only one before "
    "the `pong` of a `ping` that followed ours, and stays so",
    "the agent reads a socket in order, so it has echoed our prompt by then",
)
@pytest.mark.attack(
    "several processes, one user, two equal prompts on the `session-agent` wire",
    "a turn is aborted only if its prompt is surely ours: the only such echo so far, and "
    "before the `pong` to the `ping` that followed our prompt",
)
@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize(
    ("frames", "abort_scope"),
    [
        pytest.param([equal("P2"), f.begin()], AbortScope.SHARED, id="the pong is not there"),
        pytest.param([equal("P2"), f.begin(), PONG], AbortScope.OURS, id="one echo, then the pong"),
        pytest.param([equal("P2"), PONG, f.begin()], AbortScope.OURS, id="the turn comes later"),
        pytest.param([equal("P2"), equal("P2"), PONG, f.begin()], AbortScope.OURS, id="told again"),
        pytest.param(
            [equal("P2"), equal("P3"), f.begin(), PONG], AbortScope.NONE, id="two echoes by then"
        ),
        pytest.param(
            [equal("P2"), equal("P3", by=None), f.begin(), PONG],
            AbortScope.NONE,
            id="the other's author is not told",
        ),
        pytest.param([PONG, equal("P2"), f.begin()], AbortScope.NONE, id="the pong came first"),
        pytest.param(
            [equal("P2"), f.begin(), PONG, f.pending(prompt="P3")],
            AbortScope.NONE,
            id="another like it later",
        ),
        pytest.param(
            [equal("P2"), f.begin(), QUEUED_BY_ANOTHER, f.pending(prompt="P3"), PONG],
            AbortScope.OURS,
            id="the other is another user's",
        ),
        pytest.param(
            [equal("P2"), f.pending(prompt="P3", threadId="th1"), f.begin(), PONG],
            AbortScope.OURS,
            id="the other is of a thread",
        ),
    ],
)
def test_an_abort_needs_a_prompt_that_is_ours_for_certain(
    revision: str, frames: list[bytes], abort_scope: AbortScope
) -> None:
    made = apart(f.init(revision), *frames)

    assert made.abort_scope is abort_scope
    assert len(made.abort()) == (abort_scope is AbortScope.OURS)


@pytest.mark.parametrize("revision", ["A", "V"])
def test_a_prompt_that_was_told_as_waiting_is_proven_as_well(revision: str) -> None:
    made = apart(f.init(revision, runnerBusy=True), *f.queued(revision), PONG)
    receive_frame(made, f.done("x", "turn-0"), *f.dequeued(revision), f.begin())

    assert made.abort_scope is AbortScope.OURS


@pytest.mark.parametrize("revision", ["A", "V"])
def test_two_that_wait_with_our_text_are_one_too_many(revision: str) -> None:
    made = apart(f.init(revision, runnerBusy=True), f.pending(prompt="P1"), f.pending(), PONG)
    receive_frame(made, f.done("x", "turn-0"), f.user(prompt="P1"), f.begin())

    assert made.abort_scope is AbortScope.NONE
    assert not made._binding._is_certain


def test_an_equal_prompt_of_our_own_process_is_known_as_such() -> None:
    group = SessionGroup(apart=True)
    first = apart(f.init("V"), group=group)
    second = conversation(f.init("V"), member=Member(group))
    receive_frame(first, equal("P1"), PONG)
    second.tick(0)

    assert sent(second.tick(0)) == [{"type": "ping"}]
    receive_frame(second, equal("P1"), equal("P2"), PONG)
    receive_frame(first, f.begin("turn-1"), equal("P2"))

    assert (first.prompt_id, second.prompt_id) == ("P1", "P2")
    assert first._binding._is_certain
    assert second._binding._is_certain


def test_what_was_echoed_before_we_asked_does_not_count() -> None:
    made = conversation(member=Member(SessionGroup(apart=True)))
    made.receive_frame(equal("P1"), 0)
    made.receive_frame(f.init("V"), 0)
    made.tick(0)
    receive_frame(made, equal("P2"), PONG, f.begin())

    assert made.abort_scope is AbortScope.OURS


def test_more_equal_prompts_than_are_remembered_are_too_many() -> None:
    group = SessionGroup(apart=True)
    made, other = apart(f.init("V"), equal("P2"), PONG, f.begin(), group=group), Member(group)
    for number in range(OpenTurns.KEPT_MAX):
        other.claim(f"P{number + 3}")
        receive_frame(made, f.pending(prompt=f"P{number + 3}"))

    assert made.abort_scope is AbortScope.NONE
    assert len(made._binding._equal_prompts) == OpenTurns.KEPT_MAX


def test_a_long_turn_still_pings_every_half_minute() -> None:
    made = apart(f.init("V"), equal("P2"), PONG, f.begin())

    assert made.deadline == 30
    assert sent(made.tick(30)) == [{"type": "ping"}]
    assert made.abort_scope is AbortScope.OURS
