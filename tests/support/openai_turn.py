"""A turn on a wire of OpenAI's APIs, and the client that reads it."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from turnwire.core.agent import Decoded, Dialect
from turnwire.core.events import Event
from turnwire.core.requests import DialectOptions, PromptRequest, QuestionReply
from turnwire.core.turn.inputs import AgentLeft, Opened, Replied, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.testing.client_model import Client


def plain(found: Decoded | str | None) -> Any:
    """What an event means, with raw JSON as text, so that it compares."""
    if found is None or isinstance(found, str):
        return found
    return [plain_event(event) for event in found.events]


def plain_event(event: Event) -> Any:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return (
        type(event).__name__,
        {
            name: bytes(value).decode() if isinstance(value, Raw) else value
            for name, value in fields.items()
            if value is not None and value is not False
        },
    )


class Played:
    """A turn whose agent sent these events, each in a read of its own, or all in one."""

    def __init__(
        self,
        dialect: Dialect,
        *frames: bytes,
        at_once: bool = False,
        native: bool = False,
        **asked: Any,
    ) -> None:
        options: StreamOptions = asked.pop("options_of_stream", StreamOptions(usage=True))
        given = {
            "text": "hi",
            "prompt_id": "p1",
            "session_id": "s1",
            "options": DialectOptions(model="m"),
        }
        self.protocol = dialect.prompt(PromptRequest(**{**given, **asked}))
        self.turn = Turn(self.protocol, Limits(), UIMessageStream(options))
        self.client = Client(native=native)
        self.written = b""
        self.now = 0.0
        self.requests = [json.loads(self.protocol.connect_request().body)]
        self._do(self.turn.handle(Opened(), self.now))
        self.tell(*frames, at_once=at_once)

    def tell(self, *frames: bytes, at_once: bool = False) -> "Played":
        reads = [frames] if at_once else [(frame,) for frame in frames]
        for read in reads:
            self._do(self.turn.frames(read, self.now))
        return self

    def leave(self) -> "Played":
        self._do(self.turn.handle(AgentLeft(), self.now))
        return self

    def wait(self, seconds: float) -> "Played":
        self.now += seconds
        self._do(self.turn.handle(Tick(), self.now))
        return self

    def reply(self, question_id: str, *, answer: Any) -> "Played":
        given = QuestionReply(question_id, Raw(json.dumps(answer).encode()))
        self._do(self.turn.handle(Replied(given, "u1"), self.now))
        return self

    def open_again(self) -> "Played":
        self._do(self.turn.handle(Opened(), self.now))
        return self

    @property
    def chunks(self) -> Sequence[dict[str, Any]]:
        lines = self.written.decode().split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

    @property
    def kinds(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    @property
    def left_out(self) -> dict[str, int]:
        return self.protocol.frame_stats.left_out

    def of_call(self, call_id: str = "c1") -> list[dict[str, Any]]:
        return [chunk for chunk in self.chunks if chunk.get("toolCallId") == call_id]

    def input_of(self, call_id: str = "c1") -> Any:
        (shown,) = [
            chunk for chunk in self.of_call(call_id) if chunk["type"] == "tool-input-available"
        ]
        return shown["input"]

    def _do(self, output: Output) -> None:
        self.written += output.to_client
        self.client.read(output.to_client)
        if output.connect is not None:
            self.requests.append(json.loads(output.connect.body))
