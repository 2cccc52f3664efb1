"""The gateway's own recorded streams, which every client must read right."""

import os
from pathlib import Path
from typing import Final

from conformance.clients import Job

GOLDEN: Final = Path(__file__).parent.parent / "golden"


def _each_once(paths: list[Path]) -> list[Path]:
    """A client sees bytes alone, and many recordings end in the same: one stands for all."""
    return sorted({path.read_bytes(): path for path in reversed(paths)}.values())


TRANSCRIPTS: Final = _each_once(sorted(GOLDEN.glob("*/*.sse")))

OFTEN: Final = [
    path
    for path in TRANSCRIPTS
    if os.environ.get("LONG") or path.parent.name.startswith(("v2", "session-agent"))
]
"""Those that are read byte by byte too, and in an app that sends again: with LONG=1 all of them."""


def title(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


# Patience, not a promise: a client that hangs is told as such, one on a busy machine is not.
PATIENCE: Final[Job] = {"limitMs": 60_000}


def read_at_once(path: Path) -> Job:
    """Ask for a transcript, as it is."""
    return {**PATIENCE, "file": str(path), "name": f"{title(path)} whole"}


def read_by_bytes(path: Path) -> Job:
    """Ask for a transcript that comes byte by byte."""
    return {**PATIENCE, "file": str(path), "name": f"{title(path)} bytes", "cut": "bytes"}


def sent_again(path: Path) -> Job:
    """Ask for a transcript in an app that sends again by itself."""
    auto = {"cut": "random", "autoSend": True}
    return {**PATIENCE, **auto, "file": str(path), "name": f"{title(path)} auto"}
