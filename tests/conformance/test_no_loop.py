"""An app that sends by itself when all tools have their output must not do so after our turns."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.clients import CLIENTS, Reports, playing
from conformance.transcripts import OFTEN, sent_again, title
from conformance.verdict import faults, loops_even_so
from turnwire.testing.client_model import read

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    with playing([sent_again(path) for path in OFTEN]) as reports:
        yield reports


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("path", OFTEN, ids=title)
def test_one_prompt_is_one_post(client: str, path: Path, reports: Reports) -> None:
    answer = read(path.read_bytes())

    played = reports[client].result().job(f"{title(path)} auto")

    if loops_even_so(client, answer):
        # Nothing else can be said of what it shows: it was answered twice with the same turn.
        assert played.posts > 1
    else:
        assert faults(client, answer, played) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_no_client_leaves_an_error_unhandled(client: str, reports: Reports) -> None:
    report = reports[client].result()

    assert report.unhandled == []
    assert not report.late
