"""Agents and gateways are started as the files say, with a Postgres and a scripted model."""

import asyncio
import ctypes
import re
import shlex
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from deploy.parts import DEPLOY, NO_NEW_CODE, compose, env_file, of_unit, run
from gateway.clients import Chat, ask, chunks, errors, get, is_whole, new_client, post, said
from gateway.postgres_server import PostgresServer
from gateway.served import Served
from gateway.tokens import KEY, bearer
from gateway.waiting import PATIENCE_S
from runtime.llm.messages_events import BEGIN, STOP, ended, text
from runtime.llm.scripted_server import (
    STREAM_HEAD,
    Connection,
    ScriptedServer,
    sends,
    sends_then_silent,
)
from runtime.llm.streams import sse
from turnwire_lab.process import free_port, inherited

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

HEALTH: Final = DEPLOY / "docker/healthcheck.py"
TOKEN: Final = "a-token-that-no-log-may-have-0123456789"
MODEL_KEY: Final = "a-key-that-no-log-may-have-0123456789"
ONE: Final = sse(BEGIN, *text(0, "One "), named=True)
WHOLE: Final = sse(BEGIN, *text(0, "One ", "two."), ended("end_turn"), STOP, named=True)
WAYS: Final = ("compose", "systemd")


async def later(connection: Connection) -> bool:
    """The whole answer, when whoever resumes is there."""
    await connection.pause(2)
    return await sends(STREAM_HEAD + WHOLE)(connection)


