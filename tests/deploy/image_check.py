"""Builds the images and streams a chat through each. By hand: `make image-check`; ten minutes.

It needs no Docker: buildah builds them, in a chroot, on a Debian that mmdebstrap makes.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from websockets.asyncio.client import connect

from deploy.images import (
    USER,
    WAYS,
    Container,
    Files,
    built,
    has_no_tools_and_nothing_that_its_user_owns,
    innermost,
    root_options,
    secret,
    status,
)
from deploy.parts import DEPLOY, run
from gateway.clients import ask, is_whole, new_client, said
from gateway.postgres_server import PostgresServer
from gateway.served import Served
from gateway.tokens import KEY, bearer
from gateway.waiting import PATIENCE_S, until
from runtime.host.hosted import Socket, words
from runtime.llm.messages_events import BEGIN, STOP, ended, text
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends
from runtime.llm.streams import sse
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.process import free_port

pytestmark = [pytest.mark.sockets, pytest.mark.long, pytest.mark.timeout(1800)]

TOKEN: Final = "a-token-that-no-log-may-have-0123456789"
MODEL_KEY: Final = "a-key-that-no-log-may-have-0123456789"
WHOLE: Final = sse(BEGIN, *text(0, "One ", "two."), ended("end_turn"), STOP, named=True)


@pytest.fixture(scope="module")
def gateway_image() -> Iterator[Container]:
    with built("gateway") as container:
        yield container


@pytest.fixture(scope="module")
def agent_image() -> Iterator[Container]:
    with built("agent") as container:
        yield container


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


def test_the_gateways_image_says_what_it_should(gateway_image: Container) -> None:
    config = gateway_image.config

    assert config["User"] == f"{USER}:{USER}"
    assert config["StopSignal"] == "SIGTERM"
    assert config["Healthcheck"]["Test"][0] == "CMD"
    assert set(config["ExposedPorts"]) == {"8787/tcp", "9787/tcp"}
    assert config["Labels"]["org.opencontainers.image.title"] == "turnwire"


def test_the_gateways_image_has_no_tools_and_no_lab(gateway_image: Container) -> None:
    venv = gateway_image.root / "opt/turnwire"

    assert {path.name for path in (venv / "bin").iterdir()} >= {"python", "turnwire"}
    assert not [path for path in venv.rglob("*") if path.name in {"turnwire_agent", "turnwire_lab"}]
    has_no_tools_and_nothing_that_its_user_owns(gateway_image, venv)


@pytest.mark.parametrize("way", WAYS)
async def test_a_chat_streams_through_the_gateways_image(
    gateway_image: Container, tmp_path: Path, way: str
) -> None:
    start = gateway_image.way(way)
    files = {"/run/secrets/jwt_key": secret(tmp_path / "jwt_key", KEY)}
    async with ReferenceAgent() as agent:
        gateway = Served(agent.url)
        values = {
            name: value
            for name, value in gateway._env.items()
            if name.startswith("TURNWIRE_") and name != "TURNWIRE_JWT_KEY"
        }
        values |= {"TURNWIRE_HOST": "127.0.0.1", "TURNWIRE_JWT_KEY_FILE": "/run/secrets/jwt_key"}
        gateway._command = tuple(start(values, *gateway_image.command, files=files))
        gateway._env = {"PATH": os.environ["PATH"]}
        async with gateway, new_client() as client:
            answer = await client.post(
                f"{gateway.url}/api/sessions/s1/chat", json=ask("what is 12*7?"), headers=bearer()
            )
            pid = innermost(gateway.pid)
            groups = status(pid, "Gid")
            options = root_options(pid)
            asked = {"TURNWIRE_PORT": str(gateway.port), "TURNWIRE_HOST": "127.0.0.1"}
            healthy = run(start(asked, *gateway_image.health, files={}))
            nobody = run(start({"TURNWIRE_PORT": "1"}, *gateway_image.health, files={}))
            os.kill(pid, signal.SIGTERM)
            await until(gateway._ending.done, 20)

    assert is_whole(answer.text)
    assert "84" in said(answer.text)
    assert groups == [str(USER)] * 4
    assert healthy[0] == 0, healthy
    assert nobody[0] == 1, nobody
    assert "Finished server process" in gateway.errors  # and then buildah has lines of its own
    if way == "read_only":
        assert "ro" in options


def test_the_agents_image_says_what_it_should(agent_image: Container) -> None:
    config = agent_image.config

    assert config["User"] == f"{USER}:{USER}"
    assert config["StopSignal"] == "SIGTERM"
    assert config["Healthcheck"]["Test"][0] == "CMD"
    assert set(config["ExposedPorts"]) == {"8765/tcp", "9788/tcp"}
    assert config["Labels"]["org.opencontainers.image.title"] == "turnwire-agent"
    assert agent_image.entry == ["turnwire-agent"]
    assert agent_image.command[1:] == ["serve", "/etc/turnwire-agent/agent.toml"]
    assert agent_image.health[-1] == "8765"


def test_the_agents_image_has_no_tools_and_nothing_of_the_gateway(agent_image: Container) -> None:
    venv = agent_image.root / "opt/turnwire-agent"

    assert {path.name for path in (venv / "bin").iterdir()} >= {"python", "turnwire-agent"}
    assert not (agent_image.root / "opt/turnwire").exists()
    assert not [path for path in venv.rglob("*") if path.name in {"turnwire", "turnwire_lab"}]
    has_no_tools_and_nothing_that_its_user_owns(agent_image, venv)


def agent_files(folder: Path, journal: str, port: int, metrics_port: int) -> Files:
    """What compose-agent.yaml mounts, with ports that are free here."""
    settings = (DEPLOY / "agent.toml").read_text(encoding="utf-8")
    moved = settings.replace(":8765", f":{port}").replace(":9788", f":{metrics_port}")
    secrets = {"agent_token": TOKEN, "model_key": MODEL_KEY, "journal": journal}
    return {
        "/etc/turnwire-agent/agent.toml": secret(folder / "agent.toml", moved),
        **{f"/run/secrets/{name}": secret(folder / name, of) for name, of in secrets.items()},
    }


@asynccontextmanager
async def serving(command: list[str]) -> AsyncIterator[Process]:
    """The process that runs a container, when the agent in it serves."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={"PATH": os.environ["PATH"]},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    assert process.stdout
    try:
        async with asyncio.timeout(PATIENCE_S):
            line = await process.stdout.readline()
        assert line.startswith(b"serves "), await process.communicate()
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def turn(port: int, headers: Mapping[str, str]) -> str:
    """What the agent answers to a prompt of a gateway."""
    url = f"ws://127.0.0.1:{port}/api/sessions/s1/ws?role=client"
    async with connect(url, additional_headers=headers, proxy=None) as connection:
        socket = Socket(connection)
        await socket.next()
        return words(await socket.turn("Hi"))


