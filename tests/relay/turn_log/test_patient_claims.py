"""A claim waits for a turn that is being ended, and for no other, longer than a moment."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.waiting import until
from relay.turn_log.listening import Control, write
from relay.turn_log.memory_rig import CHAT, OTHER, claim, new_log
from turnwire.core.events import Reason, TurnFinished
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log.entries import Head, pack
from turnwire.relay.turn_log import patient_claims
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.patient_claims import PatientClaims
from turnwire.relay.turn_log.port import ChatKey, LastTurn, TurnWriter

END = TurnFinished(reason=Reason.END_TURN)
RUNNING = Head("p1", "u1", "m1")
NEXT = Head("p2", "u1", "m2")


@pytest.fixture
async def log() -> AsyncIterator[MemoryTurnLog]:
    log = new_log()
    yield log
    await log.aclose()


@pytest.fixture
def claims() -> PatientClaims:
    return PatientClaims()


async def running(log: MemoryTurnLog, *, is_ending: bool = False) -> TurnWriter:
    control = Control()
    control.is_ending = is_ending
    writer = await claim(log, control=control, head=pack(RUNNING))
    write(writer, "a")
    return writer


def claiming(
    claims: PatientClaims,
    log: MemoryTurnLog,
    head: Head = NEXT,
    key: ChatKey = CHAT,
    *,
    renews: bool = False,
) -> "asyncio.Task[TurnWriter | None]":
    return asyncio.create_task(claims.claim(log, key, head, Control(), renews=renews))


async def seconds(task: "asyncio.Task[TurnWriter | None]") -> float:
    """Wait for a claim that is refused. Returns how long that took."""
    began = asyncio.get_running_loop().time()
    assert await task is None
    return asyncio.get_running_loop().time() - began


async def test_a_chat_without_a_turn_is_claimed_at_once(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    assert await claims.claim(log, CHAT, NEXT, Control(), renews=False) is not None
    assert len(claims) == 0


async def test_a_turn_that_ends_in_a_moment_is_waited_for(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    writer = await running(log)
    task = claiming(claims, log)
    await asyncio.sleep(0.1)
    assert not task.done()
    writer.end(is_received=True)

    assert await task is not None
    assert len(claims) == 0


async def test_a_turn_that_goes_on_is_waited_for_a_moment(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    await running(log)

    assert 0.9 * patient_claims.UNNOTICED_S < await seconds(claiming(claims, log)) < 2
    assert len(claims) == 0


@pytest.mark.parametrize("renews", [False, True])
async def test_a_turn_that_is_being_ended_is_waited_for(
    log: MemoryTurnLog, claims: PatientClaims, *, renews: bool
) -> None:
    writer = await running(log, is_ending=True)
    task = claiming(claims, log, RUNNING if renews else NEXT, renews=renews)
    await asyncio.sleep(3 * patient_claims.UNNOTICED_S)
    assert not task.done()
    writer.end(is_received=False)

    assert await task is not None


async def test_a_turn_that_never_ends_is_not_waited_for_for_ever(
    log: MemoryTurnLog, claims: PatientClaims, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_claims, "ENDING_S", 0.5)
    await running(log, is_ending=True)

    assert 0.4 < await seconds(claiming(claims, log)) < 3


@pytest.mark.parametrize("has_former", [False, True])
async def test_a_turn_that_never_began_gives_the_chat_back(
    log: MemoryTurnLog, claims: PatientClaims, *, has_former: bool
) -> None:
    if has_former:
        (await running(log)).end(is_received=True)
    second = await claim(log, head=pack(Head("p3", "u1", "m3")))
    task = claiming(claims, log)
    await asyncio.sleep(0.05)
    second.discard()

    assert await task is not None


async def test_a_prompt_that_is_sent_again_does_not_wait(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    writer = await claim(log, head=pack(Head("p1", "u1", "m1")))
    again = claiming(claims, log, Head("p2", "u1", "m1"))

    assert await seconds(again) < 0.9 * patient_claims.UNNOTICED_S
    writer.end(is_received=False)


async def test_a_prompt_without_an_id_is_another_each_time(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    writer = await claim(log, head=pack(Head("p1", "u1", None)))
    task = claiming(claims, log, Head("p2", "u1", None))
    await until(lambda: len(claims) == 1)
    await asyncio.sleep(0.01)
    writer.end(is_received=False)

    assert await task is not None


async def test_a_claim_follows_another_that_is_given_up(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    """Its client stopped again, and the last prompt came before the hang-up of the one before."""
    writer = await running(log, is_ending=True)
    former = claiming(claims, log, Head("p2", "u1", "m2"))
    await until(lambda: len(claims) == 1)
    last = claiming(claims, log, Head("p3", "u1", "m3"))
    await asyncio.sleep(0.01)
    former.cancel()
    await asyncio.wait([former])
    await until(lambda: len(claims) == 1)
    writer.end(is_received=False)

    assert await last is not None
    assert len(claims) == 0


async def test_a_prompt_that_waits_already_is_not_begun_twice(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    await running(log, is_ending=True)
    first = claiming(claims, log, Head("p2", "u1", "m2"))
    await until(lambda: len(claims) == 1)

    again = claiming(claims, log, Head("p3", "u1", "m2"))

    assert await seconds(again) < 0.9 * patient_claims.UNNOTICED_S
    first.cancel()


async def test_a_prompt_whose_first_turn_ends_meanwhile_begins_no_second_one(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    """The same prompt goes to another process, which is faster."""
    writer = await running(log)
    task = claiming(claims, log)
    await asyncio.sleep(0.01)
    writer.end(is_received=False)
    faster = await claim(log, head=pack(Head("p3", "u1", "m2")))
    write(faster, END)
    faster.end(is_received=True)

    assert await task is None


async def test_another_turn_that_comes_first_is_not_waited_for(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    writer = await running(log, is_ending=True)
    task = claiming(claims, log)
    await until(lambda: len(claims) == 1)
    await asyncio.sleep(0.01)
    writer.end(is_received=False)
    control = Control()
    control.is_ending = True
    await claim(log, head=pack(Head("p3", "u1", "m3")), control=control)

    assert await seconds(task) < 0.9 * patient_claims.UNNOTICED_S


async def test_one_claim_of_a_chat_waits_and_is_the_next(
    log: MemoryTurnLog, claims: PatientClaims
) -> None:
    writer = await running(log, is_ending=True)
    first = claiming(claims, log)
    await until(lambda: len(claims) == 1)
    others = [claiming(claims, log, Head(f"p{n}", "u1", f"m{n}")) for n in range(3, 100)]
    other_chat = claiming(claims, log, key=OTHER)

    assert [await each for each in others] == [None] * len(others)
    assert await other_chat is not None
    writer.end(is_received=False)
    assert await claims.claim(log, CHAT, Head("p0", "u1", "m0"), Control(), renews=False) is None
    assert await first is not None


async def test_of_claims_at_one_moment_the_first_waits(
    log: MemoryTurnLog, claims: PatientClaims, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def claim_late(*_: object) -> None:
        await asyncio.sleep(0.01)

    await running(log, is_ending=True)
    monkeypatch.setattr(log, "claim", claim_late)
    first, *others = [claiming(claims, log, Head(f"p{n}", "u1", f"m{n}")) for n in range(2, 7)]

    await asyncio.wait(others)
    await asyncio.sleep(0.05)
    assert not first.done()
    first.cancel()
    await asyncio.wait([first])
    assert len(claims) == 0


async def test_where_nobody_can_say_what_runs_nothing_begins(
    log: MemoryTurnLog, claims: PatientClaims, monkeypatch: pytest.MonkeyPatch
) -> None:
    await running(log)
    looks = 0

    async def last(_: MemoryTurnLog, key: ChatKey) -> LastTurn | Rejection | None:
        nonlocal looks
        looks += 1
        return Rejection.SILENT if looks > 1 else LastTurn(RUNNING, is_running=key == CHAT)

    monkeypatch.setattr(MemoryTurnLog, "last", last)

    assert await seconds(claiming(claims, log)) < 0.9 * patient_claims.UNNOTICED_S


async def test_the_last_turn_of_a_chat(log: MemoryTurnLog) -> None:
    assert await log.last(CHAT) is None
    assert await log.is_ending(CHAT)
    writer = await running(log)
    assert await log.last(CHAT) == LastTurn(RUNNING, is_running=True)
    assert not await log.is_ending(CHAT)
    writer.end(is_received=True)
    assert await log.last(CHAT) == LastTurn(RUNNING, is_running=False)
    assert await log.is_ending(CHAT)