class Started:
    """A process of the agent runtime."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, metrics_port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.metrics_url = f"http://127.0.0.1:{metrics_port}"

    def is_healthy(self) -> bool:
        return run([sys.executable, "-I", HEALTH, self.port])[0] == 0

    async def stopped(self) -> str:
        """Its log, after a SIGTERM that it took well."""
        self.process.send_signal(signal.SIGTERM)
        _, log = await asyncio.wait_for(self.process.communicate(), PATIENCE_S)
        assert self.process.returncode == 0, log
        return log.decode()


class Ways:
    """The files, with places and ports that are free here."""

    def __init__(self, folder: Path, journal: str, model_url: str) -> None:
        self._folder = folder
        self._model_url = model_url
        for name, secret in (
            ("jwt_key", KEY),
            ("agent_token", TOKEN),
            ("model_key", MODEL_KEY),
            ("journal", journal),
        ):
            (folder / name).write_text(f"{secret}\n")

    def command(self, way: str, port: int, metrics_port: int) -> list[str]:
        """What starts an agent."""
        if way == "compose":
            stage = (DEPLOY / "docker/Dockerfile").read_text("utf-8").partition(" AS agent\n")[2]
            parts = re.findall(
                r"^(?:ENTRYPOINT|CMD) (\[.+\])$", stage.partition("\nFROM")[0], re.MULTILINE
            )
            words = [word for part in parts for word in re.findall(r'"(.*?)"', part)]
            settings = (DEPLOY / "agent.toml").read_text("utf-8")
        else:
            unit = (DEPLOY / "systemd/turnwire-agent.service").read_text("utf-8")
            (line,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
            words = shlex.split(line.replace("%d/", f"{self._folder}/"))
            settings = (DEPLOY / "systemd/agent.toml").read_text("utf-8")
        settings = settings.replace("/run/secrets/", f"{self._folder}/")
        settings = settings.replace(":8765", f":{port}").replace(":9788", f":{metrics_port}")
        file = self._folder / f"agent-{port}.toml"
        file.write_text(settings)
        assert Path(words[0]).name == "turnwire-agent"
        words[words.index("/etc/turnwire-agent/agent.toml")] = str(file)
        own = [sys.executable, str(Path(sys.prefix) / "bin/turnwire-agent"), *words[1:]]
        if way == "systemd" and ctypes.CDLL(None).prctl(66, 0, 0, 0, 0) >= 0:
            own = [sys.executable, "-c", NO_NEW_CODE, *own]  # MemoryDenyWriteExecute=
        return [*own, "--base-url", self._model_url]

    def variables(self, way: str, port: int) -> dict[str, str]:
        """What a gateway is given."""
        if way == "compose":
            given = compose("compose-agent.yaml")["services"]["gateway"]["environment"]
        else:
            given = env_file(DEPLOY / "systemd/turnwire.env") | of_unit("turnwire.service")
            given |= of_unit("turnwire.service.d/agent.conf")
        moved = {
            name: re.sub(r"^(/run/secrets|%d)/", f"{self._folder}/", value).replace(
                "//agents:8765/", "//127.0.0.1:8765/"
            )
            for name, value in given.items()
        }
        moved["TURNWIRE_AGENT_URL"] = moved["TURNWIRE_AGENT_URL"].replace(":8765/", f":{port}/")
        return moved | {"TURNWIRE_HOST": "127.0.0.1", "TURNWIRE_LAMEDUCK_S": "0"}


@asynccontextmanager
async def agent_of(command: list[str], ports: tuple[int, int]) -> AsyncIterator[Started]:
    process = await asyncio.create_subprocess_exec(
        *command, env=inherited(), stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE
    )
    agent = Started(process, *ports)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await asyncio.to_thread(agent.is_healthy):
                assert process.returncode is None
                await asyncio.sleep(0.1)
        yield agent
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def gateway_of(variables: Mapping[str, str]) -> Served:
    gateway = Served()
    ports = {name: gateway._env[name] for name in ("TURNWIRE_PORT", "TURNWIRE_METRICS_PORT")}
    gateway._env = inherited() | dict(variables) | ports
    return gateway


@asynccontextmanager
async def pairs(way: str, ways: Ways) -> AsyncIterator[list[tuple[Served, Started]]]:
    """Two gateways, each with an agent."""
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(2):
            ports = free_port(), free_port()
            agent = await stack.enter_async_context(agent_of(ways.command(way, *ports), ports))
            gateway = gateway_of(ways.variables(way, agent.port))
            found.append((await stack.enter_async_context(gateway), agent))
        yield found


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.mark.parametrize("way", WAYS)
async def test_replicas_share_sessions_and_let_in_gateways_alone(
    tmp_path: Path, postgres: PostgresServer, way: str
) -> None:
    async with ScriptedServer([sends(STREAM_HEAD + WHOLE)]) as model:
        ways = Ways(tmp_path, postgres.empty(), model.url)
        async with pairs(way, ways) as ((one, agent), (other, second)):
            first = await post(one, text="Hi")
            async with new_client() as client:
                url, body = f"{other.url}/api/sessions/s1/chat", ask("And?")
                body["messages"][0]["id"] = "m2"
                then = await client.post(url, json=body, headers=bearer())
            refused = await get(agent, "/api/sessions/s1/ws?role=client")
            ready = await get(agent, "/readyz")
            async with new_client() as client:
                shown = [
                    (await client.get(f"{each.metrics_url}/metrics")).text
                    for each in (agent, second)
                ]
            logs = await agent.stopped() + await second.stopped() + one.errors + other.errors

    assert is_whole(first.text)
    assert is_whole(then.text)
    assert said(first.text) == said(then.text) == "One two."
    # The second knew what the first had said.
    assert b"One two." in model.asked[1].body
    assert {asked.headers["x-api-key"] for asked in model.asked} == {MODEL_KEY}
    assert refused.status_code == httpx.codes.UNAUTHORIZED
    assert ready.status_code == httpx.codes.OK
    # Whoever is free runs a turn, at whichever replica it was asked for.
    counted = [re.search(r'turns_total{reason="end_turn"} (\d)', each) for each in shown]
    assert sum(int(each[1]) for each in counted if each) == 2
    assert all("turnwire_agent_build_info{version=" in each for each in shown)
    assert "Traceback" not in logs
    for secret in (TOKEN, MODEL_KEY, KEY, "One two."):
        assert secret not in logs


@pytest.mark.parametrize("way", WAYS)
async def test_a_restart_gives_a_turn_to_the_other_replica_and_a_client_resumes_it(
    tmp_path: Path, postgres: PostgresServer, way: str
) -> None:
    scripts = [sends_then_silent(STREAM_HEAD + ONE), later]
    async with ScriptedServer(scripts) as model:
        ways = Ways(tmp_path, postgres.empty(), model.url)
        async with pairs(way, ways) as ((one, agent), (other, _)), new_client() as client:
            url = f"{one.url}/api/sessions/s1/chat"
            async with client.stream("POST", url, json=ask(), headers=bearer()) as response:
                chat = Chat(response)
                await chat.sees("One ")
                await agent.stopped()
                begun = await chat.end()
            stream = f"{other.url}/api/sessions/s1/chat/chat-1/stream"
            resumed = await client.get(stream, headers=bearer())

    assert errors(begun) == ["Stream interrupted"]
    assert len(model.asked) == 2
    assert is_whole(resumed.text)
    assert errors(resumed.text) == []
    assert said(resumed.text).endswith("One two.")
    starts = [
        chunk for chunk in [*chunks(begun), *chunks(resumed.text)] if chunk["type"] == "start"
    ]
    assert len({start["messageId"] for start in starts}) == 1