@pytest.mark.parametrize("way", WAYS)
async def test_a_prompt_is_answered_by_the_agents_image(
    agent_image: Container, postgres: PostgresServer, tmp_path: Path, way: str
) -> None:
    start = agent_image.way(way)
    port, metrics_port = free_port(), free_port()
    files = agent_files(tmp_path, postgres.empty(), port, metrics_port)
    usage = run(start({}, *agent_image.entry, "--help", files={}))
    checked = run(start({}, *agent_image.entry, "check", agent_image.command[-1], files=files))
    async with ScriptedServer([sends(STREAM_HEAD + WHOLE)]) as model:
        command = start({}, *agent_image.command, "--base-url", model.url, files=files)
        async with serving(command) as process:
            answer = await turn(port, {"authorization": f"Bearer {TOKEN}"})
            pid = innermost(process.pid)
            groups = status(pid, "Gid")
            options = root_options(pid)
            *health, _ = agent_image.health
            healthy = run(start({}, *health, str(port), files={}))
            nobody = run(start({}, *health, "1", files={}))
            async with new_client() as client:
                ready = await client.get(f"http://127.0.0.1:{port}/readyz")
                metrics = await client.get(f"http://127.0.0.1:{metrics_port}/metrics")
            os.kill(pid, signal.SIGTERM)
            _, log = await asyncio.wait_for(process.communicate(), PATIENCE_S)

    assert usage[0] == 0, usage
    assert "serve an agent to a gateway" in usage[1]
    assert checked[0] == 0, checked
    assert "journal" in checked[1]
    assert answer == "One two."
    assert model.asked[0].headers["x-api-key"] == MODEL_KEY
    assert groups == [str(USER)] * 4
    assert healthy[0] == 0, healthy
    assert nobody[0] == 1, nobody
    assert ready.is_success
    assert 'turns_total{reason="end_turn"} 1' in metrics.text
    assert process.returncode == 0, log
    assert b"Traceback" not in log
    assert TOKEN.encode() not in log
    if way == "read_only":
        assert "ro" in options
