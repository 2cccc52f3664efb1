"""Standard error, for those who may not wait until somebody reads it.

A pipe whose reader has stopped takes 64 KiB, and then a write waits: the event loop, and all
streams with it. So what does not fit at once is kept, and a thread that is there only as long
writes it when it fits. What is more than is kept is lost, and then the log says how much.
"""

import os
import select
import stat
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Final

KEPT_BYTES_MAX: Final = 1_048_576

_WHOLE_BYTES: Final = select.PIPE_BUF
"""A pipe that takes anything takes so much at once."""

_LOOK_S: Final = 0.01


class Sink:
    """What `logging` takes for a file. A write never waits, and never raises.

    `lost` is told how many writes were lost, when others fit again.
    """

    def __init__(self, descriptor: int, lost: Callable[[int], object]) -> None:
        self._descriptor = descriptor
        self._tell_lost = lost
        self._takes_or_refuses = stat.S_ISREG(os.fstat(descriptor).st_mode)
        """Whether a write of any length comes back at once."""
        if not self._takes_or_refuses:
            self._open_anew()
        self._room = self._new_poll()
        # The collector may come amid a write, and what it ends may have something to log.
        self._lock = threading.RLock()
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._lost = 0
        self._is_late = False
        """Whether a thread writes, which all that comes now has to go behind."""

    def write(self, text: str) -> int:
        data = text.encode("utf-8", "backslashreplace")
        with self._lock:
            lost, is_next = self._lost, not self._is_late and not self._kept
            if is_next and self._is_room_for(data):
                data = self._put(data)
            if data:
                self._keep(data)
            begins = bool(self._kept) and not self._is_late
            if begins:
                self._is_late = True
        # Without the lock: the new thread, too, may log before this one hears that it runs.
        if begins:
            self._begin()
        elif is_next and 0 < lost == self._lost:
            self._own_up()
        return len(text)

    def flush(self) -> None:
        """Nothing is kept that could be written."""

    def drain(self, within_s: float) -> None:
        """Wait until what is kept is written: the process ends."""
        until = time.monotonic() + within_s
        while self._is_late and time.monotonic() < until:
            time.sleep(_LOOK_S)

    def _open_anew(self) -> None:
        """Have a description of our own of the same file, whose writes do not wait.

        The one that we were given is shared with processes that expect theirs to wait. A socket,
        or a file of another user's, can only be asked whether there is room.
        """
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
        try:
            own = os.open(f"/proc/self/fd/{self._descriptor}", flags)
        except OSError:
            return
        self._descriptor, self._takes_or_refuses = own, True
        weakref.finalize(self, os.close, own).atexit = False  # others that end may log after us

    def _new_poll(self) -> select.poll:
        room = select.poll()
        room.register(self._descriptor, select.POLLOUT)
        return room

    def _is_room_for(self, data: bytes) -> bool:
        # Where nobody reads any more there is room too, and the write says so.
        return self._takes_or_refuses or (len(data) <= _WHOLE_BYTES and bool(self._room.poll(0)))

    def _keep(self, data: bytes) -> None:
        if self._kept_bytes + len(data) > KEPT_BYTES_MAX:
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
        except OSError:  # a full disk, or nobody can read it any more
            self._lost += 1
            return b""

    def _begin(self) -> None:
        try:
            threading.Thread(target=self._catch_up, name="late-log", daemon=True).start()
        except RuntimeError:  # there is none to be had
            with self._lock:
                self._lost += len(self._kept)
                self._kept.clear()
                self._kept_bytes, self._is_late = 0, False

    def _catch_up(self) -> None:
        room = self._new_poll()  # two threads may not ask one
        has_owned_up = False
        while data := self._next():
            while data:
                room.poll()
                data = self._put(data)
            if self._lost and not self._kept and not has_owned_up:
                has_owned_up = True  # once: a full disk would lose that line too
                self._own_up()

    def _next(self) -> bytes:
        with self._lock:
            if not self._kept:
                self._is_late = False
                return b""
            data = self._kept.popleft()
            self._kept_bytes -= len(data)
            return data

    def _own_up(self) -> None:
        with self._lock:
            lost, self._lost = self._lost, 0
        if lost:
            self._tell_lost(lost)
        with self._lock:
            if self._lost:  # that line, it may be: rather told again than never
                self._lost += lost
