"""A token server, and two credentials that share a file as two processes do."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from runtime.llm.credentials.token_server import (
    NAME,
    CountedStore,
    SetClock,
    TokenServer,
    logged_in,
    open_client,
    refresh_grant,
    serving,
)
from turnwire_agent.llm.credentials.refreshing import Refreshing


@pytest.fixture
async def server() -> AsyncGenerator[TokenServer]:
    async with serving(TokenServer()) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> CountedStore:
    return CountedStore(tmp_path / "tokens")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async with open_client() as client:
        yield client


@pytest.fixture
async def credential(
    server: TokenServer, store: CountedStore, clock: SetClock, client: httpx.AsyncClient
) -> Refreshing:
    await logged_in(store._path, server.url)
    return Refreshing(NAME, refresh_grant(server.url), store, clock=clock.clock, client=client)


@pytest.fixture
def other(
    credential: Refreshing,
    server: TokenServer,
    clock: SetClock,
    client: httpx.AsyncClient,
) -> Refreshing:
    """As that of another process: it shares the file alone."""
    store = credential._store
    grant = refresh_grant(server.url)
    return Refreshing(NAME, grant, CountedStore(store._path), clock=clock.clock, client=client)
