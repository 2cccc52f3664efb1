"""A LangGraph agent whose approvals are those of LangChain's `HumanInTheLoopMiddleware`.

It runs in the environment of the agent of examples/agents. The path of an endpoint names how the
adapter spells interrupts (`spelled_langgraph`), or what is special about the middleware.
"""

import importlib
from typing import Any, Final

from agents.spelled_langgraph import SPELLINGS

PER_CALL: Final = "per_call"
"""The endpoint whose middleware asks about each call by an interrupt of its own."""

CHANGING: Final = "changing"
"""The endpoint whose users change a call, or answer in the place of its tool."""


def application() -> Any:
    """The ASGI application."""
    adapter: Any = importlib.import_module("ag_ui_langgraph")
    app = importlib.import_module("fastapi").FastAPI()
    variants: dict[str, Any] = {
        name: ("batched", True, options) for name, options in SPELLINGS.items()
    }
    variants[PER_CALL] = ("per_call", True, SPELLINGS["both"])
    changing = {"allowed_decisions": ["edit", "respond"]}
    variants[CHANGING] = ("batched", changing, SPELLINGS["both"])
    for name, (mode, decisions, options) in variants.items():
        agent = adapter.LangGraphAgent(name="agent", graph=_graph(mode, decisions), **options)
        adapter.add_langgraph_fastapi_endpoint(app, agent, f"/{name}")
    return app


def _graph(mode: str, decisions: Any) -> Any:
    example: Any = importlib.import_module("langgraph_agent")
    middleware: Any = importlib.import_module("langchain.agents.middleware")
    delete: Any = importlib.import_module("offline.tools").delete

    async def delete_file(path: str) -> str:
        """Delete a file."""
        return str(delete(path))

    return example.create_agent(
        example.OfflineChatModel(),
        tools=[example.calculator, example.tool(delete_file)],
        middleware=[
            middleware.HumanInTheLoopMiddleware(
                interrupt_on={"delete_file": decisions}, interrupt_mode=mode
            )
        ],
        checkpointer=example.InMemorySaver(),
    )
