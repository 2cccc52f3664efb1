"""`turnwire serve --workers N`: processes that share a port."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway import frames
from gateway.agent import Line, ScriptedAgent, answer, begin_only
from gateway.clients import Chat, ask, errors, is_whole, new_client, said
from gateway.process import Process, command, environ
from gateway.running import NOWHERE
from gateway.tokens import bearer
from gateway.waiting import PATIENCE_S, until
from turnwire.core.turn.outcome import Outcome
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

CHAT = "/api/sessions/s1/chat"
WORKERS = 2


class Served(Process):
    """A supervisor and its workers."""

    def __init__(self, agent_url: str = NOWHERE, **given: object) -> None:
        self._metrics_port = free_port()
        super().__init__(agent_url, metrics_port=self._metrics_port, **given)
        self._command = (*self._command, "--workers", str(WORKERS))

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        await until(lambda: self._started() >= WORKERS)
        return self

    @property
    def pid(self) -> int:
        return self._process.pid

    def _started(self) -> int:
        return len([line for line in self.log if line["event"].startswith("Started server")])

    async def started(self, count: int) -> None:
        await until(lambda: self._started() >= count)

    async def metrics(self, name: str) -> dict[str, float]:
        """The samples of that name, added up by worker."""
        async with new_client() as client:
            text = (await client.get(f"http://127.0.0.1:{self._metrics_port}/metrics")).text
        found: dict[str, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == name:
                    worker = sample.labels.get("worker", "")
                    found[worker] = found.get(worker, 0) + sample.value
        return found

    def workers(self) -> list[int]:
        """Their process ids: children of the supervisor that run a worker."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in _command_line(pid)]


