"""A Postgres for all lives."""

from collections.abc import Iterator

import pytest

from gateway.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server
