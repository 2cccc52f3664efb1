"""The LangGraph agent of examples/agents, which spells its interrupts in each way of its adapter.

It runs in the environment of that agent. The path of an endpoint names the spelling.
"""

import importlib
from typing import Any, Final

SPELLINGS: Final = {
    "event": {"emit_interrupt_outcome": False, "enable_legacy_on_interrupt_event": True},
    "outcome": {"emit_interrupt_outcome": True, "enable_legacy_on_interrupt_event": False},
    "both": {"emit_interrupt_outcome": True, "enable_legacy_on_interrupt_event": True},
}


def application() -> Any:
    """The ASGI application."""
    adapter: Any = importlib.import_module("ag_ui_langgraph")
    app = importlib.import_module("fastapi").FastAPI()
    graph = importlib.import_module("langgraph_agent").graph
    for name, options in SPELLINGS.items():
        agent = adapter.LangGraphAgent(name="agent", graph=graph, **options)
        adapter.add_langgraph_fastapi_endpoint(app, agent, f"/{name}")
    return app
