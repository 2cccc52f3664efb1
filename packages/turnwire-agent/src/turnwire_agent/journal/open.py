"""A journal by its address."""

from pathlib import Path

from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Journal
from turnwire_agent.journal.sqlite.journal import SqliteJournal


class NoJournalError(Exception):
    """An address that is none. Its text is one line, without what may be a password."""


def open_journal(address: str) -> Journal:
    """Return the journal at an address; it is not started yet.

    Args:
        address: `memory`, `sqlite:PATH`, or `postgresql://…`.

    Raises:
        NoJournalError: it is none of these, or the extra `postgres` is not installed.

    """
    if address == "memory":
        return MemoryJournal()
    scheme, _, rest = address.partition(":")
    if scheme == "sqlite" and rest:
        return SqliteJournal(Path(rest))
    if scheme in {"postgres", "postgresql"}:
        try:
            from turnwire_agent.journal.postgres.journal import PostgresJournal  # noqa: PLC0415
        except ImportError:
            raise NoJournalError(
                "the journal is in Postgres: install turnwire-agent[postgres]"
            ) from None
        return PostgresJournal(address)
    raise NoJournalError("a journal is memory, sqlite:PATH or postgresql://HOST/DATABASE")
