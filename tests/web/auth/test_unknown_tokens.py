"""Made-up tokens and a slow control plane: whoever has a good token is served all the same."""

import asyncio
import itertools

import httpx
import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask, is_whole, new_client, post
from gateway.control_plane import ControlPlane, Question, granted, reply
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.access import Grant, Role
from turnwire.web.auth.identity import Caller
from turnwire.web.auth.unknown_tokens import AT_ONCE, REFUSED_S, UnknownTokens

pytestmark = pytest.mark.sockets

ANN = Grant("ann", Role.OWNER)


class Oracle:
    """Knows the tokens that begin with `good`; answers when it may."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.knows = True

    async def grant(self, caller: Caller, _session_id: str, _request_id: str) -> Grant | None:
        self.asked.append(caller.token)
        await self.go_on.wait()
        if not caller.token.startswith("good") or not self.knows:
            raise Unauthorized("nobody's")
        return ANN if caller.token != "good for nothing" else None


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def of(access: UnknownTokens, token: str) -> Grant | None:
    return await access.grant(Caller(token, None, {}), "s1", "r1")


async def test_a_token_that_was_good_needs_no_strangers_place() -> None:
    oracle = Oracle()
    access = UnknownTokens(oracle, timeout_s=0.01, at_once=2)
    assert await of(access, "good") == ANN
    oracle.go_on.clear()
    made_up = [asyncio.create_task(of(access, f"bad{n}")) for n in range(5)]
    await until(lambda: len(oracle.asked) == 3)

    known = asyncio.create_task(of(access, "good"))
    await until(lambda: oracle.asked[-1] == "good")
    with pytest.raises(Unavailable, match="nobody knows"):
        await of(access, "good, but new")
    oracle.go_on.set()

    assert await known == ANN
    said = await asyncio.gather(*made_up, return_exceptions=True)
    assert sorted({type(each).__name__ for each in said}) == ["Unauthorized", "Unavailable"]
    assert await of(access, "good, but new") == ANN, "places are given back"


async def test_a_token_that_is_nobodys_is_asked_about_once_in_seconds() -> None:
    oracle, clock = Oracle(), Clock()
    access = UnknownTokens(oracle, timeout_s=1, clock=clock)
    for _ in range(3):
        with pytest.raises(Unauthorized):
            await of(access, "bad")
    assert oracle.asked == ["bad"]

    clock.now += REFUSED_S + 0.1
    with pytest.raises(Unauthorized):
        await of(access, "bad")
    assert oracle.asked == ["bad", "bad"]


async def test_a_token_that_is_good_no_more_is_a_stranger() -> None:
    oracle = Oracle()
    access = UnknownTokens(oracle, timeout_s=1)
    await of(access, "good")
    oracle.knows = False
    with pytest.raises(Unauthorized):
        await of(access, "good")
    with pytest.raises(Unauthorized):
        await of(access, "good")

    assert oracle.asked == ["good"] * 2


async def test_who_may_not_use_one_session_is_asked_about_anew() -> None:
    """It is said of the session, and an outage is said of nobody: neither is remembered."""
    oracle = Oracle()
    access = UnknownTokens(oracle, timeout_s=1)
    assert [await of(access, "good for nothing") for _ in range(2)] == [None, None]

    assert len(oracle.asked) == 2


@pytest.mark.attack(
    "made-up opaque tokens by the hundred, while the control plane is slow",
    "they share half of the checks; a user whose token was good before is checked at once",
)
async def test_made_up_tokens_do_not_starve_good_ones_of_a_slow_control_plane() -> None:
    slow = asyncio.Event()

    async def says(question: Question, writer: asyncio.StreamWriter) -> None:
        is_good = "good" in question.headers["authorization"]
        if not is_good:
            await slow.wait()
        writer.write(granted() if is_good else reply(401))

    numbers = itertools.count()
    async with (
        ControlPlane(says) as plane,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=plane.settings(dial_s=5, access_cache_s=0)) as gateway,
        new_client() as crowd,
    ):
        good = {"authorization": "Bearer good"}
        assert is_whole((await post(gateway, headers=good)).text)

        async def make_up() -> httpx.Response:
            url = f"{gateway.url}/api/sessions/s1/chat"
            headers = {"authorization": f"Bearer bad{next(numbers)}"}
            return await crowd.post(url, json=ask(), headers=headers)

        made_up = [asyncio.create_task(make_up()) for _ in range(150)]
        await until(lambda: len(plane.questions) == AT_ONCE + 1)

        assert is_whole((await post(gateway, headers=good)).text)
        assert not any(task.done() for task in made_up)
        slow.set()
        statuses = {(await task).status_code for task in made_up}

    assert statuses <= {401, 503}
