"""The host of the agent runtime passes every scenario, whatever gives its answers."""

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from conform.test_good_agents import PATIENT
from conform.trials import PROMPTS, Trial, big_result, failures
from runtime.drivers.model_agent import playing
from runtime.host.hosted import hosted
from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, Connection
from runtime.llm.streams import sse
from turnwire.conform.given import Choices, Prompts
from turnwire.conform.scenarios.telling import UNICODE
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.tools.contract import Effect, ToolFailed
from turnwire_agent.tools.functions import tool
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.hosted.driver import ScriptedDriver

pytestmark = pytest.mark.sockets
URL = "ws://127.0.0.1:{port}/api/sessions/{{session_id}}/ws?role=client"
SETTINGS = HostSettings(lease_s=2.0)
MODEL_PROMPTS = Prompts(
    plain="Say hello.",
    long="A long one, please.",
    tool="use slow",
    unicode=UNICODE,
    failing_tool="use fails",
    question="use mail",
    big_output="use big",
    quiet="A long one, please.",
    lost_attempt="lose an attempt",
)


async def test_with_the_scripted_brain() -> None:
    habits = Habits(pace_s=0.001, slow_s=0.008, spellings=("text-delta",), noise=False)
    driver = ScriptedDriver(habits, tools={"search": big_result})
    async with hosted(driver, settings=SETTINGS) as host:
        trial = Trial("v2", prompts=PROMPTS, choices=Choices(is_long=True), patience=PATIENT)
        report = await trial.report(URL.format(port=host.port))
    assert not failures(report)
    assert report.is_well


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


async def test_with_a_model() -> None:
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
        trial = Trial("v2", MODEL_PROMPTS, Choices(is_long=True), replace(PATIENT, turn_s=10.0))
        report = await trial.report(URL.format(port=play.host.port))
    assert not failures(report)
    assert report.is_well


def _words(text: str) -> list[Any]:
    words = [chunk(content=f"{word} ") for word in text.split(" ")]
    return [*words, chunk("stop"), "[DONE]"]


def _call(name: str) -> list[Any]:
    function = {"name": name, "arguments": '{"what": "x"}'}
    call = chunk(tool_calls=[{"index": 0, "id": "c1", "function": function}])
    return [chunk(content="Let me see. "), call, chunk("tool_calls"), "[DONE]"]
