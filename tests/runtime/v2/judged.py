"""What clients of the real gateway see of an agent's frames."""

import json
from typing import Any

from turnwire.core.agent import AgentProtocol
from turnwire.core.operations import History
from turnwire.core.requests import Channel, HistoryRequest, PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client

V2 = DIALECTS["v2"]


def sent(prompt_id: str, channel: Channel, frames: list[bytes], *, resets: bool) -> Client:
    """The message of a client that sent a prompt, and stays."""
    request = PromptRequest(text="hi", prompt_id=prompt_id, channel=channel, user_id="ann")
    return _read(V2.prompt(request), frames, resets=resets)


def resumed(prompt_id: str, channel: Channel, frames: list[bytes], *, resets: bool) -> Client:
    """The message of a client that comes back: its first frame is `init`."""
    request = ResumeRequest(user_id="ann", init_s=5, channel=channel, prompt_id=prompt_id)
    return _read(V2.resume(request), frames, resets=resets)


def _read(protocol: AgentProtocol, frames: list[bytes], *, resets: bool) -> Client:
    turn = Turn(protocol, Limits(), UIMessageStream(StreamOptions(resets=resets)))
    written = turn.handle(Opened(), 0).to_client
    for at in range(0, len(frames), 3):
        written += turn.frames(frames[at : at + 3], 1).to_client
    if turn.outcome is None:
        written += turn.handle(AgentLeft(), 2).to_client
    stats = protocol.frame_stats
    assert stats.malformed == 0, "the gateway does not understand a frame"
    client = Client(named=None, resets=resets)
    client.read(written)
    client.close()
    while client.parts and client.parts[-1]["type"] == "step-start":
        client.parts.pop()  # a client draws a step when something stands in it
    return client


def history(init: bytes, channel: Channel) -> list[dict[str, Any]]:
    """The messages of a channel that a client loads."""
    request = HistoryRequest(user_id="ann", init_s=5, verdict_s=5, limit=500, channel=channel)
    operation = V2.read_history(request)
    operation.connection_opened(0)
    operation.receive_frame(init, 1)
    assert isinstance(operation.result, History)
    messages: list[dict[str, Any]] = json.loads(ui_messages(operation.result))
    for message in messages:
        while message["parts"][-1:] == [{"type": "step-start"}]:
            message["parts"].pop()
    return messages


def content_of(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a message says, wherever it stands: its text as one, then everything else."""
    texts = [
        {"type": kind, "text": "".join(p["text"] for p in parts if p["type"] == kind)}
        for kind in ("text", "reasoning")
    ]
    return [*texts, *(p for p in parts if p["type"] not in {"text", "reasoning", "step-start"})]
