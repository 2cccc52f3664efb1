"""Calls that a journal gets together."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any


def blocked(path: Path) -> Any:
    """The connection of a process that was stopped in the middle of a write."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("begin immediate")
    return closing(database)


async def all_at_once(path: Path, *calls: Any) -> Sequence[Any]:
    """What becomes of calls that are all queued while somebody else writes."""
    with blocked(path) as database:
        waiting = asyncio.gather(*calls, return_exceptions=True)
        await asyncio.sleep(0.01)
        database.execute("rollback")
        return await waiting
