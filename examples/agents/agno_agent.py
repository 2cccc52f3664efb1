"""An Agno agent that speaks AG-UI: `uvicorn agno_agent:app --port 8000`, path `/agui`.

OPENAI_BASE_URL and OPENAI_API_KEY say where its model is, AGENT_MODEL which one it is.
"""

import os

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.os import AgentOS
from agno.os.interfaces.agui import AGUI
from agno.tools import tool

from offline.tools import calculate, delete, tell_time


@tool
def calculator(expression: str) -> str:
    """Work out an expression such as 12*7."""
    return calculate(expression)


@tool
def clock(city: str) -> str:
    """Tell the time in a city."""
    return tell_time(city)


@tool(requires_confirmation=True)
def delete_file(path: str) -> str:
    """Delete a file, if the user approves."""
    return delete(path)


agent = Agent(
    name="agent",
    model=OpenAIChat(id=os.environ.get("AGENT_MODEL", "offline")),
    instructions="Be brief. Use your tools.",
    tools=[calculator, clock, delete_file],
    db=InMemoryDb(),
    add_history_to_context=True,
    telemetry=False,
)
app = AgentOS(agents=[agent], interfaces=[AGUI(agent=agent)], telemetry=False).get_app()
