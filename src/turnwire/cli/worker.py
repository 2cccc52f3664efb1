"""One worker of `turnwire serve --workers N`, as its supervisor has it and from within.

The pipe between the two carries metrics; its end tells a worker that its supervisor is gone.
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

from turnwire.cli.logs import configure_logs, end_by
from turnwire.cli.serving import log, new_gateway
from turnwire.settings import Settings

SCRAPE_S: Final = 2.0
"""How long the metrics of all workers are waited for; Prometheus itself waits ten."""

# One that starts from scratch shares no lock and no thread with its supervisor.
_processes = multiprocessing.get_context("spawn")


class Worker:
    """A running worker, that accepts on `sock`."""

    def __init__(self, number: int, settings: Settings, sock: socket.socket) -> None:
        self._scraping = threading.Lock()
        self._is_asked = False
        """Whether it owes an answer: one that hangs is not asked again, or its pipe would fill."""
        self._pipe, theirs = _processes.Pipe()
        self._process = _processes.Process(
            target=_run, args=(settings, sock, theirs), name=f"turnwire-worker-{number}"
        )
        # Ctrl-C in a terminal goes to one that is just being loaded too: it hears of it later.
        resource_tracker.ensure_running()  # or `start` does it, and lets SIGINT in
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()

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
        """Have it say its metrics."""
        with suppress(EOFError, OSError), self._scraping:
            if self._pipe.poll():  # the answer to somebody who did not wait for it
                self._pipe.recv()
                self._is_asked = False
            if not self._is_asked:
                self._pipe.send_bytes(b"metrics")
                self._is_asked = True

    def metrics(self, within_s: float) -> list[Metric]:
        """What it said; nothing of one that starts, ends or hangs."""
        try:
            with self._scraping:
                if not self._pipe.poll(within_s):
                    return []
                found: list[Metric] = self._pipe.recv()
                self._is_asked = False
        except (EOFError, OSError):
            return []
        return found

    def close(self) -> None:
        """Let go of one that has ended."""
        with self._scraping:  # or a scrape under way might read what has its number next
            self._pipe.close()
        self._process.close()


class WorkersMetrics(Collector):
    """The metrics of all workers in one scrape, told apart by the label `worker`."""

    def __init__(self, workers: Mapping[int, Worker]) -> None:
        self._workers = workers
        self._collecting = threading.Lock()

    def collect(self) -> Iterable[Metric]:
        # Of two scrapes at once, one would take the other's answers.
        if not self._collecting.acquire(timeout=SCRAPE_S):
            return []
        try:
            return self._collected(list(self._workers.items()))
        finally:
            self._collecting.release()

    def _collected(self, workers: Sequence[tuple[int, Worker]]) -> Iterable[Metric]:
        until = time.monotonic() + SCRAPE_S
        for _, worker in workers:  # all at once: those that hang share what there is of time
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
    """What the worker's process does."""
    os.setpgrp()  # Ctrl-C is the supervisor's to pass on, or it would come twice
    configure_logs(settings.log_format, settings.log_level)
    signal.signal(signal.SIGTERM, end_by)
    server, registry = new_gateway(settings)
    threading.Thread(target=_answer, args=(pipe, registry), daemon=True).start()
    with suppress(KeyboardInterrupt):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        server.run(sockets=[sock])


def _answer(pipe: Connection, registry: CollectorRegistry) -> None:
    try:
        while True:
            pipe.recv_bytes()
            pipe.send(_collected(registry))
    except (EOFError, OSError):  # nobody would start a worker anew, nor stop this one
        os.kill(os.getpid(), signal.SIGTERM)


def _collected(registry: CollectorRegistry) -> list[Metric]:
    """All metrics; none if they cannot be had, which must not end the watch for the supervisor."""
    try:
        return list(registry.collect())
    except Exception:  # noqa: BLE001 (of whatever reads a gauge)
        log.exception("metrics cannot be collected")
        return []
