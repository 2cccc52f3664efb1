"""A crowd on one session of the `session-agent` wire, half of which hangs up at random moments."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence

import pytest

from gateway.clients import errors, is_whole, new_client, outline, said
from gateway.product import product
from gateway.running import Gateway
from gateway.waiting import until
from relay.crowd import EQUAL, LIMITS, WITHIN_S, CrowdMember, crowd
from support.form import either
from turnwire.dialects.session_agent import progress
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets


async def meet(gateway: Gateway, members: Sequence[CrowdMember]) -> None:
    """All of them at once, to the end of the last stream, those without a client included."""
    async with new_client() as client, asyncio.timeout(WITHIN_S):
        await asyncio.gather(*(member.talk(client, gateway) for member in members))
    await until(lambda: len(gateway.streams) == 0, WITHIN_S)


def check(members: Sequence[CrowdMember], agent: SessionAgent, *allowed: str) -> None:
    """Nobody saw anything of another's turn, and whoever read to the end saw its own verdict."""
    turns = {turn.turn_id: turn for turn in agent.tally.finished}
    crossed = {hit.turn_id for hit in agent.tally.crossed}
    for member in members:
        assert member.answer.startswith(said(member.body))
        if member.turn_id in turns:
            assert turns[member.turn_id].user_id == member.user
        if member.left:
            continue
        assert is_whole(member.body)
        if told := errors(member.body):
            assert set(told) <= set(allowed)
            assert not said(member.body)
        elif member.turn_id in crossed:
            assert "abort" in outline(member.body)
        else:
            assert said(member.body) == member.answer
    told_by = Counter(member.turn_id for member in members if member.turn_id is not None)
    assert set(told_by.values()) <= {1}, "two streams tell one turn"


def check_lines(agent: SessionAgent) -> None:
    """Every prompt that was asked came to one end."""
    tally = agent.tally
    ends = [
        *(turn.line for turn in tally.finished),
        # What is stopped after its end was told is not stopped any more.
        *(hit.line for hit in tally.stopped if hit.turn_id not in _finished(agent)),
        *(row.line for row in tally.evicted),
    ]
    asked = sum(frame["type"] == "prompt" for frame in agent.received)
    assert len(ends) == len(set(ends)) == asked


def _finished(agent: SessionAgent) -> set[str]:
    return {turn.turn_id for turn in agent.tally.finished}


EVERY_SEED = range(1, either(2, 7))


@pytest.mark.parametrize("seed", EVERY_SEED)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_crowd_on_one_channel(
    revision: Revision, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    members = crowd(seed)
    async with product(Habits(revision=revision, settles=True), given=LIMITS) as (agent, gateway):
        await meet(gateway, members)

    # R answers everybody in turn; A and V have one place to wait.
    check(members, agent, *([] if revision == "R" else [progress.EVICTED]))
    check_lines(agent)
    assert not agent.tally.crossed
    assert not agent.tally.deleted
    assert bool(agent.tally.evicted) == (revision != "R")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("seed", EVERY_SEED)
async def test_a_crowd_with_a_thread_for_each_chat(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    members = crowd(seed, threads=True)
    async with product(Habits(revision="V"), given=LIMITS) as (agent, gateway):
        await meet(gateway, members)

    check(members, agent, progress.EVICTED)
    check_lines(agent)
    assert agent.tally.aborts
    assert None not in {abort.thread for abort in agent.tally.aborts}
    # Whoever waits does so for its own thread, which two with equal prompts share here.
    assert {row.content for row in agent.tally.evicted} <= {m.text for m in members[:EQUAL]}
    stopped = [(hit.user_id, abort.by) for abort in agent.tally.aborts for hit in abort.crossed]
    assert all(user == by for user, by in stopped), "only its own thread's next turn"
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("seed", EVERY_SEED)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_abort_hits_another_turn_only_if_its_own_had_ended_meanwhile(
    revision: Revision, seed: int
) -> None:
    """The race that no gateway can close: this agent begins the next turn without a pause."""
    members = crowd(seed)
    async with product(Habits(revision=revision), given=LIMITS) as (agent, gateway):
        await meet(gateway, members)

    check(members, agent, *([] if revision == "R" else [progress.EVICTED]))
    assert not agent.tally.deleted
    assert all(abort.late is not None for abort in agent.tally.aborts if abort.crossed)
