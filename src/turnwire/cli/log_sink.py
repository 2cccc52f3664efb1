"""A log file whose writes never block, for standard error.

A pipe whose reader has stopped takes 64 KiB; then a write blocks, and with it the event loop and
all streams. So the `Sink` keeps text that cannot be written at once, up to `KEPT_BYTES_MAX`. A
thread writes it as soon as the file accepts it, and ends after that. Text above the limit is lost;
later the log says how many writes were lost.
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
"""Most bytes that wait to be written."""

_WHOLE_BYTES: Final = select.PIPE_BUF
"""A pipe that is ready for a write accepts at least so many bytes at once."""

_POLL_S: Final = 0.01
"""Seconds between two checks in `Sink.drain`."""


class Sink:
    """A file for `logging`. A write never blocks, and never raises.

    `on_lost` is called with the number of lost writes, once the file accepts text again.
    """

    def __init__(self, descriptor: int, on_lost: Callable[[int], object]) -> None:
        self._descriptor = descriptor
        self._on_lost = on_lost
        self._is_nonblocking = stat.S_ISREG(os.fstat(descriptor).st_mode)
        """Whether a write of any length returns at once."""
        if not self._is_nonblocking:
            self._reopen_nonblocking()
        self._poll = self._new_poll()
        # Reentrant: the garbage collector may run during a write, and a finalizer may log.
        self._lock = threading.RLock()
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._lost = 0
        self._has_writer = False
        """Whether a thread writes kept text. New text must go behind that text."""

    def write(self, text: str) -> int:
        data = text.encode("utf-8", "backslashreplace")
        with self._lock:
            lost, is_first = self._lost, not self._has_writer and not self._kept
            if is_first and self._fits(data):
                data = self._write_now(data)
            if data:
                self._keep(data)
            starts_writer = bool(self._kept) and not self._has_writer
            if starts_writer:
                self._has_writer = True
        # Without the lock: the new thread may log before `Thread.start` returns here.
        if starts_writer:
            self._start_writer()
        elif is_first and 0 < lost == self._lost:
            self._report_lost()
        return len(text)

    def flush(self) -> None:
        """Do nothing: `write` keeps no text that could be written at once."""

    def drain(self, within_s: float) -> None:
        """Wait until the kept text is written, at most `within_s` seconds. Called at exit."""
        until = time.monotonic() + within_s
        while self._has_writer and time.monotonic() < until:
            time.sleep(_POLL_S)

    def _reopen_nonblocking(self) -> None:
        """Open the same file again in non-blocking mode.

        The original file description is shared with processes that expect blocking writes, so it
        must stay blocking. A socket, or a file of another user, cannot be reopened: for those,
        `_fits` polls before each write.
        """
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
        try:
            reopened = os.open(f"/proc/self/fd/{self._descriptor}", flags)
        except OSError:
            return
        self._descriptor, self._is_nonblocking = reopened, True
        weakref.finalize(self, os.close, reopened).atexit = False  # other finalizers may still log

    def _new_poll(self) -> select.poll:
        """A poll object that waits until the file accepts text."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        return poll

    def _fits(self, data: bytes) -> bool:
        """Whether a write of this text returns at once."""
        # A pipe without a reader also polls as writable; then the write fails.
        return self._is_nonblocking or (len(data) <= _WHOLE_BYTES and bool(self._poll.poll(0)))

    def _keep(self, data: bytes) -> None:
        if self._kept_bytes + len(data) > KEPT_BYTES_MAX:
            self._lost += 1
        else:
            self._kept.append(data)
            self._kept_bytes += len(data)

    def _write_now(self, data: bytes) -> bytes:
        """Write. Returns the rest that the file did not accept."""
        try:
            return data[os.write(self._descriptor, data) :]
        except BlockingIOError:
            return data
        except OSError:  # a full disk, or a pipe without a reader
            self._lost += 1
            return b""

    def _start_writer(self) -> None:
        try:
            threading.Thread(target=self._write_kept, name="late-log", daemon=True).start()
        except RuntimeError:  # the system has no thread left
            with self._lock:
                self._lost += len(self._kept)
                self._kept.clear()
                self._kept_bytes, self._has_writer = 0, False

    def _write_kept(self) -> None:
        """The thread: write the kept text, waiting for the file as long as necessary."""
        poll = self._new_poll()  # a poll object must not be used by two threads
        has_reported = False
        while data := self._next():
            while data:
                poll.poll()
                data = self._write_now(data)
            if self._lost and not self._kept and not has_reported:
                has_reported = True  # only once: a full disk would lose that line too
                self._report_lost()

    def _next(self) -> bytes:
        """Remove and return the oldest kept text; `b""` if there is none: the thread then ends."""
        with self._lock:
            if not self._kept:
                self._has_writer = False
                return b""
            data = self._kept.popleft()
            self._kept_bytes -= len(data)
            return data

    def _report_lost(self) -> None:
        """Call `on_lost` with the number of lost writes, and reset that number."""
        with self._lock:
            lost, self._lost = self._lost, 0
        if lost:
            self._on_lost(lost)
        with self._lock:
            if self._lost:  # perhaps the report itself was lost: report all again later
                self._lost += lost
