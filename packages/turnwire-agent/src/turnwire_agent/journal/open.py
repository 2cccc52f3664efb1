"""A journal by its address."""

from pathlib import Path

from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Journal
from turnwire_agent.journal.sqlite.journal import SqliteJournal


class NoJournalError(Exception):
    """An address that is none. Its text is one line, without what may be a password."""


class MissingExtraError(NoJournalError):
    """The address is of a store whose extra is not installed."""


def open_journal(address: str) -> Journal:
    """Return the journal at an address; it is not started yet.

    Args:
        address: `memory`, `sqlite:PATH`, or `postgresql://…`.

    Raises:
        MissingExtraError: the extra `postgres` is not installed.
        NoJournalError: it is none of these.

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
            raise MissingExtraError(
                "the journal is in Postgres: install turnwire-agent[postgres]"
            ) from None
        try:
            return PostgresJournal(address)
        except ValueError as error:
            raise NoJournalError(str(error)) from None
    raise NoJournalError("a journal is memory, sqlite:PATH or postgresql://HOST/DATABASE")
