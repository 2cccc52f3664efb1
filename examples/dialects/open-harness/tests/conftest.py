"""The server and the gateways, one of each for all tests."""

from collections.abc import Iterator

import pytest

from harness import Harness
from served import Gateway


@pytest.fixture(scope="session")
def harness() -> Iterator[Harness]:
    harness = Harness()
    yield harness
    harness.close()


@pytest.fixture(scope="session")
def gateway(harness: Harness) -> Iterator[Gateway]:
    """One whose server others may use."""
    with Gateway(harness.port, "open_harness_dialect:OpenHarness") as gateway:
        yield gateway


@pytest.fixture(scope="session")
def alone(harness: Harness) -> Iterator[Gateway]:
    """One that has the server for its one session. It shows the outputs of nodes."""
    place = "open_harness_dialect:OpenHarnessAlone"
    with Gateway(harness.port, place, state="parts") as gateway:
        yield gateway
