"""Fixtures that start the clients once a session and share what they reported."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.clients import CLIENTS, Reports, play
from conformance.transcripts import TRANSCRIPTS, jobs


@pytest.fixture(scope="session")
def reports() -> Iterator[Reports]:
    """Every client's reading of every transcript, one Node process each, two at a time."""
    wanted = [job for path in TRANSCRIPTS for job in jobs(path)]
    with ThreadPoolExecutor(2) as pool:
        yield {client: pool.submit(play, client, wanted) for client in CLIENTS}
        pool.shutdown(cancel_futures=True)
