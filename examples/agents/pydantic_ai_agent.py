"""A pydantic-ai agent that speaks AG-UI: `uvicorn pydantic_ai_agent:app --port 8000`.

AGENT_MODEL names its model, such as `openai:gpt-5`, which needs the package `openai` and
OPENAI_API_KEY; without it a model answers that needs no key.
"""

import os

from pydantic_ai import Agent, DeferredToolRequests, ToolFailed
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from offline.pydantic_ai_model import offline_model
from offline.tools import calculate, delete, tell_time

agent = Agent(
    os.environ.get("AGENT_MODEL") or offline_model(),
    instructions="Be brief. Use your tools.",
    output_type=[str, DeferredToolRequests],
)


@agent.tool_plain
def calculator(expression: str) -> str:
    """Work out an expression such as 12*7."""
    try:
        return calculate(expression)
    except ZeroDivisionError as error:
        raise ToolFailed(f"calculator: {error}") from error


@agent.tool_plain
def clock(city: str) -> str:
    """Tell the time in a city."""
    return tell_time(city)


@agent.tool_plain(requires_approval=True)
def delete_file(path: str) -> str:
    """Delete a file, if the user approves."""
    return delete(path)


async def run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent)


app = Starlette(routes=[Route("/", run, methods=["POST"])])
