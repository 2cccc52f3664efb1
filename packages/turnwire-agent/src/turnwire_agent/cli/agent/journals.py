"""The journal of an agent, for a command that looks into it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from turnwire_agent.cli.agent.parts import CannotServeError, journal_of, unopened_journal
from turnwire_agent.cli.arguments import UsageError
from turnwire_agent.journal.ids import checked
from turnwire_agent.journal.port import Journal, NewerSchemaError, UnavailableError
from turnwire_agent.settings import Agent

_SQLITE = "sqlite:"


@asynccontextmanager
async def opened(agent: Agent) -> AsyncIterator[Journal]:
    """Open a journal that exists. A server may use it at the same time.

    Raises:
        UsageError: It is in the memory of another process, or its address is none.
        CannotServeError: It is not there, or cannot be read.
    """
    address = journal_of(agent)
    if address == "memory":
        raise UsageError("a journal in memory is seen by its own process alone")
    if (path := sqlite_path(address)) and not path.exists():
        raise CannotServeError(f"there is no journal {path}")
    journal = unopened_journal(agent)
    try:
        await journal.start()
    except (NewerSchemaError, UnavailableError) as error:
        raise CannotServeError(str(error)) from error
    try:
        yield journal
    except UnavailableError as error:
        raise CannotServeError(str(error)) from error
    finally:
        await journal.aclose()


def checked_session(text: str) -> str:
    """The id of a session.

    Raises:
        UsageError: No session has such an id.
    """
    try:
        checked(text)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return text


def sqlite_path(address: str) -> Path | None:
    """The file of a journal in SQLite."""
    return Path(address.removeprefix(_SQLITE)) if address.startswith(_SQLITE) else None
