"""Asks the tests about each change: a plugin of pytest that forks where tests would run.

The process has imported the code and collected the tests. For each change it forks: the child
plants the change, runs the tests of its lines, and ends with the first that fails. Nothing of a
change or a test outlives its child.
"""

import gc
import mmap
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Never

import pytest

from mutation.changes import Change
from mutation.planting import Living

_FAILED: Final = 3
_NOT_PLANTED: Final = 4
_TIMES: Final = 10
"""So many times its usual seconds a test may take, of the processor."""
_STILL_S: Final = 120.0
"""A child that sleeps for so long waits for what never comes."""
_MEMORY: Final = 4 << 30
_NO_FAILURES: Final = (pytest.skip.Exception, pytest.xfail.Exception)
_POLL_S: Final = 0.02


class Answer(NamedTuple):
    """What the tests say of a change. None noticed it: it survives."""

    change: Change
    test: str | None
    how: str
    seconds: float


class _Child(NamedTuple):
    change: Change | None
    tests: Sequence[str]
    at: mmap.mmap
    began: float
    still: list[float]


class Asking:
    """Hand it to pytest.main; `answers` has one for each change that could be made."""

    def __init__(
        self,
        source: Path,
        asked: Iterable[tuple[Change, Sequence[str] | None]],
        seconds: dict[str, float],
        workers: int,
        patience: float,
        tell: Callable[[Answer], None],
    ) -> None:
        """`asked`: changes, each with the ids of its tests in their order. None: all tests.

        A test may take `patience` seconds of the processor, or ten times what it usually takes.
        """
        self.answers: list[Answer] = []
        self.not_planted: list[Change] = []
        self.unsound: str | None = None
        """A test that fails without any change, so that it can notice nothing."""
        self._source = source
        self._waiting = deque(asked)
        self._seconds = seconds
        self._workers = workers
        self._patience = patience
        self._tell = tell
        self._children: dict[int, _Child] = {}
        self._in_child = False
        self._interrupted = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        living = Living(self._source)
        gc.collect()
        gc.freeze()
        # An exception could come while a fork runs its callbacks, which let none through.
        before = signal.signal(signal.SIGINT, self._on_interrupt)
        try:
            self._ask_all(items, living)
        finally:
            signal.signal(signal.SIGINT, before)
        noticing = dict.fromkeys(answer.test for answer in self.answers if answer.test)
        if noticing:
            self._fork(items, list(noticing), living, None)
            while self._children:
                self._reap()
        return True

    def _ask_all(self, items: dict[str, pytest.Item], living: Living) -> None:
        while self._waiting or self._children:
            if self._interrupted:
                self._stop()
                return
            while self._waiting and len(self._children) < self._workers:
                change, chosen = self._waiting.popleft()
                tests = list(items) if chosen is None else [t for t in chosen if t in items]
                if tests:
                    self._fork(items, tests, living, change)
                else:
                    self._answered(Answer(change, None, "no test runs it", 0))
            self._reap()

    def _on_interrupt(self, *_: object) -> None:
        self._interrupted = True

    def _stop(self) -> None:
        """Ctrl-C: what was asked so far is a sample, too."""
        self._waiting.clear()
        for process in self._children:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        self._children.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """A failure ends the child before a report of it is written, which takes longer."""
        if not self._in_child or call.excinfo is None or item.get_closest_marker("xfail"):
            return
        if not isinstance(call.excinfo.value, _NO_FAILURES):
            os._exit(_FAILED)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._in_child and report.failed:
            os._exit(_FAILED)

    def _fork(
        self,
        items: dict[str, pytest.Item],
        tests: list[str],
        living: Living,
        change: Change | None,
    ) -> None:
        at = mmap.mmap(-1, 8)
        sys.stdout.flush()
        child = os.fork()
        if not child:
            self._in_child = True
            self._run([items[test] for test in tests], at, living, change)
        self._children[child] = _Child(change, tests, at, time.monotonic(), [])

    def _run(
        self, items: list[pytest.Item], at: mmap.mmap, living: Living, change: Change | None
    ) -> Never:
        """The rest of a child's life."""
        silence = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(silence, descriptor)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = _NOT_PLANTED
        try:
            if change is not None:
                living.plant(change)
            code = _FAILED
            nexts: list[Any] = [*items[1:], None]
            for number, (item, following) in enumerate(zip(items, nexts, strict=True)):
                at[:] = number.to_bytes(8, "little")
                limit = max(self._patience, _TIMES * self._seconds.get(item.nodeid, 0))
                signal.setitimer(signal.ITIMER_PROF, limit)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            code = 0
        finally:
            os._exit(code)

    def _reap(self) -> None:
        """Wait for a child, or end one that sleeps."""
        time.sleep(_POLL_S)
        for process, child in list(self._children.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self._children[process]
                self._ended(child, os.waitstatus_to_exitcode(status))
            elif not _sleeps(process):
                child.still.clear()
            else:
                child.still.append(time.monotonic())
                if child.still[-1] - child.still[0] > _STILL_S:
                    os.kill(process, signal.SIGKILL)

    def _ended(self, child: _Child, code: int) -> None:
        seconds = time.monotonic() - child.began
        test = child.tests[int.from_bytes(child.at[:], "little")] if code else None
        child.at.close()
        if child.change is None:
            self.unsound = test
        elif code == _NOT_PLANTED:
            self.not_planted.append(child.change)
        else:
            how = {0: "", _FAILED: "fails", -signal.SIGPROF: "does not end"}.get(code, "crashes")
            self._answered(Answer(child.change, test, how, seconds))

    def _answered(self, answer: Answer) -> None:
        self.answers.append(answer)
        self._tell(answer)


def _sleeps(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].startswith("S")
