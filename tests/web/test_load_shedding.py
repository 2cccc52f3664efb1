"""An event loop that does not keep up takes no new streams."""

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from gateway.agent import Line, ScriptedAgent, stay_silent
from gateway.clients import get, new_client, post
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.errors import Unavailable
from turnwire.web.load_shedding import Admission


async def overload() -> None:
    """Callbacks that hold the loop for longer than anything should."""
    for _ in range(4):
        time.sleep(0.8)  # noqa: ASYNC251 (this is the overload)
        await asyncio.sleep(0)


def seen_late(admission: Admission) -> Future[float]:
    """How late a loop is in half a second, as a thread of its own sees it."""

    def look() -> float:
        time.sleep(0.5)
        return admission.late_s

    pool = ThreadPoolExecutor(1)
    seen = pool.submit(look)
    pool.shutdown(wait=False)
    return seen


def test_one_long_callback_is_no_overload_and_three_are() -> None:
    admission = Admission(1.0)

    admission.record_lag(2.0)
    admission.admit()
    admission.record_lag(2.0)
    admission.record_lag(2.0)

    with pytest.raises(Unavailable):
        admission.admit()
    for _ in range(10):
        admission.record_lag(0.0)
    admission.admit()


def test_it_may_be_switched_off() -> None:
    told: list[float] = []
    admission = Admission(0, told.append)
    admission.record_lag(60.0)

    admission.admit()
    assert told == [60.0]  # that it is late is still told


async def test_another_thread_sees_a_loop_that_hangs() -> None:
    admission = Admission(0)
    assert admission.late_s == 0
    admission.start()
    try:
        seen = seen_late(admission)
        time.sleep(0.8)  # noqa: ASYNC251 (this is the hang)

        assert seen.result(5) > 0.2
    finally:
        admission.stop()
    assert admission.late_s == 0


async def test_it_looks_at_the_loop() -> None:
    admission = Admission(0.2)
    admission.start()
    admission.start()
    try:
        await overload()
        with pytest.raises(Unavailable):
            admission.admit()
        await until(lambda: admission.lag_s < 0.2)
        admission.admit()
    finally:
        admission.stop()


async def post_when_calm(gateway: Gateway) -> httpx.Response:
    """The loop may lag for the machine's reasons, too."""
    while (response := await post(gateway)).status_code == httpx.codes.SERVICE_UNAVAILABLE:
        pass
    return response


@pytest.mark.sockets
async def test_new_streams_are_refused_and_open_ones_go_on() -> None:
    async def talk(line: Line) -> None:
        await line.begin()
        await stay_silent(line)

    async with ScriptedAgent(talk) as agent, Gateway(agent.url(), lag_s=0.2) as gateway:
        first = asyncio.create_task(post_when_calm(gateway))
        line = await agent.line()
        await until(lambda: line.of_type("prompt"))
        await overload()
        refused = await post(gateway)
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/messages"
            history = await client.get(url, headers=bearer())

        assert (refused.status_code, history.status_code) == (503, 503)
        assert (await get(gateway, "/healthz")).status_code == 200
        await until(lambda: not first.done())
        line.cut()
        assert "Stream interrupted" in (await first).text
