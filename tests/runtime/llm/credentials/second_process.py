"""A process that asks for headers of a token that several share.

It asks with many tasks at once, and sends what each got: a token, or the reason why not. With a
mode it kills or stops itself on the way.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, Literal

from runtime.llm.credentials.token_server import open_client, until
from turnwire_agent.llm.credentials.grant import Grant
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.refreshing import Refreshing, RefreshTimes
from turnwire_agent.llm.credentials.stored_token import Step, StoredToken, Tokens
from turnwire_agent.llm.credentials.token_store import TokenStore

Mode = Literal["ask", "kill-before-store", "stop-before-store", "stop-before-send"]
"""`ask` does neither; `store` is after the answer of the token server, `send` before it is asked,
with the lease in hand."""


class Interrupted(TokenStore):
    mode: Mode = "ask"

    async def claim(
        self, key: str, decide: Callable[[StoredToken | None], Step], lease: str, lease_s: float
    ) -> StoredToken | None:
        row = await super().claim(key, decide, lease, lease_s)
        if row is not None and self.mode == "stop-before-send":
            os.kill(os.getpid(), signal.SIGSTOP)
        return row

    async def save(self, key: str, instead_of: str | None, tokens: Tokens) -> StoredToken:
        if self.mode == "kill-before-store":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.mode == "stop-before-store":
            os.kill(os.getpid(), signal.SIGSTOP)
        return await super().save(key, instead_of, tokens)


async def got(credential: Refreshing) -> str:
    try:
        return (await credential.headers()).headers["authorization"].removeprefix("Bearer ")
    except CredentialError as error:
        return error.failure.reason


async def ask(mode: Mode, path: Path, url: str, tasks: int) -> list[str]:
    store = Interrupted(path)
    store.mode = mode
    # A process that is to be late is late soon.
    times = RefreshTimes(send_s=0.2) if mode == "stop-before-send" else RefreshTimes()
    grant = Grant(kind="refresh_token", token_url=url, client_id="client")
    async with open_client() as client:
        credential = Refreshing("work", grant, store, times=times, client=client)
        return await asyncio.gather(*(got(credential) for _ in range(tasks)))


def run(mode: Mode, path: Path, url: str, tasks: int, answers: Connection) -> None:
    answers.send("ready")
    answers.recv()
    answers.send(asyncio.run(ask(mode, path, url, tasks)))


class SecondProcess:
    """The process, seen from that of the test. `pid` is known when it is ready."""

    def __init__(self, process: BaseProcess, answers: Connection) -> None:
        assert process.pid is not None
        self.pid: Final = process.pid
        self._process = process
        self._answers = answers

    def go(self) -> None:
        self._answers.send("go")

    async def received(self) -> Any:
        await until(self._answers.poll)
        return self._answers.recv()

    async def stopped(self) -> None:
        stat = Path(f"/proc/{self.pid}/stat")
        await until(lambda: stat.read_text().rpartition(") ")[2][0] == "T")

    async def killed(self) -> None:
        await until(lambda: self._process.exitcode is not None)
        assert self._process.exitcode == -signal.SIGKILL


@asynccontextmanager
async def second_process(
    mode: Mode, path: Path, url: str, tasks: int = 1
) -> AsyncGenerator[SecondProcess]:
    """A process that is ready, and asks when it may go.

    It is forked from a server that has imported what takes long, once for all tests.
    """
    forking = get_context("forkserver")
    forking.set_forkserver_preload(["turnwire_agent.llm.credentials.refreshing"])
    ours, theirs = forking.Pipe()
    process = forking.Process(target=run, args=(mode, path, url, tasks, theirs), daemon=True)
    process.start()
    started = SecondProcess(process, ours)
    try:
        assert await started.received() == "ready"
        yield started
    finally:
        process.kill()
        process.join()
        ours.close()
        theirs.close()
