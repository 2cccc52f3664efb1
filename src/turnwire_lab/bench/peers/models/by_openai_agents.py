"""OpenAI's Agents SDK: an agent without tools, on Chat Completions."""

# Its library is in an environment of its own, and has the name of a folder of our tests:
# mypy: disable-error-code="import-not-found, attr-defined"

from collections.abc import Callable
from functools import cache

from openai import AsyncOpenAI

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner

_NO_TRACES = RunConfig(tracing_disabled=True)
"""Else it sends what it did to a host."""


@cache
def _agent(url: str) -> Agent:
    client = AsyncOpenAI(base_url=url, api_key="a-key-of-nobody")
    return Agent(name="large", model=OpenAIChatCompletionsModel("large", client))


async def read(url: str, _wire: str, prompt: str, tell: Callable[[str], None]) -> None:
    """See `reading`."""
    run = Runner.run_streamed(_agent(url), prompt, run_config=_NO_TRACES)
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            tell(event.data.delta)
    if not run.final_output:
        raise ValueError("no end")
