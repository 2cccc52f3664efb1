"""Ctrl-C during a turn: stops the turn, but never in the middle of a line on the screen.

Python raises KeyboardInterrupt wherever the program happens to be. Inside a print that would leave
half a line, and nobody would know which half, so there it waits until the print is done. Inside a
finalizer Python would throw it away, so it is raised again until the turn is left.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from turnwire_lab.chat.wire import Chunk

AGAIN_S: Final = 0.3


@contextmanager
def stoppable(show: Callable[[Chunk], None]) -> Iterator[Callable[[Chunk], None]]:
    """The same `show`, during which Ctrl-C waits."""
    showing = wanted = False

    def insisted(number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
        heard(number, frame)

    def heard(_number: int, _frame: FrameType | None) -> None:
        nonlocal wanted
        if not showing:
            raise KeyboardInterrupt
        wanted = True

    def shown(chunk: Chunk) -> None:
        nonlocal showing
        showing = True
        show(chunk)
        showing = False
        if wanted:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, insisted)
    before_alarm = signal.signal(signal.SIGALRM, insisted)
    try:
        yield shown
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before_alarm)
        signal.signal(signal.SIGINT, before)
