"""The pipe between a worker and its supervisor: metrics in time, and an end with it."""

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from turnwire.cli import worker

pytestmark = pytest.mark.sockets


def test_a_worker_that_hangs_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SCRAPE_S", 0)
    hung, theirs = piped()
    with hung._pipe, theirs:
        scraped = worker.WorkersMetrics({0: hung})
        for _ in range(2_000):  # as many questions would not fit into the pipe
            assert not list(scraped.collect())
        theirs.recv_bytes()
        assert not theirs.poll()
        theirs.send([])
        list(scraped.collect())

        assert theirs.recv_bytes() == b"metrics"


def test_a_scrape_does_not_queue_behind_others_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SCRAPE_S", 0.01)
    scraped = worker.WorkersMetrics({})
    with scraped._collect_lock:
        assert list(scraped.collect()) == []


def noted(bare: worker.Worker, waited: list[float]) -> Callable[[float], Sequence[Metric]]:
    metrics = bare.metrics

    def at_once(within_s: float) -> Sequence[Metric]:
        waited.append(within_s)
        return metrics(0)

    return at_once


def test_those_that_hang_share_the_time_and_the_others_are_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    clock = iter(range(1_000))
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: next(clock) / 2))
    monkeypatch.setattr(worker, "SCRAPE_S", 1.2)
    with ExitStack() as stack:
        workers = {}
        for number in range(4):
            workers[number], theirs = piped()
            stack.enter_context(workers[number]._pipe)
            stack.enter_context(theirs)
            if number == 3:
                theirs.send([])  # late, and meant for somebody else
                theirs.send([Metric("up", "Up.", "gauge")])
            monkeypatch.setattr(workers[number], "metrics", noted(workers[number], waited))
        found = [family.name for family in worker.WorkersMetrics(workers).collect()]

    assert waited == [0.7, pytest.approx(0.2), 0, 0]
    assert found == ["up"]


def piped() -> tuple[worker.Worker, Connection]:
    """A worker without a process, and its end of the pipe."""
    bare = worker.Worker.__new__(worker.Worker)
    bare._pipe_lock, bare._is_answer_due = threading.Lock(), False
    bare._pipe, theirs = multiprocessing.Pipe()
    return bare, theirs


def test_a_worker_whose_metrics_cannot_be_had_still_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ours, theirs = multiprocessing.Pipe()
    registry = CollectorRegistry()
    registry.register(_Broken())
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    try:
        answering = threading.Thread(target=worker._answer, args=(theirs, registry))
        answering.start()
        with ours, theirs:
            for _ in range(2):
                ours.send_bytes(b"metrics")
                assert ours.recv() == []
            assert not stopped
            ours.close()
            answering.join()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    assert stopped == [signal.SIGTERM]
    assert "metrics cannot be collected" in capsys.readouterr().out


class _Broken(Collector):
    def collect(self) -> Iterable[Metric]:
        raise FileNotFoundError
