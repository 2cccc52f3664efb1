"""Programs that play an agent: each is a command for the bridge."""

import sys
from pathlib import Path
from typing import Final


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


ECHO: Final = program(
    "import sys\nfor line in sys.stdin: print('got ' + line.rstrip(chr(10)), flush=True)"
)
STUBBORN: Final = program(
    "import signal, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('here', flush=True)\n"
    "time.sleep(60)"
)
"""Ends neither with its input nor by SIGTERM."""
PARENT: Final = program(
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print(child.pid, flush=True)\n"
    "sys.stdin.read()"
)
"""Starts another process, tells its id, and leaves it behind."""


def leaving(child: str, words: str, *, session: bool = False) -> list[str]:
    """A program that tells the id of a child, says words, and ends; the child keeps its output."""
    return program(
        "import subprocess, sys\n"
        f"command = [sys.executable, '-c', {child!r}]\n"
        f"child = subprocess.Popen(command, start_new_session={session})\n"
        f"print(child.pid, {words}, sep='\\n', end='', flush=True)"
    )


def writing(expression: str) -> list[str]:
    """A program that writes some bytes, and then waits for the end of its input."""
    return program(
        "import sys\n"
        f"sys.stdout.buffer.write({expression})\n"
        "sys.stdout.buffer.flush()\n"
        "sys.stdin.read()"
    )


def runs(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
