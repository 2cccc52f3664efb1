"""The host passes every scenario of `turnwire conform`, whatever gives its answers."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final

from runtime.drivers.model_agent import playing
from runtime.host.hosted import hosted
from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, Connection
from runtime.llm.streams import sse
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.tools.contract import Effect, ToolFailed
from turnwire_agent.tools.functions import tool
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.hosted.driver import ScriptedDriver

SETTINGS: Final = HostSettings(lease_s=2.0)
PASSED: Final = 20
"""Most others are about a restart of the agent, and about minutes of silence."""
UNICODE: Final = "Größe 漢字 🎉 naïve"


async def failed(port: int, folder: Path, **prompts: str) -> list[str]:
    """The scenarios that an agent fails."""
    report = folder / "report.json"
    options = [
        word
        for name, prompt in prompts.items()
        for word in (f"--{name.replace('_', '-')}-prompt", prompt)
    ]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "conform", "--dialect", "v2", "--token", "t"),
        *("--agent-url", f"ws://127.0.0.1:{port}/api/sessions/{{session_id}}/ws?role=client"),
        *("--json", str(report), "--idle", "0.3", "--long", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    results = json.loads(report.read_text())["results"]
    assert sum(each["verdict"] == "passed" for each in results) >= PASSED, output
    return [each["name"] for each in results if each["verdict"] == "failed"]


def big_result(_args: object) -> dict[str, object]:
    """What the lab's tool `search` returns that is asked for five megabytes."""
    return {"pages": 1, "hits": [], "found": "x" * 5_000_000}


async def test_with_the_scripted_brain(tmp_path: Path) -> None:
    habits = Habits(pace_s=0.001, slow_s=0.02, spellings=("text-delta",), noise=False)
    driver = ScriptedDriver(habits, tools={"search": big_result})
    async with hosted(driver, settings=SETTINGS) as host:
        assert not await failed(
            host.port,
            tmp_path,
            long="be slow",
            tool="what is 12*7?",
            unicode=f"repeat {UNICODE}",
            failing_tool="make the tool fail",
            question="ask me: tea or coffee?",
            big_output="search for five megabytes",
            quiet="be slow",
            lost_attempt="lose an attempt",
        )


@tool(effect=Effect.SAFE)
async def slow(what: str) -> str:
    """Take a moment."""
    await asyncio.sleep(0.3)
    return what


@tool
def fails(what: str) -> str:
    """Fail."""
    raise ToolFailed(f"No paper for {what}.")


@tool(approval="always")
def mail(what: str) -> str:
    """Send mail."""
    return what


@tool
def big(what: str) -> str:
    """Return five megabytes."""
    return what * 5_000_000


async def test_with_a_model(tmp_path: Path) -> None:
    lost = 0

    async def answers(connection: Connection) -> bool:
        nonlocal lost
        messages = json.loads(play.provider.asked[-1].body)["messages"]
        await connection.send(STREAM_HEAD)
        last = str(messages[-1]["content"])
        if messages[-1]["role"] == "tool":
            await connection.send(*(sse(each) for each in _words("That was it.")))
        elif last.startswith("use "):
            await connection.send(*(sse(each) for each in _call(last.removeprefix("use "))))
        elif last == "lose an attempt" and not lost:
            lost += 1
            await connection.send(sse(chunk(content="This is not ")), sse(chunk(content="it")))
            return False
        else:
            pause_s = 0.01 if "long" in last else 0.0
            text = last if last == UNICODE else "One two three. " * (20 if pause_s else 1)
            for each in _words(text):
                await connection.send(sse(each))
                await asyncio.sleep(pause_s)
        return False

    tools = [slow, fails, mail, big]
    async with playing([answers], tools, settings=SETTINGS) as play:
        assert not await failed(
            play.host.port,
            tmp_path,
            long="A long one, please.",
            tool="use slow",
            unicode=UNICODE,
            failing_tool="use fails",
            question="use mail",
            big_output="use big",
            quiet="A long one, please.",
            lost_attempt="lose an attempt",
        )


def _words(text: str) -> list[Any]:
    words = [chunk(content=f"{word} ") for word in text.split(" ")]
    return [*words, chunk("stop"), "[DONE]"]


def _call(name: str) -> list[Any]:
    function = {"name": name, "arguments": '{"what": "x"}'}
    call = chunk(tool_calls=[{"index": 0, "id": "c1", "function": function}])
    return [chunk(content="Let me see. "), call, chunk("tool_calls"), "[DONE]"]
