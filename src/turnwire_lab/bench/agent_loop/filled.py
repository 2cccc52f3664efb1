"""A journal in SQLite with many sessions, as they are after many turns."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from turnwire_agent.journal.sqlite.journal import SqliteJournal
from turnwire_agent.llm.transcript import Assistant, Text
from turnwire_agent.session.codec import row_of
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import Event, Prompted, Streamed, TextPart, TurnBegun, TurnEnded

_WORDS: Final = "This is what a model says to a person who asked it something short. " * 2


def session_id(number: int) -> str:
    """The id of a session. They are written in the order of their ids, which is faster."""
    return f"s{number:05}"


def fill(path: Path, sessions: int, messages: int) -> None:
    """Make a journal with so many sessions of so many messages each."""
    asyncio.run(_make(path))
    rows = list(_rows(messages))
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma synchronous = off")
    database.execute("begin")
    database.executemany(
        "insert into journal_session (id, epoch, head, settled) values (?, 1, ?, ?)",
        ((session_id(number), len(rows), len(rows)) for number in range(sessions)),
    )
    database.executemany(
        "insert into journal_row (session, seq, epoch, kind, body, detail) "
        "values (?, ?, 1, ?, ?, ?)",
        (
            (session_id(number), seq, *row)
            for number in range(sessions)
            for seq, row in enumerate(rows, 1)
        ),
    )
    database.execute("commit")
    database.close()


async def _make(path: Path) -> None:
    journal = SqliteJournal(path)
    await journal.start()
    await journal.aclose()


def _rows(messages: int) -> Iterator[tuple[str, bytes, bool]]:
    for number in range(messages // 2):
        yield from (row_of(event) for event in _exchange(number))


def _exchange(number: int) -> Sequence[Event]:
    entry_id, turn_id = f"prompt-{number}", f"turn-{number}"
    return (
        Prompted(entry_id=entry_id, prompt_id=f"p{number}", content="What is it about?"),
        TurnBegun(turn_id=turn_id, entry_id=entry_id),
        Streamed(turn_id, (TextAdded(_WORDS),)),
        TurnEnded(
            turn_id=turn_id,
            reason="end_turn",
            parts=(TextPart(_WORDS),),
            messages=(Assistant((Text(_WORDS),)),),
        ),
    )
