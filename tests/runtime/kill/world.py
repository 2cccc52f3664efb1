"""The world outside of the agent: what its tools have done there, whoever died meanwhile."""

import json
import os
from pathlib import Path


def act(path: Path, effect: str, key: str) -> None:
    """Do something that cannot be undone: it is on the disk when this returns."""
    line = json.dumps([effect, key]).encode() + b"\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line)
        os.fsync(file)
    finally:
        os.close(file)


def acts(path: Path) -> list[tuple[str, str]]:
    """All that was done: the tool and its key."""
    if not path.exists():
        return []
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()]
