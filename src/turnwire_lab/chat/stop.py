"""What Ctrl-C means: whoever waits for something says so, and it is undone with the waiting.

It arrives between two steps of the event loop, so never in the middle of a line on the screen.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CtrlC:
    """Takes Ctrl-C from the running loop, for as long as that runs."""

    def __init__(self) -> None:
        self._acts: list[Callable[[], object]] = [_leave]
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._pressed)

    @contextmanager
    def means(self, act: Callable[[], object]) -> Iterator[None]:
        """Do this when it is pressed, until the block is left."""
        self._acts.append(act)
        try:
            yield
        finally:
            self._acts.pop()

    def _pressed(self) -> None:
        self._acts[-1]()


def _leave() -> None:
    raise KeyboardInterrupt
