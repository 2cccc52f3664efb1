"""A turn on the `acp` wire, and the client that reads it."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from support import acp_messages as f
from turnwire.core.requests import (
    AgentSession,
    DialectOptions,
    PromptRequest,
    QuestionReply,
)
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Opened, Replied, Stopped, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.acp import Acp
from turnwire.testing.client_model import Client

TURN = "p1"


class Played:
    """A turn whose agent sent these messages, each in a read of its own, or all in one."""

    def __init__(
        self,
        *messages: bytes,
        known: str | None = None,
        at_once: bool = False,
        has_turn_log: bool = True,
        **asked: Any,
    ) -> None:
        self.kept: list[str] = []
        """The sessions that were kept, and forgotten, in turn."""
        given = {"text": "hi", "prompt_id": TURN, "session_id": "s1", **asked}
        session = AgentSession(
            known=known, keep=self.kept.append, forget=lambda: self.kept.append("forgotten")
        )
        options = DialectOptions(cwd="/work", has_turn_log=has_turn_log)
        self.protocol = Acp().prompt(
            PromptRequest(**{**given, "agent_session": session, "options": options})
        )
        self.turn = Turn(self.protocol, Limits(), UIMessageStream(StreamOptions(usage=True)))
        self.client = Client()
        self.written = b""
        self.sent: list[dict[str, Any]] = []
        self.do(self.turn.handle(Opened(), 0))
        self.tell(*messages, at_once=at_once)

    def tell(self, *messages: bytes, at_once: bool = False) -> "Played":
        for read in [messages] if at_once else [(each,) for each in messages]:
            self.do(self.turn.frames(read, 0))
        return self

    def wait(self) -> "Played":
        """Nothing comes until the protocol's deadline."""
        self.do(self.turn.handle(Tick(), self.protocol.deadline))
        return self

    def leave(self) -> "Played":
        self.do(self.turn.handle(AgentLeft(), 0))
        return self

    def stop(self) -> "Played":
        self.do(self.turn.handle(Stopped(), 0))
        return self

    def hang_up(self) -> "Played":
        self.do(self.turn.handle(ClientLeft(), 0))
        return self

    def reply(self, question_id: str, answer: Any) -> "Played":
        given = QuestionReply(question_id, Raw(json.dumps(answer).encode()))
        self.do(self.turn.handle(Replied(given, "u1"), 0))
        return self

    @property
    def methods(self) -> list[str]:
        return [each["method"] for each in self.sent if "method" in each]

    @property
    def chunks(self) -> Sequence[dict[str, Any]]:
        lines = self.written.decode().split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

    @property
    def kinds(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    def of_call(self, call_id: str = "c1") -> list[dict[str, Any]]:
        return [chunk for chunk in self.chunks if chunk.get("toolCallId") == call_id]

    @property
    def statuses(self) -> list[str]:
        found = (c["data"] for c in self.chunks if c["type"] == "data-agent-status")
        return [status["detail"] for status in found]

    @property
    def questions(self) -> list[dict[str, Any]]:
        return [c["data"] for c in self.chunks if c["type"] == "data-question"]

    def do(self, output: Output) -> None:
        self.written += output.to_client
        self.client.read(output.to_client)
        self.sent += [json.loads(each) for each in output.to_agent]


def begun(*messages: bytes, **asked: Any) -> Played:
    """A turn whose prompt was sent."""
    return Played(*f.OPENED, *messages, **asked)