def _command_line(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with new_client() as client:
        yield client


async def _turn(gateway: Process) -> str:
    """A turn on a connection of its own, so that the kernel deals it out anew."""
    async with new_client() as client:
        return (await client.post(gateway.url + CHAT, json=ask(), headers=bearer())).text


async def test_turns_are_dealt_out_and_one_scrape_tells_of_all() -> None:
    turns = 24
    async with ScriptedAgent() as agent, Served(agent.url()) as gateway:
        bodies = await asyncio.gather(*(_turn(gateway) for _ in range(turns)))
        ended = await gateway.metrics("turnwire_streams_total")
        builds = await gateway.metrics("turnwire_build_info")
        up = await gateway.metrics("turnwire_workers")
        listening = gateway.logged("listening")

    assert all(is_whole(body) for body in bodies)
    assert sum(ended.values()) == turns
    assert set(ended) == {"0", "1"}  # one of them without a turn: once in eight million
    assert builds == {"0": 1, "1": 1}
    assert up == {"": WORKERS}
    assert [line["workers"] for line in listening] == [WORKERS]


@pytest.mark.fault(
    "SIGKILL of one of several workers",
    "its streams end, those of the other workers continue; it is replaced, and no request is "
    "refused meanwhile",
)
async def test_a_worker_that_dies_is_replaced_and_nobody_is_refused() -> None:
    async with ScriptedAgent(begin_only) as agent, Served(agent.url()) as gateway:
        before = gateway.workers()
        os.kill(before[0], signal.SIGKILL)
        agent.script = answer
        # Some of these come in while there is one worker; the dead one's wait for the next.
        bodies = await asyncio.gather(*(_turn(gateway) for _ in range(12)))
        await gateway.started(WORKERS + 1)
        after = gateway.workers()
        restarts = await gateway.metrics("turnwire_worker_restarts_total")

    assert all(is_whole(body) for body in bodies)
    assert len(after) == WORKERS
    assert len(set(before) & set(after)) == WORKERS - 1
    assert restarts == {"": 1}
    assert [line["exit_code"] for line in gateway.logged("worker died")] == [-signal.SIGKILL]


async def test_sigterm_lets_the_open_turns_of_every_worker_finish() -> None:
    go_on = asyncio.Event()

    async def wait(line: Line) -> None:
        await begin_only(line)
        await go_on.wait()
        await line.say(frames.delta(" again"), frames.finalize())

    async def one(seen: list[None]) -> bytes:
        async with (
            new_client() as mine,
            mine.stream("POST", gateway.url + CHAT, json=ask(), headers=bearer()) as response,
        ):
            chat = Chat(response)
            await chat.sees("Hello")
            seen.append(None)
            return await chat.end()

    seen: list[None] = []
    async with ScriptedAgent(wait) as agent, Served(agent.url()) as gateway:
        turns = [asyncio.create_task(one(seen)) for _ in range(8)]
        await until(lambda: len(seen) == len(turns))
        gateway.signal()
        await until(lambda: len(gateway.logged("Shutting down")) == WORKERS)
        go_on.set()
        bodies = await asyncio.gather(*turns)
        code = await gateway.ended()

    assert [said(body) for body in bodies] == ["Hello again"] * len(turns)
    assert code == -signal.SIGTERM
    assert "worker died" not in gateway.errors


async def test_ctrl_c_stops_them_all_and_is_no_failure() -> None:
    async with Served() as gateway:
        workers = gateway.workers()
        gateway.signal(signal.SIGINT)
        code = await gateway.ended()

    assert code == 0
    assert not any(_runs(pid) for pid in workers)
    assert "Traceback" not in gateway.errors


async def test_ctrl_c_while_workers_start_is_no_failure_either() -> None:
    # A terminal has it heard by the whole group.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "serve", "--workers", str(WORKERS)),
        env=environ(),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        process_group=0,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def is_being_loaded() -> bool:
        started = [
            pid for pid in children.read_text().split() if b"spawn_main" in _command_line(pid)
        ]
        return any("msgspec" in Path(f"/proc/{pid}/maps").read_text() for pid in started)

    await until(is_being_loaded)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = await asyncio.wait_for(process.communicate(), PATIENCE_S)

    assert process.returncode == 0
    assert b"Traceback" not in errors


@pytest.mark.fault(
    "SIGKILL of the supervisor of several workers",
    "they drain and end: no worker is left without a supervisor",
)
async def test_workers_do_not_outlive_their_supervisor(client: httpx.AsyncClient) -> None:
    async with ScriptedAgent(begin_only) as agent, Served(agent.url(), drain_s=0.2) as gateway:
        workers = gateway.workers()
        async with client.stream(
            "POST", gateway.url + CHAT, json=ask(), headers=bearer()
        ) as response:
            chat = Chat(response)
            await chat.sees("Hello")
            os.kill(gateway.pid, signal.SIGKILL)
            body = await chat.end()
        await until(lambda: not any(_runs(pid) for pid in workers))

    assert len(workers) == WORKERS
    assert errors(body) == ["Gateway restarting"]


async def test_a_worker_that_hangs_is_left_out_of_the_scrape() -> None:
    async with Served() as gateway:
        (stopped, _) = gateway.workers()
        os.kill(stopped, signal.SIGSTOP)
        try:
            builds = await gateway.metrics("turnwire_build_info")
        finally:
            os.kill(stopped, signal.SIGCONT)

    assert len(builds) == WORKERS - 1


@pytest.mark.parametrize("given", ["0", "x", "257"])
async def test_a_number_of_workers_that_is_none_is_told(given: str) -> None:
    code, _, err = await command("serve", "--workers", given, env=environ())

    assert code == 2
    assert "is no number from 1 to 256" in err


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_second_gateway_does_not_join_the_port_of_the_first(workers: str) -> None:
    async with ScriptedAgent() as agent, Served(agent.url()) as gateway:
        port = gateway.port
        code, _, err = await command("serve", "--workers", workers, env=environ(port=port))
        bodies = await asyncio.gather(*(_turn(gateway) for _ in range(12)))

    assert code == 1
    assert err.startswith(f"turnwire: cannot listen on 127.0.0.1, port {port}: ")
    assert err.count("\n") == 1
    assert all(is_whole(body) for body in bodies)


async def _names_nobody(line: Line) -> None:
    """A turn that is nobody's, as far as the agent says."""
    await line.prompt()
    await line.say(frames.create(), frames.delta("Hello"), frames.finalize())


async def test_workers_take_no_turn_for_theirs_that_may_be_another_workers() -> None:
    async with ScriptedAgent(_names_nobody) as agent, Process(agent.url()) as gateway:
        alone = await _turn(gateway)
        named = gateway.logged("listening")[0]["sessions"]
    several = {"sessions": "together"}
    async with ScriptedAgent(_names_nobody) as agent, Served(agent.url(), **several) as gateway:
        among = await _turn(gateway)
        listening = gateway.logged("listening")[0]["sessions"]
        warned = [line for line in gateway.log if "TURNWIRE_SESSIONS" in line["event"]]

    assert (said(alone), errors(alone), named) == ("Hello", [], "together")
    assert (said(among), errors(among), listening) == ("", [Outcome.UNNAMED.text], "apart")
    assert len(warned) == 1


async def test_a_port_in_use_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = await command("serve", "--workers", "2", env=environ(port=port))

    assert code == 1
    assert err.startswith(f"turnwire: cannot listen on 127.0.0.1, port {port}: ")
    assert err.count("\n") == 1
