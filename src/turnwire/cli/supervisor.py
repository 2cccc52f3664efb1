"""`turnwire serve --workers N`: worker processes that share a port, restarted when they die.

Each worker has a listening socket of its own on the one port, and the kernel distributes the
connections among the sockets. So the streams of one session may be in several workers. The
supervisor owns the sockets: connections to a worker that died wait there for the next one.

The first socket is opened without `SO_REUSEPORT`. Else a second gateway on a port that is in use
would not fail, but get a part of the connections.
"""

import signal
import socket
import time
from contextlib import ExitStack
from multiprocessing.connection import wait
from types import FrameType
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge

from turnwire.cli.logs import end_by_signal
from turnwire.cli.serving import announce, log, open_port, serve_metrics
from turnwire.cli.worker import Worker, WorkersMetrics
from turnwire.config.settings import Settings

PAUSE_S: Final = 1.0
"""Least seconds between two starts of a worker: one that cannot start must not use a whole core."""


def serve(settings: Settings, count: int) -> int:
    """Run `count` workers until SIGTERM or SIGINT. Returns the exit code.

    Raises:
        CannotListenError: the process cannot listen on a port.

    """
    if settings.sessions == "together":
        log.warning("TURNWIRE_SESSIONS=together is not so with several workers: taken for apart")
    settings = msgspec.structs.replace(settings, sessions="apart")
    with ExitStack() as stack:
        first = stack.enter_context(open_port(settings, settings.port))
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # now its workers may share it
        port = first.getsockname()[1]
        more = [
            stack.enter_context(open_port(settings, port, shared=True)) for _ in range(count - 1)
        ]
        registry = CollectorRegistry()
        supervisor = _Supervisor(settings, [first, *more], registry)
        serve_metrics(settings, registry)
        announce(settings, first, count)
        signal_number = supervisor.run()
    if signal_number == signal.SIGTERM:  # end like a single process: by the signal
        end_by_signal(signal_number)
    return 0


class _Supervisor:
    """Starts the workers, passes signals on to them, and replaces those that die."""

    def __init__(
        self, settings: Settings, sockets: list[socket.socket], registry: CollectorRegistry
    ) -> None:
        self._settings = settings
        self._sockets = sockets
        self._stop_signal: int | None = None
        """The first SIGTERM or SIGINT. None: keep running."""
        self._starts: dict[int, float] = {}
        """By the number of a worker: when it was last started, in monotonic seconds."""
        self._workers: dict[int, Worker] = {}
        self._restarts = Counter(
            "turnwire_worker_restarts", "Workers that died and were replaced.", registry=registry
        )
        up = Gauge("turnwire_workers", "Workers that run.", registry=registry)
        up.set_function(lambda: len(self._workers))
        registry.register(WorkersMetrics(self._workers))

    def run(self) -> int:
        """Keep the workers running until a signal stops them. Returns that signal."""
        # A signal must end `wait` below, also a signal that comes just before `wait`.
        receiver, sender = socket.socketpair()
        with receiver, sender:
            receiver.setblocking(False)  # noqa: FBT003 (the library's signature)
            sender.setblocking(False)  # noqa: FBT003
            signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
            try:
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, self._on_signal)
                while self._stop_signal is None or self._workers:
                    self._start_missing()
                    wait([receiver, *(w.sentinel for w in self._workers.values())], self._wait_s())
                    _drain(receiver)
                    self._remove_dead()
            finally:
                signal.set_wakeup_fd(-1)
        return self._stop_signal

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        """Remember the first signal, and pass each one on to the workers."""
        self._stop_signal = self._stop_signal or number
        for worker in list(self._workers.values()):
            worker.signal(number)

    def _start_missing(self) -> None:
        for number, sock in enumerate(self._sockets):
            if self._stop_signal is None and number not in self._workers and self._is_due(number):
                self._starts[number] = time.monotonic()
                self._workers[number] = Worker(number, self._settings, sock)
                if self._stop_signal is not None:  # the signal came while the worker started
                    self._workers[number].signal(self._stop_signal)
        if self._stop_signal is not None:
            for sock in self._sockets:  # else the kernel still assigns connections to them
                sock.close()

    def _is_due(self, number: int) -> bool:
        started = self._starts.get(number)
        return started is None or time.monotonic() - started >= PAUSE_S

    def _wait_s(self) -> float | None:
        """How long to wait before missing workers are checked again; None: no worker is missing."""
        is_missing = self._stop_signal is None and len(self._workers) < len(self._sockets)
        return PAUSE_S / 4 if is_missing else None

    def _remove_dead(self) -> None:
        """Forget the workers that have ended; `_start_missing` replaces them."""
        for number, worker in list(self._workers.items()):
            code = worker.exit_code
            if code is None:
                continue
            del self._workers[number]
            worker.close()
            if self._stop_signal is None:
                self._restarts.inc()
                log.error("worker died", worker=number, exit_code=code)


def _drain(receiver: socket.socket) -> None:
    """Discard the bytes that signals have written."""
    try:
        while receiver.recv(64):
            pass
    except BlockingIOError:
        pass
