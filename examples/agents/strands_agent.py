"""A Strands agent that speaks AG-UI: `uvicorn strands_agent:app --port 8000`.

OPENAI_BASE_URL and OPENAI_API_KEY say where its model is, AGENT_MODEL which one it is.
"""

import os

from ag_ui_strands import StrandsAgent, StrandsAgentConfig, ToolBehavior, create_strands_app
from strands import Agent, tool
from strands.models.openai import OpenAIModel

from offline.tools import calculate, delete, tell_time


@tool
def calculator(expression: str) -> str:
    """Work out an expression such as 12*7."""
    return calculate(expression)


@tool
def clock(city: str) -> str:
    """Tell the time in a city."""
    return tell_time(city)


@tool
def delete_file(path: str) -> str:
    """Delete a file, if the user approves."""
    return delete(path)


agent = Agent(
    model=OpenAIModel(model_id=os.environ.get("AGENT_MODEL", "offline")),
    system_prompt="Be brief. Use your tools.",
    tools=[calculator, clock, delete_file],
)
approvals = StrandsAgentConfig(tool_behaviors={"delete_file": ToolBehavior(interrupt_on_call=True)})
app = create_strands_app(StrandsAgent(agent, name="agent", config=approvals), "/")
