"""The streams of the profiles 7 and 7.1, with lost attempts, read by the clients that may ask.

What the portable profile has of them is read with all other transcripts, by every client.
"""

from pathlib import Path
from typing import Final

import pytest

from conformance.clients import CLIENTS, Report, play, version
from conformance.transcripts import GOLDEN, read_at_once, read_by_bytes, title
from conformance.verdict import faults
from turnwire.testing.client_model import read

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

NATIVE: Final = [client for client in CLIENTS if version(client) >= (6, 0, 0)]
RESETS: Final = [client for client in CLIENTS if version(client) >= (7, 0, 70)]
OF_7: Final = sorted((GOLDEN / "native/v2").glob("*-7.sse"))
OF_7_1: Final = sorted((GOLDEN / "native/v2").glob("*-7.1.sse"))
OLD: Final = "v7.0.0"
"""It has the profile 7, and no `reset-step`."""


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    also = {*RESETS, OLD}
    paths = {client: [*OF_7, *(OF_7_1 if client in also else [])] for client in NATIVE}
    return {
        client: play(client, [*map(read_at_once, told), *map(read_by_bytes, told)])
        for client, told in paths.items()
    }


@pytest.mark.parametrize("how", ["whole", "bytes"])
@pytest.mark.parametrize(
    ("client", "path"),
    [
        *((client, path) for client in NATIVE for path in OF_7),
        *((client, path) for client in RESETS for path in OF_7_1),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else value,
)
def test_the_client_shows_what_the_stream_says(
    client: str, path: Path, how: str, reports: dict[str, Report]
) -> None:
    answer = read(path.read_bytes(), native=True, resets=path in OF_7_1)

    assert faults(client, answer, reports[client].job(f"{title(path)} {how}")) == []


def test_there_are_clients_of_each_kind() -> None:
    assert len(NATIVE) > len(RESETS) > 0
    assert OF_7
    assert len(OF_7) == len(OF_7_1)


def test_an_older_client_ends_at_a_reset(reports: dict[str, Report]) -> None:
    (reset,) = [path for path in OF_7_1 if path.stem == "attempt_lost-7.1"]

    played = reports[OLD].job(f"{title(reset)} whole")

    assert played.status == "error"
    assert "reset-step" in (played.error or "")
