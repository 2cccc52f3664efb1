"""A Microsoft Agent Framework agent that speaks AG-UI: `uvicorn agent_framework_agent:app`.

OPENAI_BASE_URL and OPENAI_API_KEY say where its model is, AGENT_MODEL which one it is.
"""

import os

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI

from offline.tools import calculate, delete, tell_time


@tool
def calculator(expression: str) -> str:
    """Work out an expression such as 12*7."""
    return calculate(expression)


@tool
def clock(city: str) -> str:
    """Tell the time in a city."""
    return tell_time(city)


@tool(approval_mode="always_require")
def delete_file(path: str) -> str:
    """Delete a file, if the user approves."""
    return delete(path)


agent = Agent(
    client=OpenAIChatCompletionClient(model=os.environ.get("AGENT_MODEL", "offline")),
    name="agent",
    instructions="Be brief. Use your tools.",
    tools=[calculator, clock, delete_file],
)
app = FastAPI()
add_agent_framework_fastapi_endpoint(app, agent, "/", single_user=True)
