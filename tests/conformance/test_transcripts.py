"""Every recorded stream, read by every released client: they must all show the same answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.clients import CLIENTS, Reports, playing
from conformance.transcripts import OFTEN, TRANSCRIPTS, read_at_once, read_by_bytes, title
from conformance.verdict import faults
from turnwire.testing.client_model import read

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    with playing([*map(read_at_once, TRANSCRIPTS), *map(read_by_bytes, OFTEN)]) as reports:
        yield reports


every_client = pytest.mark.parametrize("client", CLIENTS)
every_transcript = pytest.mark.parametrize("path", TRANSCRIPTS, ids=title)


def test_there_is_something_to_read() -> None:
    assert len(TRANSCRIPTS) >= len(OFTEN) > 0
    assert len(CLIENTS) > 0


@every_client
def test_no_client_leaves_an_error_unhandled(client: str, reports: Reports) -> None:
    report = reports[client].result()

    assert report.unhandled == []
    assert not report.late


@every_client
@every_transcript
def test_every_client_shows_what_the_transcript_says(
    client: str, path: Path, reports: Reports
) -> None:
    played = reports[client].result().job(f"{title(path)} whole")

    assert faults(client, read(path.read_bytes()), played) == []


@every_client
@pytest.mark.parametrize("path", OFTEN, ids=title)
def test_it_does_not_matter_how_the_bytes_arrive(client: str, path: Path, reports: Reports) -> None:
    played = reports[client].result().job(f"{title(path)} bytes")

    assert faults(client, read(path.read_bytes()), played) == []
