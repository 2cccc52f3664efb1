"""The least agent of docs/v2.md is run as it stands there; what its `init` is worth is tried."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from docs.wire_page import BLOCKS, INIT, TEXT, table
from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Json, ask, is_whole, new_client, post, said
from gateway.reading import App
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.config.settings import Settings
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

DIAL_S = 1.5
TOKEN = "known-to-the-gateway-alone"
SHELL = ["bash", "-euo", "pipefail", "-c"]
RECIPE = BLOCKS
(ASKED,) = [name for name in RECIPE if name.startswith("ask: ")]
(ENDS,) = re.findall(r"^`(kill .+?)` ends both", TEXT, re.MULTILINE)


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


def test_the_pages_lines_are_pasted_and_the_agent_answers(tmp_path: Path) -> None:
    """One line after the other, as they stand there but for the ports."""
    (tmp_path / "agent.py").write_text(BLOCKS["agent.py"], encoding="utf-8")
    code = RECIPE["serve"] + RECIPE[ASKED] + f"{ENDS}\nwait\n"
    ports = {written: free_port() for written in (8765, 8790, 9790)}
    for written, port in ports.items():
        assert str(written) in code
        code = code.replace(str(written), str(port))
    ran = subprocess.run(
        [*SHELL, code],
        cwd=tmp_path,
        env=environ(PORT=str(ports[8765])),  # of the agent
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert "The settings are fine." in ran.stdout, ran.stderr
    assert said(ran.stdout[ran.stdout.index("event:") :]).endswith(ASKED.removeprefix("ask: "))
    assert is_whole(ran.stdout[ran.stdout.index("event:") :])


def test_its_ports_are_not_those_of_the_demo() -> None:
    defaults = {str(value) for value in (Settings().port, Settings().metrics_port)}
    used = set(re.findall(r"_PORT=(\d+)", RECIPE["serve"]))

    assert len(used) == 2
    assert used.isdisjoint(defaults)


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


async def in_words(gateway: Gateway, method: str, route: str, body: Json | None) -> str:
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
            Gateway(agent.url(), dial_s=DIAL_S, verdict_s=0.2, idle_s=0.1) as gateway,
        ):
            asked_at = loop.time()
            found.append(await in_words(gateway, *REQUESTS[name]))
            assert loop.time() - asked_at >= (DIAL_S if cell.endswith(", late") else 0)

    assert found == [re.sub(r",.*", "", cell) for cell in cells]


def test_the_table_has_every_request() -> None:
    assert [row[0] for row in ROWS[1:]] == list(REQUESTS)
