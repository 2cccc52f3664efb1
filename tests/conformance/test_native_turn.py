"""Preliminary outputs, which only the profiles 6 and 7 send: their clients show whatever comes."""

from collections.abc import Iterator
from typing import Final

import pytest

from conformance.clients import CLIENTS, Job, Reports, playing, version
from conformance.recordings import recording
from conformance.verdict import faults
from support.continued import REQUESTS
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client, read

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

SEEDS: Final = range(100)
NATIVE: Final = [client for client in CLIENTS if version(client) >= (6,)]


def stream(seed: int) -> bytes:
    prompt = PromptRequest(text="hi", prompt_id="p1")
    output = UIMessageStream(StreamOptions(approvals=REQUESTS))
    turn = Turn(DIALECTS["v2"].prompt(prompt), Limits(), output)
    written = turn.handle(Opened(), 0).to_client
    for frame in recording(seed):
        written += turn.frames([frame], 0).to_client
    return written + turn.handle(AgentLeft(), 0).to_client


@pytest.fixture(scope="module")
def streams() -> dict[int, bytes]:
    return {seed: stream(seed) for seed in SEEDS}


@pytest.fixture(scope="module")
def answers(streams: dict[int, bytes]) -> dict[int, Client]:
    return {seed: read(written, native=True) for seed, written in streams.items()}


@pytest.fixture(scope="module")
def reports(streams: dict[int, bytes]) -> Iterator[Reports]:
    jobs: list[Job] = [
        {"name": f"{seed}", "text": written.decode(), "autoSend": True}
        for seed, written in streams.items()
    ]
    with playing(jobs) as reports:
        yield reports


def test_there_are_preliminary_outputs(answers: dict[int, Client]) -> None:
    assert sum(bool(answer.previews) for answer in answers.values()) > len(SEEDS) / 10


@pytest.mark.parametrize("client", NATIVE)
def test_every_client_shows_it(client: str, answers: dict[int, Client], reports: Reports) -> None:
    report = reports[client].result()
    found = {seed: faults(client, answers[seed], report.job(f"{seed}")) for seed in SEEDS}

    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}
    assert report.unhandled == []
