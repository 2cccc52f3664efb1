"""Each test of the contract runs with every store."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from runtime.journal.stores import MemoryStore, SqliteStore, Store
from turnwire_agent.journal.port import Journal


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with AsyncExitStack() as closing:
        if request.param == "memory":
            yield MemoryStore(closing)
        else:
            yield SqliteStore(closing, tmp_path / "journal.db")


@pytest_asyncio.fixture
async def journal(store: Store) -> Journal:
    return await store.open()
