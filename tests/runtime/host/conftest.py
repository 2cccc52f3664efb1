"""A journal that several replicas have, in each store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.postgres_server import PostgresServer
from runtime.host.hosted import Opening
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.postgres.journal import PostgresJournal
from turnwire_agent.journal.sqlite.journal import SqliteJournal


class Shared(MemoryJournal):
    """A journal that none of its replicas closes."""

    async def aclose(self) -> None:
        return


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    if request.param == "memory":
        shared = Shared()
        return lambda: shared
    if request.param == "sqlite":
        return lambda: SqliteJournal(tmp_path / "journal.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    address = server.empty()
    return lambda: PostgresJournal(address)
