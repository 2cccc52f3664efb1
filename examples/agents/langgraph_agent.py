"""A LangGraph agent that speaks AG-UI: `uvicorn langgraph_agent:app --port 8000`.

AGENT_MODEL names its model, such as `openai:gpt-5`, which needs the package `langchain-openai` and
OPENAI_API_KEY; without it a model answers that needs no key.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Annotated

from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, ModelResponse, wrap_model_call
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from offline.langgraph_model import OfflineChatModel
from offline.tools import calculate, delete, tell_time

STOPPED = "The turn was stopped. It is not known whether this was done."


@tool
async def calculator(expression: str) -> str:
    """Work out an expression such as 12*7."""
    try:
        return calculate(expression)
    except ZeroDivisionError as error:
        raise ToolException(f"calculator: {error}") from error


@tool
async def clock(city: str) -> str:
    """Tell the time in a city."""
    return tell_time(city)


@tool
async def delete_file(path: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Delete a file, if the user approves."""
    question = {"reason": "tool_call", "message": f"Delete {path}?", "toolCallId": call_id}
    answer = interrupt(question)
    return delete(path) if answer.get("approved") else f"{path} is kept"


@wrap_model_call
async def settle_calls(
    request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
) -> ModelResponse:
    """Show the model a result of each call: a turn that is stopped within a tool leaves none."""
    settled = {each.tool_call_id for each in request.messages if isinstance(each, ToolMessage)}
    messages: list[AnyMessage] = []
    for message in request.messages:
        messages.append(message)
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        lost = [call["id"] for call in calls if call["id"] not in settled]
        messages += [ToolMessage(STOPPED, tool_call_id=call_id) for call_id in lost]
    return await handler(request.override(messages=messages))


calculator.handle_tool_error = True  # the model reads the error, and goes on
graph = create_agent(
    os.environ.get("AGENT_MODEL") or OfflineChatModel(),
    tools=[calculator, clock, delete_file],
    system_prompt="Be brief. Use your tools.",
    middleware=[settle_calls],
    checkpointer=InMemorySaver(),
)
app = FastAPI()
add_langgraph_fastapi_endpoint(
    app, LangGraphAgent(name="agent", graph=graph, emit_interrupt_outcome=True)
)
