"""The demo with a real gateway: it starts, answers, and ends without leaving anything behind."""

import asyncio
import json
import os
import shlex
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import jwt
import pytest

from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.cli import BY_MAKE
from turnwire_lab.demo import new_token
from turnwire_lab.gateway import Gateway, GatewayDown
from turnwire_lab.page.serving import BUILT

KEY = "k" * 64
ROOT = Path(__file__).parents[2]
PORTS = ("--port", "0", "--metrics-port", "0", "--page-port", "0")

pytestmark = pytest.mark.sockets


async def lab(*arguments: str, **environ: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", *arguments),
        stdout=PIPE,
        stderr=PIPE,
        env=os.environ | environ,
    )


async def start_demo(*more: str) -> tuple[Process, dict[str, str]]:
    """A demo that is ready, and its lines by their first word."""
    # A setting of another tool in the shell must not keep the gateway from starting.
    demo = await lab("demo", *PORTS, "--pace", "0", *more, TURNWIRE_X="y")
    assert demo.stdout is not None
    lines: dict[str, str] = {}
    while (line := (await demo.stdout.readline()).decode()) and "Ctrl-C ends" not in line:
        if words := line.split():
            lines[words[0]] = line.strip()
    return demo, lines


@pytest.fixture
async def demo() -> AsyncIterator[tuple[Process, dict[str, str]]]:
    process, lines = await start_demo()
    yield process, lines
    if process.returncode is None:
        process.terminate()
    await process.communicate()


async def test_the_line_to_paste_shows_an_answer(demo: tuple[Process, dict[str, str]]) -> None:
    curl = shlex.split(demo[1]["curl"])
    url, body = curl[2], curl[-1]
    assert curl[:2] == ["curl", "-sN"]  # no progress meter between the chunks, which come at once
    headers = dict(curl[i + 1].split(": ", 1) for i, word in enumerate(curl) if word == "-H")

    async with httpx.AsyncClient(trust_env=False) as http:
        response = await http.post(url, headers=headers, content=body)

    data = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    chunks = [json.loads(line) for line in data[:-1]]
    assert data[-1] == "[DONE]"
    assert (chunks[0]["type"], chunks[-1]["type"]) == ("start", "finish")
    output = next(c for c in chunks if c["type"] == "tool-output-available")
    assert output["output"] == {"expression": "12*7", "value": 84}
    said = "".join(c["delta"] for c in chunks if c["type"] == "text-delta")
    assert said == "Let me work that out. 12*7 is **84**.\n"


async def test_the_page_is_there_if_it_was_built(demo: tuple[Process, dict[str, str]]) -> None:
    told = demo[1]["page"]
    if not (BUILT / "index.html").is_file():
        assert "make page" in told
        return
    async with httpx.AsyncClient(trust_env=False) as http:
        page = await http.get(told.split()[1])
    assert "<title>turnwire demo</title>" in page.text


async def test_the_agent_of_a_model_can_be_killed_in_the_page(tmp_path: Path) -> None:
    demo, lines = await start_demo("--model", "llama-cpp:x", "--folder", str(tmp_path))
    demo.terminate()
    await demo.communicate()

    is_built = (BUILT / "index.html").is_file()
    assert ("kill the agent's process" in lines.get("Under", "")) == is_built


async def test_the_chat_line_talks_to_it(demo: tuple[Process, dict[str, str]]) -> None:
    line = next(line for word, line in demo[1].items() if word.startswith("TURNWIRE_LAB_TOKEN="))
    token, *_, url, _, session = shlex.split(line)
    where = ("chat", "--url", url, "--session", session)
    environ = {"TURNWIRE_LAB_TOKEN": token.partition("=")[2]}

    good = await lab(*where, "--once", "what is 6*7?", **environ)
    told = (await good.communicate())[0].decode()
    bad = await lab(*where, "--once", "make the turn fail", **environ)
    sorry = (await bad.communicate())[0].decode()
    stranger = await lab(*where, "--once", "hello", TURNWIRE_LAB_TOKEN="nobody")
    refused = (await stranger.communicate())[0].decode()

    assert good.returncode == 0
    assert "calculator" in told
    assert "6*7 is **42**." in told
    assert bad.returncode == 1
    assert "The turn failed: The agent was told to fail this turn." in sorry
    assert stranger.returncode == 1
    assert "Refused: 401" in refused


