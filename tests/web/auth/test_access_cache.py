"""Grants that are remembered: for how long, for whom, and what never is."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

from gateway.waiting import until
from turnwire.errors import RequestRefused, Unauthorized, Unavailable
from turnwire.web.auth.access import Grant, Role
from turnwire.web.auth.access_cache import CachedAccess
from turnwire.web.auth.identity import Caller

ANN = Grant("ann", Role.OWNER)


class Oracle:
    """An access that says the same until told otherwise, and counts how often it was asked."""

    def __init__(self, says: Grant | RequestRefused | None = ANN) -> None:
        self.says = says
        self.asked: list[tuple[str, str, str]] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        self.asked.append((caller.token, session_id, request_id))
        await self.go_on.wait()
        if isinstance(self.says, RequestRefused):
            raise self.says
        return self.says


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def oracle() -> Oracle:
    return Oracle()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cached(oracle: Oracle, clock: Clock) -> CachedAccess:
    return CachedAccess(oracle, ttl_s=5, clock=clock)


async def ask(access: CachedAccess, who: str = "t", session: str = "s1") -> Grant | None:
    return await access.grant(Caller(who, None, {}), session, "r-1")


async def test_a_grant_is_asked_for_once_in_its_time(
    cached: CachedAccess, oracle: Oracle, clock: Clock
) -> None:
    assert await ask(cached) == ANN
    oracle.says = Grant("ann", Role.VIEWER)
    clock.now += 4.9
    assert await ask(cached) == ANN
    assert oracle.asked == [("t", "s1", "r-1")]

    clock.now += 0.2  # its time began with the answer, not with its last use
    assert await ask(cached) == Grant("ann", Role.VIEWER)
    assert len(oracle.asked) == 2


async def test_with_no_time_it_is_asked_each_time(oracle: Oracle, clock: Clock) -> None:
    never = CachedAccess(oracle, ttl_s=0, clock=clock)
    for _ in range(3):
        assert await ask(never) == ANN

    assert len(oracle.asked) == 3


@pytest.mark.parametrize("says", [None, Unauthorized("no"), Unavailable("no")], ids=repr)
async def test_only_a_grant_is_remembered(
    says: RequestRefused | None, cached: CachedAccess, oracle: Oracle
) -> None:
    oracle.says = says
    for _ in range(2):
        if says is None:
            assert await ask(cached) is None
        else:
            with pytest.raises(type(says)):
                await ask(cached)
    assert len(cached) == 0
    oracle.says = ANN

    assert await ask(cached) == ANN
    assert len(oracle.asked) == 3


async def test_another_token_and_another_session_are_other_questions(
    cached: CachedAccess, oracle: Oracle
) -> None:
    pairs = [("t", "s1"), ("t", "s2"), ("u", "s1"), ("1t", "s"), ("s1", "t")]
    for token, session in pairs * 2:
        await ask(cached, token, session)

    assert [(token, session) for token, session, _ in oracle.asked] == pairs


async def test_as_many_are_remembered_as_may_be(oracle: Oracle, clock: Clock) -> None:
    small = CachedAccess(oracle, ttl_s=5, max_grants=3, clock=clock)
    for number in range(10):
        await ask(small, f"t{number}")
        assert len(small) <= 3
    await ask(small, "t9")
    assert len(oracle.asked) == 10

    await ask(small, "t0")
    assert len(oracle.asked) == 11


async def test_whoever_asks_meanwhile_shares_the_answer(
    cached: CachedAccess, oracle: Oracle
) -> None:
    oracle.go_on.clear()
    asking = [asyncio.create_task(ask(cached)) for _ in range(5)]
    another = asyncio.create_task(ask(cached, session="s2"))
    await until(lambda: len(oracle.asked) == 2)
    oracle.go_on.set()

    assert await asyncio.gather(*asking, another) == [ANN] * 6
    assert len(oracle.asked) == 2


async def test_whoever_asks_meanwhile_shares_a_failure_but_the_next_one_does_not(
    cached: CachedAccess, oracle: Oracle
) -> None:
    oracle.go_on.clear()
    oracle.says = Unavailable("no")
    asking = [asyncio.create_task(ask(cached)) for _ in range(3)]
    await until(lambda: oracle.asked)
    oracle.go_on.set()
    failed = await asyncio.gather(*asking, return_exceptions=True)
    oracle.says = ANN

    assert all(isinstance(each, Unavailable) for each in failed)
    assert await ask(cached) == ANN
    assert len(oracle.asked) == 2


async def test_whoever_asked_first_may_leave(cached: CachedAccess, oracle: Oracle) -> None:
    oracle.go_on.clear()
    first = asyncio.create_task(ask(cached))
    second = asyncio.create_task(ask(cached))
    await until(lambda: oracle.asked)
    first.cancel()
    await asyncio.wait([first])
    oracle.go_on.set()

    assert await second == ANN
    assert len(oracle.asked) == 1


async def test_a_failure_that_nobody_waits_for_bothers_nobody(
    cached: CachedAccess, oracle: Oracle
) -> None:
    told: list[dict[str, Any]] = []
    handler: Callable[[Any, dict[str, Any]], object] = lambda _, what: told.append(what)  # noqa: E731
    asyncio.get_running_loop().set_exception_handler(handler)
    oracle.go_on.clear()
    oracle.says = Unavailable("no")
    only = asyncio.create_task(ask(cached))
    await until(lambda: oracle.asked)
    only.cancel()
    await asyncio.wait([only])
    oracle.go_on.set()
    await until(lambda: not cached._lookups)
    gc.collect()

    assert told == []


async def test_no_token_is_kept(cached: CachedAccess) -> None:
    await ask(cached, "a-secret-token", "a-secret-session")

    assert "secret" not in repr(vars(cached))
    assert "secret" not in repr(list(cached._grants.items()))
    assert not cached._lookups
