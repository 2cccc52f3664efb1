"""A LlamaIndex agent that speaks AG-UI: `uvicorn llama_index_agent:app --port 8000`, path `/run`.

OPENAI_BASE_URL and OPENAI_API_KEY say where its model is, AGENT_MODEL which one it is.
It has no way to ask for an approval on this wire.
"""

import os

from fastapi import FastAPI
from llama_index.llms.openai_like import OpenAILike
from llama_index.protocols.ag_ui.router import get_ag_ui_workflow_router

from offline.tools import calculate, tell_time


def calculator(expression: str) -> str:
    """Work out an expression such as 12*7."""
    return calculate(expression)


def clock(city: str) -> str:
    """Tell the time in a city."""
    return tell_time(city)


model = OpenAILike(
    model=os.environ.get("AGENT_MODEL", "offline"),
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    is_chat_model=True,
    is_function_calling_model=True,
)
app = FastAPI()
app.include_router(
    get_ag_ui_workflow_router(
        llm=model,
        backend_tools=[calculator, clock],
        system_prompt="Be brief. Use your tools.",
    )
)
