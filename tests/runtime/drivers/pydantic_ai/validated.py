"""An agent of pydantic-ai whose output is checked by a validator, and that has no tools of ours."""

from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import Agent as Assistant
from pydantic_ai import ModelRetry
from pydantic_ai.models.function import AgentInfo, FunctionModel

from turnwire_agent import Agent
from turnwire_agent.drivers.pydantic_ai import PydanticAiAnswers


async def model(sent: list[Any], _info: AgentInfo) -> AsyncIterator[Any]:
    """Be loud, and quiet when asked to."""
    yield "hello" if len(sent) > 1 else "HELLO"


assistant = Assistant(FunctionModel(stream_function=model))


@assistant.output_validator
def quiet(text: str) -> str:
    """Take no capitals."""
    if text.isupper():
        raise ModelRetry("Be quiet.")
    return text


agent = Agent(answers=PydanticAiAnswers(assistant))
