"""Each test of the contract runs with every store."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.postgres_server import PostgresServer
from runtime.journal.stores import MemoryStore, PostgresStore, SqliteStore, Store
from turnwire_agent.journal.port import Journal


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One for all tests, one after another. None harms it."""
    with PostgresServer() as server:
        yield server


@pytest_asyncio.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with AsyncExitStack() as closing:
        if request.param == "memory":
            yield MemoryStore(closing)
        elif request.param == "sqlite":
            yield SqliteStore(closing, tmp_path / "journal.db")
        else:
            server: PostgresServer = request.getfixturevalue("postgres")
            yield PostgresStore(closing, server.empty())


@pytest_asyncio.fixture
async def journal(store: Store) -> Journal:
    return await store.open()
