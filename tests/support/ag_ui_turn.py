"""A turn on the `ag-ui` wire, and the client that reads it."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from support import ag_ui_frames as f
from turnwire.core.agent import Decoded, Dialect
from turnwire.core.events import Event
from turnwire.core.requests import DialectOptions, PromptRequest, QuestionReply, StateMode
from turnwire.core.turn.inputs import AgentLeft, Opened, Replied, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ag_ui import AgUi
from turnwire.dialects.ag_ui.turn import TurnProtocol
from turnwire.testing.client_model import Client


def protocol(*told: bytes, state: StateMode = StateMode.OFF, **asked: Any) -> TurnProtocol:
    """A protocol whose run began, and that received these events."""
    given = {"text": "hi", "prompt_id": f.RUN, "session_id": "s1", "client_message_id": "u1"}
    options = DialectOptions(state=state)
    made = AgUi().prompt(PromptRequest(**{**given, "options": options, **asked}))
    made.connection_opened(0)
    for frame in (f.started(), *told):
        made.receive_frame(frame, 0)
    return made


def plain(told: Decoded | str | None) -> Any:
    """What an event told, with raw JSON as bytes, so that it compares."""
    if told is None or isinstance(told, str):
        return told
    return [plain_event(event) for event in told.events]


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
    """A turn whose agent told these events, each in a read of its own, or all in one."""

    dialect: Dialect = AgUi()

    def __init__(
        self, *frames: bytes, at_once: bool = False, native: bool = False, **asked: Any
    ) -> None:
        options: StreamOptions = asked.pop("options_of_stream", StreamOptions(usage=True))
        given = {"text": "hi", "prompt_id": f.RUN, "session_id": "s1"}
        self.protocol = self.dialect.prompt(PromptRequest(**{**given, **asked}))
        self.turn = Turn(self.protocol, Limits(), UIMessageStream(options))
        self.client = Client(native=native)
        self.written = b""
        self.now = 0.0
        self.requests = [self.body(self.protocol.connect_request().body)]
        self._do(self.turn.handle(Opened(), self.now))
        self.tell(*frames, at_once=at_once)

    def body(self, sent: bytes) -> Any:
        return json.loads(sent)

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

    def reply(self, question_id: str, answer: Any) -> "Played":
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

    def of_call(self, call_id: str = "c1") -> list[dict[str, Any]]:
        return [chunk for chunk in self.chunks if chunk.get("toolCallId") == call_id]

    def calls(self) -> dict[str, Any]:
        """Each call's input and its outcome, as the client has them."""
        return {
            part["toolCallId"]: (part.get("input"), part.get("output", part.get("errorText")))
            for part in self.client.parts
            if part["type"].startswith("tool-")
        }

    def _do(self, output: Output) -> None:
        self.written += output.to_client
        self.client.read(output.to_client)
        if output.connect is not None:
            self.requests.append(self.body(output.connect.body))
