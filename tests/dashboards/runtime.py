"""An agent runtime as a process of its own, over a model that is scripted."""

from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from runtime.cli.serve_process import serving
from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends
from runtime.llm.streams import sse
from turnwire_lab.process import free_port

LOST: Final = sends(STREAM_HEAD + sse(chunk(content="One ")))
WHOLE: Final = sends(
    STREAM_HEAD + sse(chunk(content="One "), chunk(content="two."), chunk("stop"), "[DONE]")
)


class Runtime:
    """`async with Runtime(folder) as runtime:` publishes its metrics on `runtime.metrics_port`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = AsyncExitStack()
        self.metrics_port = free_port()

    async def turns(self) -> None:
        """A turn whose first answer is lost, and one that all goes well in."""
        for number in range(2):
            async with self._served.socket(f"s{number}") as socket:
                await socket.turn("Hi")

    async def __aenter__(self) -> Self:
        model = await self._stack.enter_async_context(ScriptedServer([LOST, WHOLE]))
        arguments = (
            *("--model", "local:tiny", "--shape", "chat", "--base-url", model.url),
            *("--journal", "memory", "--metrics", f"127.0.0.1:{self.metrics_port}"),
        )
        self._served = await self._stack.enter_async_context(
            serving(*arguments, folder=self._folder)
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()
