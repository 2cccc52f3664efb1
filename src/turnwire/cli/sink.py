"""Standard error, for those who may not wait until somebody reads it.

A pipe whose reader has stopped takes 64 KiB, and then a write waits: the event loop, and all
streams with it. So what does not fit at once is kept, and a thread that is there only as long
writes it when it fits. What is more than is kept is lost, and then the log says how much.
"""

import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

KEPT_BYTES_MAX: Final = 1_048_576

_WHOLE_BYTES: Final = select.PIPE_BUF
"""A pipe that takes anything takes so much at once."""


class Sink:
    """What `logging` takes for a file. A write never waits, and never raises.

    `lost` is told how many writes were lost, when others fit again.
    """

    def __init__(self, descriptor: int, lost: Callable[[int], object]) -> None:
        self._descriptor = descriptor
        self._tell_lost = lost
        self._room = select.poll()
        self._room.register(descriptor, select.POLLOUT)
        self._lock = threading.Lock()
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._lost = 0
        self._is_late = False
        """Whether a thread writes, which all that comes now has to go behind."""

    def write(self, text: str) -> int:
        data = text.encode("utf-8", "backslashreplace")
        with self._lock:
            if not self._is_late:
                # Where nobody reads any more there is room too, and the write says so.
                if len(data) <= _WHOLE_BYTES and self._room.poll(0):
                    data = self._put(data)
                if data:
                    self._is_late = self._begin()
            if data:
                self._keep(data)
        return len(text)

    def flush(self) -> None:
        """Nothing is kept that could be written."""

    def _keep(self, data: bytes) -> None:
        if not self._is_late or self._kept_bytes + len(data) > KEPT_BYTES_MAX:
            self._lost += 1
        else:
            self._kept.append(data)
            self._kept_bytes += len(data)

    def _put(self, data: bytes) -> bytes:
        """Write. Returns what did not fit."""
        try:
            return data[os.write(self._descriptor, data) :]
        except BlockingIOError:
            return data
        except OSError:  # nobody can read it
            return b""

    def _begin(self) -> bool:
        try:
            threading.Thread(target=self._catch_up, name="late-log", daemon=True).start()
        except RuntimeError:  # there is none to be had
            return False
        return True

    def _catch_up(self) -> None:
        room = select.poll()
        room.register(self._descriptor, select.POLLOUT)
        while data := self._next():
            while data:
                room.poll()
                data = self._put(data)
        with self._lock:
            lost, self._lost = self._lost, 0
        if lost:
            self._tell_lost(lost)

    def _next(self) -> bytes:
        with self._lock:
            if not self._kept:
                self._is_late = False
                return b""
            data = self._kept.popleft()
            self._kept_bytes -= len(data)
            return data
