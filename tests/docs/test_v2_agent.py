"""The least agent of docs/v2.md is run as it stands there; what its `init` is worth is tried."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from docs.wire_page import BLOCKS, INIT, table
from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Json, ask, is_whole, new_client, post, said
from gateway.process import free_port
from gateway.reading import App
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

TOKEN = "known-to-the-gateway-alone"
SHELL = ["bash", "-euo", "pipefail", "-c"]
UP = """
for port in $PORT $TURNWIRE_PORT; do
  until (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.05; done
done
"""
(ASKED,) = [name for name in BLOCKS if name.startswith("ask: ")]


def environ(**more: str) -> dict[str, str]:
    return {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **more}


@pytest.fixture
def least_agent(tmp_path: Path) -> Iterator[str]:
    """The URL of one that runs."""
    script = tmp_path / "agent.py"
    script.write_text(BLOCKS["agent.py"], encoding="utf-8")
    env = environ(AGENT_TOKEN=TOKEN, PORT="0")
    with subprocess.Popen([sys.executable, script], env=env, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield f"ws://127.0.0.1:{int(process.stdout.readline().split()[-1])}/{{session_id}}"
        finally:
            process.terminate()


def test_the_page_is_pasted_and_the_agent_answers(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(BLOCKS["agent.py"], encoding="utf-8")
    ports = {8765: free_port(), 8787: free_port()}
    code = BLOCKS["serve"] + UP + BLOCKS[ASKED]
    for written, port in ports.items():
        assert str(written) in code
        code = code.replace(str(written), str(port))
    own = environ(PORT=str(ports[8765]), TURNWIRE_PORT=str(ports[8787]), TURNWIRE_METRICS_PORT="0")
    with subprocess.Popen(
        [*SHELL, code],
        cwd=tmp_path,
        env=own,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as shell:
        try:
            assert shell.stdout is not None
            answered = ""
            for line in shell.stdout:
                answered += line.decode()
                if line == b"data: [DONE]\n":
                    break
        finally:
            os.killpg(shell.pid, signal.SIGTERM)

    assert said(answered).endswith(ASKED.removeprefix("ask: ")), answered


async def test_the_least_agent_lets_in_the_gateway_alone(least_agent: str) -> None:
    service = {"agent_auth": "service", "agent_token": TOKEN}
    async with Gateway(least_agent, given=service) as gateway:
        answered = await post(gateway, text="hello")
        assert said(answered.text) == "You said: hello"
        assert is_whole(answered.text)
        assert await App(gateway).messages() == []
        async with App(gateway).resume() as chat:
            assert chat.response.status_code == 204
        assert (await App(gateway).stop()).json()["reason"] == "idle"

    async with Gateway(least_agent, given=service | {"agent_token": TOKEN[::-1]}) as gateway:
        assert (await post(gateway)).status_code == 503
    async with Gateway(least_agent) as gateway:
        assert (await post(gateway)).status_code == 401


# What `init` is worth.

TURN = INIT["data"]["runningTurnId"]
INITS: list[Json | None] = [
    None,
    {"type": "init", "data": {}},
    {"type": "init", "data": {"runningTurnId": TURN}},
    INIT,
]
ROWS = table("### What `init` is worth")
ANSWERED = {
    "id": "chat-1",
    "messageId": TURN,
    "message": {
        "id": TURN,
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {
                "type": "data-question",
                "id": "q1",
                "data": {"questionId": "q1", "state": "answered", "answer": "yes"},
            },
        ],
    },
}
REQUESTS: dict[str, tuple[str, str, Json | None]] = {
    "`POST …/chat`": ("POST", "chat", ask()),
    "`GET …/messages`": ("GET", "messages", None),
    "`GET …/chat/{id}/stream`": ("GET", "chat/chat-1/stream", None),
    "`POST …/stop`": ("POST", "stop", {}),
    "`POST …/stop` with `turnId`": ("POST", "stop", {"turnId": TURN}),
    "`POST …/answer`": ("POST", "answer", {"questionId": "q1", "answer": "yes"}),
    "`POST …/chat` with an answer": ("POST", "chat", ANSWERED),
}


async def told(gateway: Gateway, method: str, route: str, body: Json | None) -> str:
    """A response in the table's words."""
    url = f"{gateway.url}/api/sessions/s1/{route}"
    async with new_client() as client:
        stream = client.stream(method, url, json=body, headers=bearer("ann"))
        async with stream as response:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return f"{response.status_code}"
            await response.aread()
    return f"{response.status_code} {_word(response)}".strip()


def _word(response: httpx.Response) -> str:
    told = response.json() if response.content else None
    match told:
        case []:
            return "`[]`"
        case {"code": str(word)} | {"reason": str(word)}:
            return f"`{word}`"
        case _:
            return ""


@pytest.mark.parametrize("row", ROWS[1:], ids=lambda row: row[0])
async def test_what_init_is_worth(row: list[str]) -> None:
    name, *cells = row
    loop = asyncio.get_running_loop()
    found = []
    for init, cell in zip(INITS, cells, strict=True):

        async def talk(line: Line, init: Json | None = init) -> None:
            if init is not None:
                await line.say(init)
            await until(lambda: line.heard or line.closed)
            if line.of_type("prompt"):
                await line.begin("turn-9")
                await line.say(frames.finalize("turn-9"))
            elif line.heard:
                reason = "canceled" if line.aborts else "end_turn"
                await line.say(frames.finalize(TURN, reason=reason))

        async with (
            ScriptedAgent(talk) as agent,
            Gateway(agent.url(), dial_s=0.4, verdict_s=0.2, idle_s=0.1) as gateway,
        ):
            asked_at = loop.time()
            found.append(await told(gateway, *REQUESTS[name]))
            assert loop.time() - asked_at >= (0.4 if cell.endswith(", late") else 0)

    assert found == [re.sub(r",.*", "", cell) for cell in cells]


def test_the_table_has_every_request() -> None:
    assert [row[0] for row in ROWS[1:]] == list(REQUESTS)
