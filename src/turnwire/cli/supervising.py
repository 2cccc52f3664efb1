"""`turnwire serve --workers N`: processes that share a port, watched and started anew.

Each worker has a listening socket of its own on the one port, and the kernel deals connections
out among them. The sockets are the supervisor's: what comes in for a worker that died waits
there for the next one. So the streams of one session may be in several of them.

The first of them is opened as one that shares with nobody, or a second gateway on a port that
is taken would not fail but get its part of the connections.
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

from turnwire.cli.logs import end_by
from turnwire.cli.serving import announce, log, open_port, serve_metrics
from turnwire.cli.worker import Worker, WorkersMetrics
from turnwire.settings import Settings

PAUSE_S: Final = 1.0
"""Between two starts of a worker: one that cannot start must not take a whole core."""


def serve(settings: Settings, count: int) -> int:
    """Run so many gateways until told to stop. Returns the exit code.

    Raises:
        CannotListenError: a port is not to be had.

    """
    if settings.sessions == "together":
        log.warning("TURNWIRE_SESSIONS=together is not so with several workers: taken for apart")
    settings = msgspec.structs.replace(settings, sessions="apart")
    with ExitStack() as stack:
        first = stack.enter_context(open_port(settings, settings.port))
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # from here on, with ours
        port = first.getsockname()[1]
        more = [
            stack.enter_context(open_port(settings, port, shared=True)) for _ in range(count - 1)
        ]
        registry = CollectorRegistry()
        supervisor = _Supervisor(settings, [first, *more], registry)
        serve_metrics(settings, registry)
        announce(settings, first, count)
        told = supervisor.run()
    if told == signal.SIGTERM:  # as one process does: it has done what it was asked, and ends by it
        end_by(told)
    return 0


class _Supervisor:
    def __init__(
        self, settings: Settings, sockets: list[socket.socket], registry: CollectorRegistry
    ) -> None:
        self._settings = settings
        self._sockets = sockets
        self._told: int | None = None
        self._starts: dict[int, float] = {}
        """Of each worker, by its number: when it was last started."""
        self._workers: dict[int, Worker] = {}
        self._restarts = Counter(
            "turnwire_worker_restarts", "Workers that died and were replaced.", registry=registry
        )
        up = Gauge("turnwire_workers", "Workers that run.", registry=registry)
        up.set_function(lambda: len(self._workers))
        registry.register(WorkersMetrics(self._workers))

    def run(self) -> int:
        """Keep the workers running. Returns the signal that ended it."""
        # A signal must end the wait below, also one that comes just before it.
        ear, mouth = socket.socketpair()
        with ear, mouth:
            ear.setblocking(False)  # noqa: FBT003 (the library's signature)
            mouth.setblocking(False)  # noqa: FBT003
            signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
            try:
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, self._pass_on)
                while self._told is None or self._workers:
                    self._start_missing()
                    wait([ear, *(w.sentinel for w in self._workers.values())], self._patience())
                    _drain(ear)
                    self._bury()
            finally:
                signal.set_wakeup_fd(-1)
        return self._told

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        self._told = self._told or number
        for worker in list(self._workers.values()):
            worker.signal(number)

    def _start_missing(self) -> None:
        for number, sock in enumerate(self._sockets):
            if self._told is None and number not in self._workers and self._is_due(number):
                self._starts[number] = time.monotonic()
                self._workers[number] = Worker(number, self._settings, sock)
                if self._told is not None:  # told while it was started
                    self._workers[number].signal(self._told)
        if self._told is not None:
            for sock in self._sockets:  # or the kernel would go on to deal out to nobody
                sock.close()

    def _is_due(self, number: int) -> bool:
        started = self._starts.get(number)
        return started is None or time.monotonic() - started >= PAUSE_S

    def _patience(self) -> float | None:
        missing = self._told is None and len(self._workers) < len(self._sockets)
        return PAUSE_S / 4 if missing else None

    def _bury(self) -> None:
        for number, worker in list(self._workers.items()):
            code = worker.exit_code
            if code is None:
                continue
            del self._workers[number]
            worker.close()
            if self._told is None:
                self._restarts.inc()
                log.error("worker died", worker=number, exit_code=code)


def _drain(ear: socket.socket) -> None:
    try:
        while ear.recv(64):
            pass
    except BlockingIOError:
        pass
