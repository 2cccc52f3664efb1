"""An event loop for tools alone, in a thread of its own.

A tool that never yields stops this loop, and with it other tools, but no socket, no stream and no
stop of any session. Plain functions run in threads of their own, so that they stop nobody.

All threads are daemons: a tool that never ends does not keep the process.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

THREADS: Final = 32
"""Most plain functions that run at once. More wait."""
LEFT_BEHIND_MAX: Final = 256
"""Most plain functions that were stopped and still run. Beyond that, each keeps its slot."""
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

    def begin(
        self, loop: asyncio.AbstractEventLoop, called: Callable[[], Coroutine[Any, Any, Any]]
    ) -> None:
        """Begin, in the thread of the tools."""
        self._task = loop.create_task(called())
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


class _Slot:
    """What a plain function has while it runs. Only so many have one."""

    def __init__(self, tools: "ToolThread") -> None:
        self._tools = tools
        self._loop = asyncio.get_running_loop()
        self.is_given_up = False

    def give_up_soon(self) -> None:
        """Let another function run: this one waits. In whatever thread."""
        with suppress(RuntimeError):  # the loop is closed: no other function runs
            self._loop.call_soon_threadsafe(self._give_up)

    def _give_up(self) -> None:
        if not self.is_given_up:
            self.is_given_up = self._tools.take_slot_back()


_SLOT: Final[contextvars.ContextVar[_Slot]] = contextvars.ContextVar("slot")


def give_slot_up() -> None:
    """Say that the plain function which runs here waits for a person from now on."""
    with suppress(LookupError):  # it runs somewhere else
        _SLOT.get().give_up_soon()


class ToolThread:
    """Starts with its first tool."""

    def __init__(self, threads: int = THREADS) -> None:
        self._slots = asyncio.Semaphore(threads)
        self._left_behind = 0
        """Functions without a slot: they were stopped and still run, or they wait for a person."""
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
        self._loop.call_soon_threadsafe(run.begin, self._loop, lambda: self._called(call))
        return run

    def close(self) -> None:
        """Cancel what runs, and end the thread. Wait for a second at most."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOPPING_S)
        self._loop = self._thread = None

    async def _called(self, call: Callable[[], Any]) -> Any:
        result = await self._in_its_slot(call)
        return await result if inspect.isawaitable(result) else result

    async def _in_its_slot(self, call: Callable[[], Any]) -> Any:
        """Call a function while it has a slot.

        One that is stopped gives its slot up, though it may run on: functions that never end do not
        keep all others from running.
        """
        await self._slots.acquire()
        slot = _Slot(self)
        _SLOT.set(slot)
        running = _in_a_thread(call)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            running.add_done_callback(_drop)
            raise
        finally:
            if slot.is_given_up or (not running.done() and self.take_slot_back()):
                running.add_done_callback(self._came_back)
            else:
                running.add_done_callback(lambda _: self._slots.release())
            slot.is_given_up = True

    def take_slot_back(self) -> bool:
        """Take its slot from a function that runs on, if not too many run without one."""
        if self._left_behind >= LEFT_BEHIND_MAX:
            return False
        self._left_behind += 1
        self._slots.release()
        return True

    def _came_back(self, _: "asyncio.Future[Any]") -> None:
        self._left_behind -= 1


def _drop(ended: "asyncio.Future[Any]") -> None:
    """Take what a stopped function came to, for nobody."""
    if not ended.cancelled() and ended.exception() is None and inspect.iscoroutine(ended.result()):
        ended.result().close()  # it was never begun


def _in_a_thread(call: Callable[[], Any]) -> "asyncio.Future[Any]":
    """Call a function that may take long, or for ever."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def end(result: Any, error: BaseException | None) -> None:
        if error is None:
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
