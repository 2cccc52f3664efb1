"""Programs that are started, waited for and ended. Nothing else is ended."""

import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from turnwire_lab.bench.machine import pinned
from turnwire_lab.process import HOST, inherited

START_S: Final = 30.0
END_S: Final = 10.0
_POLL_S: Final = 0.02


class NotStartedError(Exception):
    """A program does not do what it was started for; the text has the program's output."""


def wait_for(fact: Callable[[], object], within_s: float, what: str) -> None:
    """Wait until something is so.

    Raises:
        NotStartedError: it is not, in time.

    """
    until = time.monotonic() + within_s
    while not fact():
        if time.monotonic() > until:
            raise NotStartedError(f"{what}: not within {within_s:g} s")
        time.sleep(_POLL_S)


class Program:
    """`with Program("name", [...], ...) as program:` runs meanwhile; its output goes to `log`."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        on: AbstractSet[int],
        log: Path,
        environ: Mapping[str, str] | None = None,
        port: int = 0,
        talks: bool = False,
        runs_last: bool = False,
    ) -> None:
        """`talks`: it answers a line that it is given with one of its own.

        `runs_last`: it runs while no other program of the rig wants its core.
        """
        self.name = name
        self.port = port
        self._talks = talks
        self._runs_last = runs_last
        self._command = command
        self._on = on
        self._log = log
        self._environ = environ or {}

    @property
    def pid(self) -> int:
        return self._process.pid

    def output(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def listens(self) -> bool:
        """Whether it takes connections.

        Raises:
            NotStartedError: it ended.

        """
        if self._process.poll() is not None:
            raise NotStartedError(f"{self.name} ended: {self.output()[-2000:]}")
        try:
            socket.create_connection((HOST, self.port), 1).close()
        except OSError:
            return False
        return True

    def ask(self, line: bytes, within_s: float) -> bytes:
        """Give it a line. Returns its answer.

        Raises:
            NotStartedError: there is none, in time.

        """
        output, given = self._process.stdout, self._process.stdin
        assert output is not None
        assert given is not None
        with suppress(BrokenPipeError):
            given.write(line + b"\n")
            given.flush()
        answer = output.readline() if select.select([output], [], [], within_s)[0] else b""
        if not answer:
            raise NotStartedError(f"{self.name} gave no answer: {self.output()[-2000:]}")
        return answer

    def __enter__(self) -> Self:
        with self._log.open("wb") as log, pinned(self._on):
            self._process = subprocess.Popen(  # noqa: S603 (the rig names the program)
                self._command,
                env={**_clean(), **self._environ},
                stdin=subprocess.PIPE if self._talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if self._talks else log,
                stderr=log,
                # Ctrl-C is ours to pass on; and the kernel compares programs of one session alone.
                process_group=0,
            )
        if self._runs_last:  # what it starts inherits that
            os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def _clean() -> Mapping[str, str]:
    """Our environment without settings of a gateway, and without proxies."""
    return {n: value for n, value in inherited().items() if not n.lower().endswith("_proxy")}
