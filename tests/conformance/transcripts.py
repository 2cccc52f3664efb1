"""The gateway's own recorded streams, which every client must read right."""

from pathlib import Path
from typing import Final

from conformance.clients import Job

GOLDEN: Final = Path(__file__).parent.parent / "golden"
TRANSCRIPTS: Final = sorted(GOLDEN.glob("*/*.sse"))


def title(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def jobs(path: Path) -> list[Job]:
    """Ask for a transcript three times: at once, byte by byte, and in an app that sends again."""
    common = {"file": str(path)}
    return [
        {**common, "name": f"{title(path)} whole"},
        {**common, "name": f"{title(path)} bytes", "cut": "bytes"},
        {**common, "name": f"{title(path)} auto", "cut": "random", "autoSend": True},
    ]
