"""Processor time, memory and other load of the machine, from `/proc` of Linux."""

import os
import resource
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

_PROC: Final = Path("/proc")
_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_WAITING: Final = (3, 4)
"""Columns of `/proc/stat` in which a core did nothing: idle, and waiting for a disk."""


class Cores(Struct, frozen=True):
    """Which cores are for whom. Where there is only one, all share it."""

    gateway: AbstractSet[int]
    rig: AbstractSet[int]

    @property
    def are_apart(self) -> bool:
        return not self.gateway & self.rig


def cores() -> Cores:
    """The gateway has the first core to itself, the rig the second."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:  # noqa: PLR2004 (one each)
        return Cores(frozenset(allowed), frozenset(allowed))
    return Cores(frozenset(allowed[:1]), frozenset(allowed[1:2]))


@contextmanager
def pinned(to: AbstractSet[int]) -> Iterator[None]:
    """What is started meanwhile runs on these cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, to)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def raise_descriptors() -> int:
    """Let what is started have as many descriptors as may be. Returns how many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def tree(pid: int) -> list[int]:
    """A process and all that it started. One that ended has none."""
    found = [pid]
    for children in _PROC.glob(f"{pid}/task/*/children"):
        for child in _read(children).split():
            found += tree(int(child))
    return found


def cpu_s(pid: int) -> float:
    """Seconds that a process tree has run, to the nanosecond."""
    tasks = (task for each in tree(pid) for task in _PROC.glob(f"{each}/task/*/schedstat"))
    return sum(int((_read(task).split() or ["0"])[0]) for task in tasks) / 1e9


def pss_bytes(pid: int) -> int:
    """Memory of a process tree; of what is shared, its share."""
    kib = 0
    for each in tree(pid):
        for line in _read(_PROC / str(each) / "smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                kib += int(line.split()[1])
    return kib * 1024


def private_bytes(pid: int) -> int:
    """Memory of a process tree without files that it maps, such as libraries and journals."""
    kib = 0
    for each in tree(pid):
        for line in _read(_PROC / str(each) / "smaps_rollup").splitlines():
            if line.startswith("Pss_Anon:"):
                kib += int(line.split()[1])
    return kib * 1024


def busy_s() -> Mapping[int, float]:
    """Seconds that each core has been at work, in steps of a tick."""
    return _busy(_read(_PROC / "stat"))


def _busy(stat: str) -> Mapping[int, float]:
    found = {}
    for line in stat.splitlines():
        name, *columns = line.split()
        if name.startswith("cpu") and name != "cpu":
            worked = sum(int(ticks) for at, ticks in enumerate(columns[:8]) if at not in _WAITING)
            found[int(name.removeprefix("cpu"))] = worked * _TICK_S
    return found


def model() -> str:
    """What the processor calls itself."""
    for line in _read(_PROC / "cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:  # it ended meanwhile
        return ""
