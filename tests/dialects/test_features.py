"""What a dialect states of its wire is what its transcripts show (docs/which-wire.md)."""

import base64
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pytest

from support import acp_messages, session_agent_frames
from support.golden import BODIES, RECORDINGS, about, dialect
from turnwire.core.agent import Decoded, Dialect, Feature
from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import File, Text, UserMessage
from turnwire.core.recording.event_stream_body import as_lines
from turnwire.core.recording.replay import replay
from turnwire.core.requests import PromptRequest
from turnwire.dialects import DIALECTS

IMAGE: Final = Attachment("image/png", "data:image/png;base64," + base64.b64encode(b"x").decode())
BESIDE: Final[dict[str, list[dict[str, Any]]]] = {
    "v2": [
        {"type": "message.create", "turnId": "t1", "promptId": "p1"},
        {
            "type": "question",
            "turnId": "t1",
            "questionId": "q1",
            "kind": "approval",
            "callId": "c1",
            "toolName": "bash",
        },
    ],
    "openai-chat": [
        {
            "choices": [
                {"delta": {"images": [{"type": "image_url", "image_url": {"url": IMAGE.url}}]}}
            ]
        }
    ],
}
"""Frames of what no transcript has."""


GREETINGS = (
    session_agent_frames.init("R"),
    acp_messages.initialized(image=True),
    acp_messages.made(),
)
"""What agents send before they are sent a prompt."""


def features_of(chunk: dict[str, Any]) -> Iterator[Feature]:
    """What a client sees by this chunk."""
    match chunk:
        case {"type": "data-question", "data": {"kind": "approval"}}:
            yield Feature.APPROVALS
        case {"type": "data-question"}:
            yield Feature.QUESTIONS
        case {"type": "reasoning-delta"}:
            yield Feature.REASONING
        case {"type": "tool-input-delta"}:
            yield Feature.TOOL_INPUT
        case {"type": "file"}:
            yield Feature.FILES_MADE
        case {"type": "source-url"}:
            yield Feature.SOURCES
        case {"type": "tool-output-error", "errorText": "Taken back"}:
            yield Feature.RETRACTS
        case {"type": "finish", "messageMetadata": {"usage": _}}:
            yield Feature.USAGE
        case _:
            return


def streams() -> Iterator[tuple[str, bytes]]:
    """The stream of each transcript, with the name of its wire."""
    for path in RECORDINGS:
        made = dialect(path)
        yield made.name, replay(path.read_bytes().splitlines(), made, usage=True)
    for path in BODIES:
        made = dialect(path)
        run_id = about(path)["request"]["runId"]
        lines = as_lines(path.read_bytes())
        yield made.name, replay(lines, made, prompt_id=run_id, usage=True)
    for name, frames in BESIDE.items():
        yield name, replay([json.dumps(frame).encode() for frame in frames], DIALECTS[name])


@pytest.fixture(scope="module")
def shown() -> dict[str, set[Feature]]:
    found = defaultdict[str, set[Feature]](set)
    for name, stream in streams():
        for line in stream.splitlines():
            if line.startswith(b"data: {"):
                found[name].update(features_of(json.loads(line.removeprefix(b"data: "))))
    return found


def sends_files(made: Dialect) -> bool:
    """Whether a picture of the user is in what the agent gets."""
    if made.keeps_history:
        prompt = made.prompt(
            PromptRequest(text="see", prompt_id="p1", user_id="u1", attachments=(IMAGE,))
        )
        prompt.connect_request()
        sent = [*prompt.connection_opened(0).to_agent]
        for greeting in GREETINGS:
            answer = prompt.receive_frame(greeting, 0)
            sent += answer.to_agent if isinstance(answer, Decoded) else ()
    else:
        sent = [*made.write_message(UserMessage("u1", (Text("see"), File(IMAGE))))]
    return base64.b64encode(b"x") in b"".join(sent)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_states_what_its_wire_can_say(name: str, shown: dict[str, set[Feature]]) -> None:
    made = DIALECTS[name]
    found = shown[name] | ({Feature.FILES_SENT} if sends_files(made) else set())

    assert made.features == found
