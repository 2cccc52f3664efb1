"""An app that sends by itself when all tools have their output must not do so after our turns."""

from pathlib import Path

import pytest

from conformance.clients import CLIENTS, Reports
from conformance.model import read
from conformance.transcripts import TRANSCRIPTS, title
from conformance.verdict import faults, loops_even_so

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=title)
def test_one_prompt_is_one_post(client: str, path: Path, reports: Reports) -> None:
    answer = read(path.read_bytes())

    played = reports[client].result().job(f"{title(path)} auto")

    if loops_even_so(client, answer):
        # Nothing else can be said of what it shows: it was answered twice with the same turn.
        assert played.posts > 1
    else:
        assert faults(client, answer, played) == []
