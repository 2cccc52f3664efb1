"""A crowd on one session of the `session-agent` wire, half of which hangs up at random moments."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import httpx
import pytest

from gateway.clients import ask, chunks, errors, is_whole, new_client, outline, said
from gateway.product import product
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support.form import either
from turnwire.dialects.session_agent import progress
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

CLIENTS = 50
USERS = 10
EQUAL = 20
"""So many of them come in pairs: the same user with the same text at the same moment."""
LATEST = 1500
"""Passes of the loop in which all of them come."""
LIMITS = {"idle_s": 8, "queue_wait_s": 15, "tool_silence_s": 8, "turn_s": 20}
WITHIN_S = 20.0


@dataclass(slots=True, eq=False)
class Member:
    """One client of the crowd."""

    number: int
    thread: str | None
    arrives: int
    """After how many passes of the loop it asks."""
    patience: int | None
    """Records it reads before it hangs up; None: all."""
    gives_up: int | None
    """After how many passes of the loop it hangs up, whatever was said; None: never."""
    body: bytes = b""
    left: bool = False

    @property
    def kind(self) -> int:
        return self.number // 2 if self.number < EQUAL else self.number

    @property
    def user(self) -> str:
        return f"u{self.kind % USERS}"

    @property
    def text(self) -> str:
        return f"what is {self.kind}*1000+7?"

    @property
    def answer(self) -> str:
        kind = self.kind
        return f"Let me work that out. {kind}*1000+7 is **{kind * 1000 + 7}**.\n"

    @property
    def turn_id(self) -> str | None:
        begun = (chunk for chunk in chunks(self.body) if chunk["type"] == "start")
        return next((chunk.get("messageId") for chunk in begun), None)

    async def talk(self, client: httpx.AsyncClient, gateway: Gateway) -> None:
        await _pass(self.arrives)
        talking = asyncio.create_task(self._read(client, gateway))
        if self.gives_up is not None:
            await _pass(self.gives_up)
            self.left = talking.cancel()
        with suppress(asyncio.CancelledError):
            await talking

    async def _read(self, client: httpx.AsyncClient, gateway: Gateway) -> None:
        async with client.stream(
            "POST",
            f"{gateway.url}/api/sessions/s1/chat",
            params={} if self.thread is None else {"threadId": self.thread},
            json=ask(self.text),
            headers=bearer(self.user),
        ) as response:
            assert response.status_code == 200
            records = response.aiter_raw()
            while self.patience is None or self.body.count(b"\n\n") < self.patience:
                try:
                    self.body += await anext(records)
                except StopAsyncIteration:
                    return
            self.left = True


async def _pass(passes: int) -> None:
    for _ in range(passes):
        await asyncio.sleep(0)


def crowd(seed: int, *, threads: bool = False) -> list[Member]:
    dice = random.Random(seed)  # noqa: S311 (chance that repeats)
    leaving = dice.sample(range(CLIENTS), CLIENTS // 2)
    arrives = [dice.randrange(LATEST) for _ in range(CLIENTS)]
    members = [
        Member(
            number,
            thread=None,
            arrives=arrives[number // 2 if number < EQUAL else number],
            patience=dice.randrange(24) if number in leaving[5:] else None,
            gives_up=dice.randrange(200) if number in leaving[:5] else None,
        )
        for number in range(CLIENTS)
    ]
    for member in members if threads else ():
        member.thread = f"t{member.kind}"
    return members


async def meet(gateway: Gateway, members: Sequence[Member]) -> None:
    """All of them at once, to the end of the last stream, those without a client included."""
    async with new_client() as client, asyncio.timeout(WITHIN_S):
        await asyncio.gather(*(member.talk(client, gateway) for member in members))
    await until(lambda: len(gateway.streams) == 0, WITHIN_S)


def check(members: Sequence[Member], agent: SessionAgent, *allowed: str) -> None:
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
