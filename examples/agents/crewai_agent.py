"""A CrewAI flow that speaks AG-UI: `uvicorn crewai_agent:app --port 8000`.

OPENAI_BASE_URL and OPENAI_API_KEY say where its model is, AGENT_MODEL which one it is.
A flow calls its tools itself, and has no approvals of a call.
"""

import json
import os
from typing import Any

from ag_ui_crewai import (
    CopilotKitState,
    add_crewai_flow_fastapi_endpoint,
    copilotkit_emit_tool_result,
    copilotkit_stream,
)
from crewai.flow.flow import Flow, start
from fastapi import FastAPI
from litellm import acompletion

from offline.tools import calculate, tell_time

MODEL = f"openai/{os.environ.get('AGENT_MODEL', 'offline')}"
INSTRUCTIONS = {"role": "system", "content": "Be brief. Use your tools."}


def tool(name: str, description: str, argument: str) -> dict[str, Any]:
    """A tool with one argument, as the model is told of it."""
    given = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    function = {"name": name, "description": description, "parameters": given}
    return {"type": "function", "function": function}


TOOLS = [
    tool("calculator", "Work out an expression such as 12*7.", "expression"),
    tool("clock", "Tell the time in a city.", "city"),
]


def call(name: str, arguments: dict[str, str]) -> str:
    """What a call comes to; the model reads a failure, and goes on."""
    try:
        match name:
            case "calculator":
                return calculate(arguments["expression"])
            case "clock":
                return tell_time(arguments["city"])
            case _:
                return f"no tool is called {name}"
    except ZeroDivisionError as error:
        return f"calculator: {error}"


class AgentFlow(Flow[CopilotKitState]):
    @start()
    async def chat(self) -> None:
        while True:
            messages = [INSTRUCTIONS, *self.state.messages]
            asked = await acompletion(model=MODEL, messages=messages, tools=TOOLS, stream=True)
            answer = (await copilotkit_stream(asked)).choices[0].message
            self.state.messages.append(answer.model_dump())
            if not answer.tool_calls:
                return
            for each in answer.tool_calls:
                result = call(each.function.name, json.loads(each.function.arguments))
                told = {"role": "tool", "tool_call_id": each.id, "content": result}
                self.state.messages.append(told)
                await copilotkit_emit_tool_result(tool_call_id=each.id, content=result)


app = FastAPI()
add_crewai_flow_fastapi_endpoint(app, AgentFlow(), "/")