@pytest.mark.parametrize("wire", ["v2", "session-agent"])
async def test_its_agent_may_be_the_one_who_knows_the_token(wire: str) -> None:
    demo, lines = await start_demo("--opaque", "--wire", wire)
    where = ("chat", "--url", lines["gateway"].split()[1], "--session", "demo")
    chat = await lab(*where, "--once", "what is 6*7?", TURNWIRE_LAB_TOKEN="visitor")
    told = (await chat.communicate())[0].decode()
    demo.terminate()
    await demo.communicate()

    assert "6*7 is **42**." in told
    assert "TOKEN=visitor" in lines["export"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_gateway_ends_with_the_demo(number: signal.Signals) -> None:
    demo, lines = await start_demo()
    url = lines["gateway"].split()[1]
    demo.send_signal(number)

    await demo.communicate()
    assert demo.returncode == 0
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(url)


async def test_the_demo_ends_with_the_make_that_started_it() -> None:
    # What the demo needs is there, or these tests are not: so nothing has to be made.
    make = await asyncio.create_subprocess_exec(
        *("make", "demo", "MAKE=true", f"PY={sys.executable}", f"ARGS={' '.join(PORTS)}"),
        stdout=PIPE,
        stderr=PIPE,
        cwd=ROOT,
    )
    assert make.stdout is not None
    while (line := (await make.stdout.readline()).decode()) and "gateway" not in line:
        pass
    make.terminate()

    await make.communicate()
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(line.split()[1])


async def test_a_gateway_that_ends_by_itself_ends_the_demo() -> None:
    demo, _ = await start_demo()
    for child in children(demo.pid):
        os.kill(child, signal.SIGTERM)

    assert b"turnwire-lab demo: The gateway ended by itself" in (await demo.communicate())[1]
    assert demo.returncode == 1


async def test_a_gateway_that_dies_is_started_anew() -> None:
    demo, lines = await start_demo()
    assert demo.stderr is not None
    try:
        (before,) = children(demo.pid)
        os.kill(before, signal.SIGKILL)
        told = await demo.stderr.readuntil(b"The gateway is back.")
        assert b"The gateway died (exit -9)" in told
        (after,) = children(demo.pid)
        assert after != before
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.get(f"{lines['gateway'].split()[1]}/readyz")).is_success
    finally:
        demo.terminate()
        await demo.communicate()
    assert demo.returncode == 0


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.is_dir():
        pytest.skip("only Linux tells whose child a process is")
    return [
        int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()
    ]


async def test_ctrl_c_in_the_chat_stops_the_agents_turn() -> None:
    async with ReferenceAgent() as agent, Gateway(agent_url=agent.url, jwt_key=KEY) as gateway:
        where = ("--url", gateway.url, "--token", new_token(KEY))
        chat = await lab("chat", *where, "--once", "hang")
        assert chat.stdout is not None
        await chat.stdout.readuntil(b"until somebody stops me. ")
        chat.send_signal(signal.SIGINT)
        told = (await chat.communicate())[0]
        await agent.until(lambda: any(frame["type"] == "abort" for frame in agent.received))
        await agent.until(lambda: agent.session("demo").running is None)
        await agent.until(lambda: agent.connections == 0)

    assert told == b"\nStopped\n"
    assert chat.returncode == 1


@pytest.mark.parametrize("option", ["--port", "--metrics-port"])
@pytest.mark.parametrize("by_make", [False, True])
async def test_a_taken_port_is_told_with_a_line_to_paste(
    option: str,
    by_make: bool,  # noqa: FBT001 (a table's column)
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = {"--port": "0", "--metrics-port": "0"} | {option: str(port)}
        environ = {BY_MAKE: "demo"} if by_make else {}
        demo = await lab("demo", *(word for pair in ports.items() for word in pair), **environ)
        out, errors = await demo.communicate()

    another = f"{option} {port + 10 if port < 65_000 else port - 10}"
    line = f'make demo ARGS="{another}"' if by_make else f"turnwire-lab demo {another}"
    words = f"turnwire-lab demo: Port {port} on 127.0.0.1 is in use. Choose another: {line}\n"
    assert (demo.returncode, out, errors.decode()) == (1, b"", words)


async def test_nothing_is_logged_above_what_there_is_to_read() -> None:
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", "demo", "--port", "0", "--metrics-port", "0"),
        stdout=PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert demo.stdout is not None
    first = await demo.stdout.readline()
    while line := await demo.stdout.readline():
        if b"Application startup complete" in line:
            demo.terminate()
            break
    rest, _ = await demo.communicate()

    assert first.startswith(b"turnwire demo: ")
    assert b"Application shutdown complete" in rest


async def test_a_taken_port_of_the_agent_is_told_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        demo = await lab("demo", "--port", "0", "--agent-port", str(port))
        out, errors = await demo.communicate()

    words = f"The agent cannot listen on port {port}: Address already in use"
    assert (demo.returncode, out) == (1, b"")
    assert words in errors.decode()


async def test_a_gateway_that_does_not_start_is_told() -> None:
    with pytest.raises(GatewayDown, match=r"The gateway ended at once \(exit [1-9]\d*\)"):
        async with Gateway(agent_url="ws://127.0.0.1:1/{session_id}", jwt_key="too short"):
            pass


async def test_a_gateway_that_takes_too_long_is_told_and_ended() -> None:
    with pytest.raises(GatewayDown, match="not ready within 0 s"):
        async with Gateway(agent_url="ws://127.0.0.1:1/{session_id}", jwt_key=KEY, start_s=0):
            pass


def test_the_token_opens_every_session_for_a_day() -> None:
    claims = jwt.decode(new_token(KEY), KEY, algorithms=["HS256"], options={"require": ["exp"]})

    assert claims["sub"] == "visitor"
    assert claims["sessions"] == {"*": "collaborator"}
