"""An example agent that prints a line for each piece that its model says.

    python tests/agents/counted.py pydantic_ai_agent PORT     in the folder examples/agents

It runs in the environment of the framework, and knows nothing of the tests.
"""

import importlib
import sys
from collections.abc import AsyncIterator
from typing import Any


def main(name: str, port: int) -> None:
    sys.path.insert(0, "")
    script = importlib.import_module("offline.script")
    spoken = script.answer

    async def counted(*about: Any) -> AsyncIterator[Any]:
        async for piece in spoken(*about):
            print("piece", flush=True)  # noqa: T201 (whoever started this reads it)
            yield piece

    script.answer = counted  # type: ignore[attr-defined]
    uvicorn = importlib.import_module("uvicorn")
    uvicorn.run(importlib.import_module(name).app, port=port, log_level="error")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
