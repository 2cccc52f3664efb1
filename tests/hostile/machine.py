"""What the kernel says of a process."""

import contextlib
import os
import time
from pathlib import Path


def prefer(pid: int, nice: int) -> None:
    """Give a process that niceness, within its session and among the others (sched(7))."""
    os.setpriority(os.PRIO_PROCESS, pid, nice)
    with contextlib.suppress(OSError):  # a kernel without groups
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))


class Processor:
    """What a process used of the processor, and what it waited for it, from now on."""

    def __init__(self, pid: int) -> None:
        self._tasks = Path(f"/proc/{pid}/task")
        self._at = self._read()

    def cores(self) -> tuple[float, float]:
        """Used, and waited for, as parts of the time that passed."""
        wall, used, waited = (now - then for now, then in zip(self._read(), self._at, strict=True))
        return used / wall, waited / wall

    def _read(self) -> tuple[float, float, float]:
        used = waited = 0
        for task in self._tasks.glob("*/schedstat"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                ran_ns, stood_ns, _ = task.read_text().split()
                used += int(ran_ns)
                waited += int(stood_ns)
        return time.monotonic(), used / 1e9, waited / 1e9


class Memory:
    """Resident bytes of a process, and the most of them since `start`."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        self.at_start = 0
        self._sampled = 0

    def start(self) -> None:
        with contextlib.suppress(OSError):  # not allowed here: the samples must do
            (self._folder / "clear_refs").write_text("5")
        self.at_start = self._sampled = self._now()

    def sample(self) -> None:
        self._sampled = max(self._sampled, self._now())

    @property
    def growth(self) -> int:
        """Bytes, at its peak."""
        return max(0, self._sampled, self._most()) - self.at_start

    def _now(self) -> int:
        try:
            pages = int((self._folder / "statm").read_text().split()[1])
        except (OSError, IndexError):  # it ended
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _most(self) -> int:
        try:
            status = (self._folder / "status").read_text()
        except OSError:
            return 0
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0
