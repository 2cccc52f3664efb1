"""What clients get that name a profile, byte for byte: lost attempts, steps, finish reasons."""

import os
from pathlib import Path
from typing import Final

import pytest

from support.continued import REQUESTS
from turnwire.core.agent import AgentProtocol
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.v2 import V2
from turnwire.testing.client_model import Client

GOLDEN: Final = Path(__file__).parents[2] / "golden"
PROFILES: Final = {"7": False, "7.1": True}
"""By the word of the header: whether the client knows `reset-step`."""
RECORDINGS: Final = [
    *sorted((GOLDEN / "v2").glob("*attempt_lost*.jsonl")),
    *sorted((GOLDEN / "v2").glob("finish_reason*.jsonl")),
    *(GOLDEN / f"v2/{name}.jsonl" for name in ("steps", "tool_input_in_updates")),
]


def protocol_of(lines: list[bytes]) -> AgentProtocol:
    if b"#! resume" in lines:
        return V2().resume(ResumeRequest(user_id="u1", init_s=5))
    return V2().prompt(PromptRequest(text="hi", prompt_id="p1", user_id="u1"))


def stream_of(recording: Path, *, resets: bool) -> bytes:
    lines = recording.read_bytes().splitlines()
    options = StreamOptions(approvals=REQUESTS, resets=resets, usage=True)
    turn = Turn(protocol_of(lines), Limits(), UIMessageStream(options))
    stream = turn.handle(Opened(), 0).to_client
    return stream + turn.frames([each for each in lines if each[:1] != b"#"], 0).to_client


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_gives_the_stream_of_the_profile(recording: Path, profile: str) -> None:
    expected = GOLDEN / f"native/v2/{recording.stem}-{profile}.sse"
    stream = stream_of(recording, resets=PROFILES[profile])

    if os.environ.get("GOLDEN") == "rewrite":
        expected.write_bytes(stream)
    assert stream.decode() == expected.read_text()
    client = Client(native=True, resets=PROFILES[profile])
    client.read(stream)
    client.close()


def test_each_stream_has_its_recording() -> None:
    names = {f"{each.stem}-{profile}" for each in RECORDINGS for profile in PROFILES}

    assert {each.stem for each in (GOLDEN / "native/v2").glob("*.sse")} == names


def test_a_client_that_is_reset_shows_what_stands() -> None:
    def shown(name: str, *, resets: bool) -> list[str]:
        client = Client(native=True, resets=resets)
        client.read(stream_of(GOLDEN / f"v2/{name}.jsonl", resets=resets))
        return [part["text"] for part in client.parts if part["type"] == "text"]

    assert shown("attempt_lost", resets=True) == ["Nobody knows. Really."]
    assert shown("attempt_lost", resets=False) == ["It is prob", "Nobody knows. Really."]
    live, again = (
        shown(f"{name}attempt_lost{more}", resets=True)
        for name, more in (("", "_in_call"), ("resume_", ""))
    )
    assert live == again == ["Let me look. ", "I found a. ", "Done."]
