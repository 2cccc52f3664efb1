"""Recordings of whole turns, and byte for byte the streams that they become."""

import os
from pathlib import Path

import pytest

from support.golden import BODIES, RECORDINGS, STREAMS, about, dialect
from turnwire.core.recording.event_stream_body import as_lines
from turnwire.core.recording.replay import replay
from turnwire.testing.client_model import Client, check_record


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_a_recording_gives_its_stream_byte_for_byte(recording: Path) -> None:
    expected = recording.with_suffix(".sse")

    stream = replay(recording.read_bytes().splitlines(), dialect(recording))

    if os.environ.get("GOLDEN") == "rewrite":
        expected.write_bytes(stream)
    assert stream.decode() == expected.read_bytes().decode()


@pytest.mark.parametrize("body", BODIES, ids=name)
def test_a_servers_body_gives_its_stream_byte_for_byte(body: Path) -> None:
    expected = body.with_suffix(".sse")
    asked = about(body)["request"]

    stream = replay(as_lines(body.read_bytes()), dialect(body), prompt_id=asked["runId"])

    if os.environ.get("GOLDEN") == "rewrite":
        expected.write_bytes(stream)
    assert stream.decode() == expected.read_bytes().decode()


def test_every_recording_has_its_stream_and_every_stream_its_recording() -> None:
    assert sorted(map(name, (*RECORDINGS, *BODIES))) == sorted(map(name, STREAMS))
    assert len(RECORDINGS) > 50


@pytest.mark.parametrize("stream", STREAMS, ids=name)
def test_every_record_has_only_what_all_clients_take(stream: Path) -> None:
    *records, done, end = stream.read_bytes().split(b"\n\n")
    chunks = [record for record in records if record != b": keepalive"]

    assert (done, end) == (b"data: [DONE]", b"")
    assert chunks
    for record in chunks:
        check_record(record)


@pytest.mark.parametrize("stream", STREAMS, ids=name)
def test_a_strict_client_reads_it_to_its_end(stream: Path) -> None:
    client = Client()

    client.read(stream.read_bytes())

    client.close()
