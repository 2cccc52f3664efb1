"""The gateway's own recorded streams, which every client must read right."""

from pathlib import Path
from typing import Final

from conformance.clients import Job

GOLDEN: Final = Path(__file__).parent.parent / "golden"


def _each_once(paths: list[Path]) -> list[Path]:
    """A client sees bytes alone, and many recordings end in the same: one stands for all."""
    return sorted({path.read_bytes(): path for path in reversed(paths)}.values())


TRANSCRIPTS: Final = _each_once(sorted(GOLDEN.glob("*/*.sse")))


def title(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


# Patience, not a promise: a client that hangs is told as such, one on a busy machine is not.
PATIENCE: Final[Job] = {"limitMs": 60_000}


def read_twice(path: Path) -> list[Job]:
    """Ask for a transcript at once, and byte by byte."""
    common = {**PATIENCE, "file": str(path)}
    return [
        {**common, "name": f"{title(path)} whole"},
        {**common, "name": f"{title(path)} bytes", "cut": "bytes"},
    ]


def sent_again(path: Path) -> Job:
    """Ask for a transcript in an app that sends again by itself."""
    auto = {"cut": "random", "autoSend": True}
    return {**PATIENCE, **auto, "file": str(path), "name": f"{title(path)} auto"}
