"""A host whose driver is the loop over a model on a scripted server."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from runtime.host.hosted import QUICK, Frame, Hosted, hosted
from runtime.llm.call.called import Key, chunk, model
from runtime.llm.scripted_server import STREAM_HEAD, Script, ScriptedServer, sends
from runtime.llm.streams import sse
from turnwire_agent.drivers.answers import ProviderAnswers
from turnwire_agent.drivers.model import Compaction, ModelDriver
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.port import Journal
from turnwire_agent.llm.call.limits import Limits as CallLimits
from turnwire_agent.llm.call.stream import CallSettings
from turnwire_agent.llm.retry import Retries
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.limits import Limits
from turnwire_agent.tools.contract import Tool, Tools
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread
from turnwire_agent.v2.frames import Frames

NO_LIMITS = Limits()


@dataclass
class Playing:
    """A host, the scripted provider behind it, and what runs its tools."""

    host: Hosted
    provider: ScriptedServer
    runner: ToolRunner
    losses: list[str] = field(default_factory=list)


@asynccontextmanager
async def playing(
    scripts: Sequence[Script],
    tools: Iterable[Tool] = (),
    *,
    journal: Journal | None = None,
    limits: Limits = NO_LIMITS,
    compaction: Compaction | None = None,
    window: int | None = None,
    settings: HostSettings = QUICK,
) -> AsyncIterator[Playing]:
    """Serve an agent of some tools."""
    thread = ToolThread()
    runner = ToolRunner(thread, grace_s=0.3)
    own = Tools(tools)
    frames = Frames(lambda name: tool.secrets if (tool := own.get(name)) else frozenset())
    async with ScriptedServer(list(scripts)) as provider:
        driver = ModelDriver(
            agent=Agent(
                model=model(provider.url),
                tools=own,
                limits=limits,
                window=window,
                compacts=compaction is not None,
            ),
            answers=ProviderAnswers(
                Key(),
                CallSettings(
                    limits=CallLimits(read_s=2.0),
                    retries=Retries(first_wait_s=0.01),
                    random=lambda: 0.5,
                ),
            ),
            tools=runner,
            compaction=compaction,
        )
        try:
            async with hosted(driver, journal, settings, frames) as host:
                yield Playing(host, provider, runner)
        finally:
            thread.close()


def says(*words: str, finish: str = "stop") -> Script:
    """An answer of text."""
    return sends(
        STREAM_HEAD + sse(*(chunk(content=word) for word in words), chunk(finish), "[DONE]")
    )


def calls(*named: tuple[str, str, str], text: str = "", finish: str = "tool_calls") -> Script:
    """An answer that calls tools: id, name and arguments of each."""
    inputs = [
        chunk(
            tool_calls=[
                {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}
            ]
        )
        for index, (id_, name, arguments) in enumerate(named)
    ]
    words = [chunk(content=text)] if text else []
    return sends(STREAM_HEAD + sse(*words, *inputs, chunk(finish), "[DONE]"))


def results(frames: Iterable[Frame]) -> dict[str, Any]:
    """How each call ended: its result, or its error."""
    return {
        each["callId"]: each.get("result", each.get("error"))
        for each in frames
        if each["type"] == "message.part.tool-update" and each["status"] in {"completed", "error"}
    }
