"""What the flight recorder keeps of an agent on this wire, and what drift sees in its events."""

from pathlib import Path
from typing import Final

import pytest

from support.recorded import PLENTY, shape
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.recorder import Recording, header
from turnwire.core.recording.redact import redactor_of
from turnwire.core.recording.replay import replay_turn
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Frames, Input, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.wire.event_stream import EventStreamReader
from turnwire.dialects import DIALECTS

RESPONSES: Final = DIALECTS["openai-responses"]
BODIES: Final = sorted((Path(__file__).parents[2] / "golden/openai-responses").glob("*.body"))


def frames_of(body: Path) -> list[bytes]:
    return EventStreamReader(PLENTY).read(body.read_bytes())


def recorded(frames: list[bytes]) -> Recording:
    asked = PromptRequest(text="the-secret", prompt_id="p1", user_id="ann")
    recording = Recording(header(asked, dialect="openai-responses", limits=Limits()), PLENTY)
    happened: list[Input] = [Opened(), Frames(frames), AgentLeft()]
    for at, each in enumerate(happened):
        recording.on_input(each, float(at))
    return recording


@pytest.mark.parametrize("body", BODIES, ids=lambda path: path.stem)
def test_redacted_it_replays_to_the_same_chunks_of_the_same_lengths(body: Path) -> None:
    recording = recorded(frames_of(body))

    whole = replay_turn(recording.lines(redactor=None), RESPONSES)
    redacted = replay_turn(recording.lines(redactor=redactor_of(RESPONSES.schema)), RESPONSES)

    assert whole.known_frames > 0
    assert shape(redacted.body) == shape(whole.body)


@pytest.mark.parametrize("body", BODIES, ids=lambda path: path.stem)
def test_what_agents_send_is_no_drift(body: Path) -> None:
    assert list(Drift(RESPONSES.schema).inspect(frames_of(body))) == []


def test_the_words_of_people_are_redacted() -> None:
    text = b'{"type":"response.output_text.delta","delta":"the-secret"}'
    note = b'{"type":"response.output_item.done","item":{"type":"x","output":"the-secret"}}'
    new = b'{"type":"response.new","plan":"the-secret"}'
    lines = recorded([text, note, new, b"[DONE]"]).lines(redactor=redactor_of(RESPONSES.schema))

    assert b"secret" not in b"\n".join(lines)
