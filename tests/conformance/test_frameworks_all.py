"""Every transcript, with the chats of Vue and Svelte, with assistant-ui, with the fetch of Expo."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import assistant
from conformance.assistant import Threads
from conformance.clients import Reports
from conformance.frameworks import PAIRS, playing_pairs, wrong
from conformance.transcripts import TRANSCRIPTS, read_at_once, title
from turnwire.testing.client_model import read

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

every_transcript = pytest.mark.parametrize("path", TRANSCRIPTS, ids=title)


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    with playing_pairs(TRANSCRIPTS) as reports:
        yield reports


@pytest.fixture(scope="module")
def threads() -> Threads:
    return assistant.play([*map(read_at_once, TRANSCRIPTS)])


@pytest.mark.parametrize("name", PAIRS)
@every_transcript
def test_a_framework_and_a_fetch_change_nothing(name: str, path: Path, reports: Reports) -> None:
    assert wrong(name, reports[name].result(), path) == []


@every_transcript
def test_assistant_ui_holds_what_the_transcript_says(path: Path, threads: Threads) -> None:
    thread = threads.job(f"{title(path)} whole")

    assert assistant.faults(read(path.read_bytes()), thread) == []
