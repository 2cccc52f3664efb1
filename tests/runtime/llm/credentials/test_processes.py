"""Several processes that share one token: only one asks, and one that dies spoils nothing."""

import asyncio
import os
import signal
from pathlib import Path

import httpx
import pytest

from runtime.llm.credentials.second_process import second_process
from runtime.llm.credentials.token_server import (
    NAME,
    CountedStore,
    SetClock,
    TokenServer,
    bearer,
    logged_in,
    refresh_grant,
    serving,
    until,
)
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.refreshing import Refreshing

pytestmark = pytest.mark.sockets


async def taking_over(
    path: Path, url: str, client: httpx.AsyncClient
) -> tuple[Refreshing, asyncio.Task[str]]:
    """A credential of this process that waits for a lease, and then finds it dead."""
    clock = SetClock()
    store = CountedStore(path)
    credential = Refreshing(NAME, refresh_grant(url), store, clock=clock.clock, client=client)
    task = asyncio.create_task(bearer(credential))
    await until(lambda: store.looks > 2)
    assert not task.done()
    clock.monotonic_s += 16
    return credential, task


async def test_a_hundred_tasks_in_two_processes_refresh_once(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    async with serving(TokenServer()) as server:
        await logged_in(path, server.url)
        async with (
            second_process("ask", path, server.url, 50) as first,
            second_process("ask", path, server.url, 50) as second,
        ):
            server.answering.clear()
            first.go()
            second.go()
            await until(lambda: bool(server.asked))
            await asyncio.sleep(0.2)  # time for the other one to be wrong; no verdict needs it
            server.answering.set()

            assert await first.received() + await second.received() == ["access-1"] * 100

        assert len(server.asked) == 1
        assert server.good == {"access-1"}


@pytest.mark.parametrize("grace", [True, False])
async def test_killed_between_answer_and_store(
    tmp_path: Path, client: httpx.AsyncClient, *, grace: bool
) -> None:
    path = tmp_path / "tokens"
    async with serving(TokenServer(grace=grace)) as server:
        await logged_in(path, server.url)
        async with second_process("kill-before-store", path, server.url) as killed:
            killed.go()
            await killed.killed()

        credential, task = await taking_over(path, server.url, client)
        if grace:
            assert await task in server.good
        else:
            for attempt in (task, *(bearer(credential) for _ in range(10))):
                with pytest.raises(CredentialError, match="log in again"):
                    await attempt

        assert len(server.asked) == 2


async def test_stopped_before_it_asks_it_does_not_ask_later(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    path = tmp_path / "tokens"
    async with serving(TokenServer()) as server:
        await logged_in(path, server.url)
        async with second_process("stop-before-send", path, server.url) as stopped:
            stopped.go()
            await stopped.stopped()
            _, task = await taking_over(path, server.url, client)
            assert await task == "access-1"
            await asyncio.sleep(0.25)  # it may send for 0.2 s
            os.kill(stopped.pid, signal.SIGCONT)

            assert await stopped.received() == ["access-1"]

        assert len(server.asked) == 1
        assert server.good == {"access-1"}


async def test_stopped_before_it_stores_its_token_cures_the_refusal(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    path = tmp_path / "tokens"
    async with serving(TokenServer(family=False)) as server:
        await logged_in(path, server.url)
        async with second_process("stop-before-store", path, server.url) as stopped:
            stopped.go()
            await stopped.stopped()
            credential, task = await taking_over(path, server.url, client)
            with pytest.raises(CredentialError, match="log in again"):
                await task
            os.kill(stopped.pid, signal.SIGCONT)

            assert await stopped.received() == ["access-1"]
            assert await bearer(credential) == "access-1"

        assert len(server.asked) == 2
        assert server.good == {"access-1"}


async def test_stopped_before_it_stores_and_revoked_it_ends_in_a_log_in(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    path = tmp_path / "tokens"
    async with serving(TokenServer()) as server:
        await logged_in(path, server.url)
        async with second_process("stop-before-store", path, server.url) as stopped:
            stopped.go()
            await stopped.stopped()
            credential, task = await taking_over(path, server.url, client)
            with pytest.raises(CredentialError, match="log in again"):
                await task
            os.kill(stopped.pid, signal.SIGCONT)
            await stopped.received()

        # What it stored was revoked. A provider says 401, a refresh is tried, and that was it.
        granted = await credential.headers()
        assert server.good == set()
        for _ in range(10):
            with pytest.raises(CredentialError, match="log in again"):
                await credential.refused(granted.version)
        with pytest.raises(CredentialError, match="log in again"):
            await credential.headers()

        assert len(server.asked) == 3


async def test_stopped_and_late_it_does_not_overwrite_a_newer_token(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    path = tmp_path / "tokens"
    async with serving(TokenServer(grace=True)) as server:
        await logged_in(path, server.url)
        async with second_process("stop-before-store", path, server.url) as stopped:
            stopped.go()
            await stopped.stopped()
            _, task = await taking_over(path, server.url, client)
            assert await task == "access-2"
            os.kill(stopped.pid, signal.SIGCONT)

            assert await stopped.received() == ["access-2"]
