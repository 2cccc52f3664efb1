"""The same turn, told on the `v2` wire and in each revision of `session-agent`."""

from pathlib import Path

import pytest

from support.recorded import GOLDEN, dialect
from turnwire.core.recording.replay import replay

RECORDINGS = sorted(GOLDEN.glob("session-agent-*/*.jsonl"))
TOLD_IN_BOTH = [path for path in RECORDINGS if (GOLDEN / "v2" / path.name).exists()]
CORE_TURNS = {"text", "tool", "tool_failed", "empty", "failed", "canceled", "queued"}


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("recording", TOLD_IN_BOTH, ids=name)
def test_a_turn_gives_the_same_transcript_in_both_dialects(recording: Path) -> None:
    stream = replay(recording.read_bytes().splitlines(), dialect(recording))

    assert stream.decode() == (GOLDEN / "v2" / recording.name).with_suffix(".sse").read_text()


@pytest.mark.parametrize("revision", ["R", "A", "V"])
def test_the_core_turns_are_told_in_both_dialects(revision: str) -> None:
    told = {path.stem for path in TOLD_IN_BOTH if path.parent.name == f"session-agent-{revision}"}

    assert told >= CORE_TURNS
    assert len(told) > 15


@pytest.mark.parametrize("revision", ["R", "A", "V"])
def test_the_sample_of_the_wire_page_gives_client_b_its_own_turn_alone(revision: str) -> None:
    stream = (GOLDEN / f"session-agent-{revision}" / "sample.sse").read_text()

    assert '"messageId":"T2"' in stream
    assert '"delta":"Hi"' in stream
    assert "…" not in stream
