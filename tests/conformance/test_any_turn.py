"""Whatever the agent says, in whatever order: all clients show it, and show the same."""

from collections.abc import Iterator
from typing import Final

import pytest

from conformance.clients import CLIENTS, Job, Reports, playing
from conformance.recordings import recording
from conformance.verdict import faults, loops_even_so
from support.seeds import each_seed
from turnwire.core.recording.replay import replay
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import read

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

SEEDS: Final = range(100)


@pytest.fixture(scope="module")
def streams() -> dict[int, bytes]:
    return {seed: replay(recording(seed), DIALECTS["v2"], usage=bool(seed % 2)) for seed in SEEDS}


@pytest.fixture(scope="module")
def reports(streams: dict[int, bytes]) -> Iterator[Reports]:
    jobs: list[Job] = []
    for seed, stream in streams.items():
        # As JSON the stream goes to Node as text; the gateway's bytes are UTF-8, or this raises.
        jobs.append({"name": f"{seed}", "text": stream.decode(), "cut": "random"})
        jobs.append({"name": f"{seed} auto", "text": stream.decode(), "autoSend": True})
    with playing(jobs) as reports:
        yield reports


@each_seed(SEEDS)
def test_the_model_accepts_it(seed: int, streams: dict[int, bytes]) -> None:
    read(streams[seed])


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_shows_it(client: str, streams: dict[int, bytes], reports: Reports) -> None:
    report = reports[client].result()
    found: dict[int, list[str]] = {}
    for seed, stream in streams.items():
        answer = read(stream)
        found[seed] = faults(client, answer, report.job(f"{seed}"))
        if not loops_even_so(client, answer):
            found[seed] += faults(client, answer, report.job(f"{seed} auto"))

    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}
    assert report.unhandled == []
