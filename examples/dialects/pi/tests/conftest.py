"""The servers and the gateways, one of each for all tests."""

from collections.abc import Iterator

import pytest

from pi_server import PiServer
from served import Gateway

PLACE = "pi_dialect:Pi"
SHARED_PLACE = "pi_dialect:PiShared"


@pytest.fixture(scope="session")
def pi() -> Iterator[PiServer]:
    """One that has a process for each connection."""
    server = PiServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def shared() -> Iterator[PiServer]:
    """One that has a process for all connections."""
    server = PiServer(is_shared=True)
    yield server
    server.close()


@pytest.fixture(scope="session")
def gateway(pi: PiServer) -> Iterator[Gateway]:
    with Gateway(pi.port, PLACE) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def unlogged(pi: PiServer) -> Iterator[Gateway]:
    """One without a turn log, in which a chat may have two turns at once."""
    with Gateway(pi.port, PLACE, turn_log="off") as gateway:
        yield gateway


@pytest.fixture(scope="session")
def first(shared: PiServer) -> Iterator[Gateway]:
    """One of two before a process that they share."""
    with Gateway(shared.port, SHARED_PLACE) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def second(shared: PiServer) -> Iterator[Gateway]:
    """The other of the two."""
    with Gateway(shared.port, SHARED_PLACE) as gateway:
        yield gateway
