"""An event loop for tools alone, in a thread of its own.

A tool that never yields stops this loop, and with it other tools, but no socket, no stream and no
stop of any session. Plain functions run in threads of their own, so that they stop nobody.

All threads are daemons: a tool that never ends does not keep the process.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

THREADS: Final = 32
"""Most plain functions that run at once. More wait."""
STOPPING_S: Final = 1.0


class ToolRun:
    """One run, as the event loop that started it sees it."""

    def __init__(self) -> None:
        self._here = asyncio.get_running_loop()
        self.done: asyncio.Future[Any] = self._here.create_future()
        """What the tool returned or raised; cancelled if it was cancelled."""
        self._task: asyncio.Task[Any] | None = None
        self._canceled = False

    @property
    def is_canceled(self) -> bool:
        """Whether nobody wants it any more."""
        return self._canceled

    def cancel(self) -> None:
        """Ask the tool to end. A plain function does not hear of it."""
        self._canceled = True
        if self._task is not None:
            with suppress(RuntimeError):  # its loop is closed: it runs no longer
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)

    def begin(self, loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> None:
        """Begin, in the thread of the tools."""
        self._task = loop.create_task(_called(call))
        self._task.add_done_callback(self._tell)
        if self._canceled:
            self._task.cancel()

    def _tell(self, task: asyncio.Task[Any]) -> None:
        with suppress(RuntimeError):  # nobody is there any more
            self._here.call_soon_threadsafe(self._settle, task)

    def _settle(self, task: asyncio.Task[Any]) -> None:
        if self.done.done():
            return
        if task.cancelled():
            self.done.cancel()
        elif (error := task.exception()) is not None:
            self.done.set_exception(error)
            self.done.exception()  # perhaps nobody waits any more
        else:
            self.done.set_result(task.result())


class ToolThread:
    """Starts with its first tool."""

    def __init__(self, threads: int = THREADS) -> None:
        self._slots = threading.BoundedSemaphore(threads)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self, call: Callable[[], Any]) -> ToolRun:
        """Call a function of a tool, and await what it returns, if that is awaitable."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_run, args=(self._loop,), name="turnwire-tools", daemon=True
            )
            self._thread.start()
        run = ToolRun()
        self._loop.call_soon_threadsafe(run.begin, self._loop, self._with_a_slot(run, call))
        return run

    def close(self) -> None:
        """Cancel what runs, and end the thread. Wait for a second at most."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOPPING_S)
        self._loop = self._thread = None

    def _with_a_slot(self, run: ToolRun, call: Callable[[], Any]) -> Callable[[], Any]:
        def called() -> Any:
            with self._slots:
                # It may have been stopped while it waited: then it does nothing.
                return None if run.is_canceled else call()

        return called


async def _called(call: Callable[[], Any]) -> Any:
    result = await _in_a_thread(call)
    return await result if inspect.isawaitable(result) else result


def _in_a_thread(call: Callable[[], Any]) -> "asyncio.Future[Any]":
    """Call a function that may take long, or for ever."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def end(result: Any, error: BaseException | None) -> None:
        if outcome.cancelled():
            if inspect.iscoroutine(result):
                result.close()  # it was never begun
        elif error is None:
            outcome.set_result(result)
        else:
            outcome.set_exception(error)

    def run() -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = context.run(call)
        except StopIteration:
            error = RuntimeError("a tool raised StopIteration")  # no future takes that
        except BaseException as raised:  # noqa: BLE001 - who started it has it
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(end, result, error)

    threading.Thread(target=run, name="turnwire-tool", daemon=True).start()
    return outcome


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        # asyncio lets these two out of the loop. A tool that calls `sys.exit` ends itself alone.
        while True:
            with suppress(KeyboardInterrupt, SystemExit):
                loop.run_forever()
                return
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
