"""The LangGraph agent of examples/agents, set up otherwise, each variant at a path of its own.

It runs in the environment of that agent. All are without the events of the
framework. `/quiet` is the example, `/shown` has the middleware of docs/frameworks.md. `/slow` and
`/unsettled` have a calculator that takes a while; the latter is without `settle_calls`.
"""

import asyncio
import importlib
import re
from pathlib import Path
from typing import Any, Final

SLOW_S: Final = 1.0
"""How long the calculator of `/slow` takes."""
FRAMEWORKS: Final = Path(__file__).parents[2] / "docs" / "frameworks.md"
MIDDLEWARE: Final = re.compile(r"<!-- middleware -->\n```python\n(.*?)```", re.DOTALL)


def application() -> Any:
    """The ASGI application."""
    adapter: Any = importlib.import_module("ag_ui_langgraph")
    app = importlib.import_module("fastapi").FastAPI()
    example: Any = importlib.import_module("langgraph_agent")
    graphs = {
        "slow": _graph(example, [slow_calculator()], [example.settle_calls]),
        "unsettled": _graph(example, [slow_calculator()], []),
        "quiet": example.graph,
        "shown": _graph(example, [example.calculator, example.delete_file], [documented()]),
    }
    for name, graph in graphs.items():
        agent = adapter.LangGraphAgent(
            name="agent", graph=graph, emit_interrupt_outcome=True, emit_raw_events=False
        )
        adapter.add_langgraph_fastapi_endpoint(app, agent, f"/{name}")
    return app


def _graph(example: Any, tools: list[Any], middleware: list[Any]) -> Any:
    return example.create_agent(
        example.OfflineChatModel(),
        tools=tools,
        middleware=middleware,
        checkpointer=example.InMemorySaver(),
    )


def slow_calculator() -> Any:
    async def calculator(expression: str) -> str:
        """Work out an expression, slowly."""
        await asyncio.sleep(SLOW_S)
        return f"{expression} is worked out"

    return importlib.import_module("langchain_core.tools").tool(calculator)


def documented() -> Any:
    """The middleware of the page, as it stands there."""
    found = MIDDLEWARE.search(FRAMEWORKS.read_text(encoding="utf-8"))
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)  # noqa: S102 (a page of this tree)
    return names["show_inputs"]
