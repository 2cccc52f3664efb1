"""One worker process of `turnwire serve --workers N`, and its handle in the supervisor.

A pipe between the two carries the metrics. When the pipe closes, the worker knows that its
supervisor is gone, and ends.
"""

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from turnwire.cli.logs import configure_logs, end_by_signal
from turnwire.cli.serving import log, new_gateway
from turnwire.config.settings import Settings

SCRAPE_S: Final = 2.0
"""Longest wait for the metrics of all workers, in seconds. Prometheus itself waits ten."""

# A spawned process shares no lock and no thread with its supervisor.
_processes = multiprocessing.get_context("spawn")


class Worker:
    """The supervisor's handle of a running worker, which accepts connections on `sock`."""

    def __init__(self, number: int, settings: Settings, sock: socket.socket) -> None:
        self._pipe_lock = threading.Lock()
        self._is_answer_due = False
        """Whether the worker owes an answer. If so, it is not asked again, so that the pipe of a
        worker that hangs does not fill up."""
        self._pipe, worker_pipe = _processes.Pipe()
        self._process = _processes.Process(
            target=_run, args=(settings, sock, worker_pipe), name=f"turnwire-worker-{number}"
        )
        # Ctrl-C in a terminal also signals a worker that is still loading: block it until `_run`.
        resource_tracker.ensure_running()  # else `start` does this, and unblocks SIGINT
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        worker_pipe.close()

    @property
    def sentinel(self) -> int:
        """Becomes readable when the worker ends."""
        return self._process.sentinel

    @property
    def exit_code(self) -> int | None:
        return self._process.exitcode

    def signal(self, number: int) -> None:
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def ask(self) -> None:
        """Ask the worker for its metrics. `metrics` reads the answer."""
        with suppress(EOFError, OSError), self._pipe_lock:
            if self._pipe.poll():  # a late answer to an earlier scrape
                self._pipe.recv()
                self._is_answer_due = False
            if not self._is_answer_due:
                self._pipe.send_bytes(b"metrics")
                self._is_answer_due = True

    def metrics(self, within_s: float) -> list[Metric]:
        """Return the metrics; an empty list if the worker starts, ends or hangs."""
        try:
            with self._pipe_lock:
                if not self._pipe.poll(within_s):
                    return []
                answer: list[Metric] = self._pipe.recv()
                self._is_answer_due = False
        except (EOFError, OSError):
            return []
        return answer

    def close(self) -> None:
        """Release the resources of a worker that has ended."""
        with self._pipe_lock:  # else a running scrape may read a reused descriptor
            self._pipe.close()
        self._process.close()


class WorkersMetrics(Collector):
    """The metrics of all workers in one scrape; the label `worker` distinguishes them."""

    def __init__(self, workers: Mapping[int, Worker]) -> None:
        self._workers = workers
        self._collect_lock = threading.Lock()

    def collect(self) -> Iterable[Metric]:
        # Two scrapes at once would take each other's answers.
        if not self._collect_lock.acquire(timeout=SCRAPE_S):
            return []
        try:
            return self._collected(list(self._workers.items()))
        finally:
            self._collect_lock.release()

    def _collected(self, workers: Sequence[tuple[int, Worker]]) -> Iterable[Metric]:
        until = time.monotonic() + SCRAPE_S
        for _, worker in workers:  # ask all first: workers that hang share the time limit
            worker.ask()
        families: dict[str, Metric] = {}
        for number, worker in workers:
            for family in worker.metrics(max(0.0, until - time.monotonic())):
                whole = families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                whole.samples += [
                    sample._replace(labels={**sample.labels, "worker": str(number)})
                    for sample in family.samples
                ]
        return families.values()


def _run(settings: Settings, sock: socket.socket, pipe: Connection) -> None:
    """The main function of the worker process."""
    os.setpgrp()  # else Ctrl-C would come twice: the supervisor passes it on
    configure_logs(settings.log_format, settings.log_level)
    signal.signal(signal.SIGTERM, end_by_signal)
    server, registry = new_gateway(settings)
    threading.Thread(target=_answer, args=(pipe, registry), daemon=True).start()
    with suppress(KeyboardInterrupt):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        server.run(sockets=[sock])


def _answer(pipe: Connection, registry: CollectorRegistry) -> None:
    """Answer requests for metrics. When the pipe closes, end the process by SIGTERM."""
    try:
        while True:
            pipe.recv_bytes()
            pipe.send(_collected(registry))
    except (EOFError, OSError):  # no supervisor is left to stop this worker
        os.kill(os.getpid(), signal.SIGTERM)


def _collected(registry: CollectorRegistry) -> list[Metric]:
    """All metrics; an empty list if a gauge raises: the thread must go on to watch the pipe."""
    try:
        return list(registry.collect())
    except Exception:  # noqa: BLE001 (any function that a gauge reads)
        log.exception("metrics cannot be collected")
        return []
