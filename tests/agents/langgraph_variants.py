"""The LangGraph agent of examples/agents, set up otherwise, each variant at a path of its own.

It runs in the environment of that agent. All are without the events of the framework. `/quiet` is
the example, `/shown` has the middleware of docs/frameworks.md. `/slow` and `/unsettled` have a
calculator that ends after its client has hung up; the latter is without `settle_calls`.
`/stateless` has no checkpointer. The others ask what `QUESTIONS` says.
"""

import asyncio
import importlib
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

CALLS_VARIABLE: Final = "CALLS_FOLDER"
"""Names the environment variable with the folder in which the slow calculators show their calls."""
ROUNDS: Final = 100
"""So often the event loop goes round before a call ends whose client hung up: a few rounds pass
until all of its run is canceled."""
QUESTIONS: Final[dict[str, Any]] = {
    "asks-in-words": "Pay?",
    "asks-by-call": {"message": "Pay?", "toolCallId": "call_1", "options": ["yes", "no"]},
    "asks-for-approval": {"message": "Pay?", "reason": "tool_call"},
}
"""What a tool gives to `interrupt`, by the path."""
FRAMEWORKS: Final = Path(__file__).parents[2] / "docs" / "frameworks.md"
MIDDLEWARE: Final = re.compile(r"<!-- middleware -->\n```python\n(.*?)```", re.DOTALL)


def application() -> Any:
    """The ASGI application."""
    adapter: Any = importlib.import_module("ag_ui_langgraph")
    app = importlib.import_module("fastapi").FastAPI()
    example: Any = importlib.import_module("langgraph_agent")
    slow, unsettled = SlowCalculator("slow"), SlowCalculator("unsettled")
    graphs = {
        "slow": _graph(example, [slow.tool()], [example.settle_calls]),
        "unsettled": _graph(example, [unsettled.tool()], []),
        "quiet": example.graph,
        "shown": _graph(example, [example.calculator, example.delete_file], [documented()]),
        "stateless": example.create_agent(example.OfflineChatModel(), tools=[]),
    }
    graphs |= {
        name: _graph(example, [_asking_tool(example, value)], [])
        for name, value in QUESTIONS.items()
    }
    for name, graph in graphs.items():
        agent = adapter.LangGraphAgent(
            name="agent", graph=graph, emit_interrupt_outcome=True, emit_raw_events=False
        )
        adapter.add_langgraph_fastapi_endpoint(app, agent, f"/{name}")
    return _watched(app, {"/slow": slow.hung_up, "/unsettled": unsettled.hung_up})


def _graph(example: Any, tools: list[Any], middleware: list[Any]) -> Any:
    return example.create_agent(
        example.OfflineChatModel(),
        tools=tools,
        middleware=middleware,
        checkpointer=example.InMemorySaver(),
    )


def _asking_tool(example: Any, question: Any) -> Any:
    """A tool whose result is what `interrupt` returned."""

    def delete_file(path: str) -> str:
        """Delete a file."""
        return f"{path}: {example.interrupt(question)}"

    return example.tool(delete_file)


def _watched(app: Any, hung_up: dict[str, asyncio.Event]) -> Any:
    """The same application, which sets the event of a path when a client of that path hangs up."""

    async def watched(scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        async def next_message() -> Any:
            message = await receive()
            if message["type"] == "http.disconnect" and scope["path"] in hung_up:
                hung_up[scope["path"]].set()
            return message

        await app(scope, next_message, send)

    return watched


class SlowCalculator:
    """A tool that goes to its end after its client has hung up.

    Its file is in the folder from the beginning of a call to its end, and stays if the tool is
    canceled.
    """

    def __init__(self, name: str) -> None:
        self.hung_up = asyncio.Event()
        self._running = Path(os.environ[CALLS_VARIABLE], name)

    def tool(self) -> Any:
        async def calculator(expression: str) -> str:
            """Work out an expression, slowly."""
            self._running.touch()
            await self.hung_up.wait()
            for _ in range(ROUNDS):
                await asyncio.sleep(0)
            self._running.unlink()
            return f"{expression} is worked out"

        return importlib.import_module("langchain_core.tools").tool(calculator)


def documented() -> Any:
    """The middleware of the page, as it stands there."""
    found = MIDDLEWARE.search(FRAMEWORKS.read_text(encoding="utf-8"))
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)  # noqa: S102 (a page of this tree)
    return names["show_inputs"]
