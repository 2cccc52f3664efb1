"""A Google ADK agent that speaks AG-UI: `uvicorn adk_agent:app --port 8000`.

AGENT_MODEL names its model, such as `gemini-3-pro`; without it a model answers that needs no key.
"""

import os

from ag_ui_adk import ADKAgent, add_adk_fastapi_endpoint
from fastapi import FastAPI
from google.adk.agents import LlmAgent
from google.adk.tools import FunctionTool

from offline.adk_model import OfflineModel
from offline.tools import calculate, delete, tell_time


def calculator(expression: str) -> dict[str, str]:
    """Work out an expression such as 12*7."""
    try:
        return {"result": calculate(expression)}
    except ZeroDivisionError as error:
        return {"error": f"calculator: {error}"}


def clock(city: str) -> dict[str, str]:
    """Tell the time in a city."""
    return {"result": tell_time(city)}


def delete_file(path: str) -> dict[str, str]:
    """Delete a file, if the user approves."""
    return {"result": delete(path)}


agent = LlmAgent(
    name="agent",
    model=os.environ.get("AGENT_MODEL") or OfflineModel(model="offline"),
    instruction="Be brief. Use your tools.",
    tools=[calculator, clock, FunctionTool(delete_file, require_confirmation=True)],
)
bridge = ADKAgent(adk_agent=agent, app_name="example", user_id="user", emit_interrupt_outcome=True)
app = FastAPI()
add_adk_fastapi_endpoint(app, bridge, "/")
