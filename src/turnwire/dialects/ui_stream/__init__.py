"""The `ui-stream` dialect: agents that answer `useChat` themselves, with a UI message stream.

`UiStream` names the dialect and its defaults, and makes the protocol of each prompt. Read `turn`
first, then `progress`. The agent keeps nothing that this wire could ask for, so it has no
operations.
"""

from collections.abc import Iterable
from typing import Never

from turnwire.core.agent import Feature
from turnwire.core.body.conversation import Message
from turnwire.core.operations import OperationName
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.ui_stream import messages
from turnwire.dialects.ui_stream.continuation import ContinuationProtocol
from turnwire.dialects.ui_stream.schema import SCHEMA
from turnwire.dialects.ui_stream.turn import PromptProtocol, TurnProtocol


class UiStream:
    """The dialect with the name `ui-stream`."""

    name = "ui-stream"
    transport = "http"
    operations = frozenset[OperationName]()
    features = frozenset(Feature) - {Feature.QUESTIONS, Feature.USAGE, Feature.RETRACTS}
    idle_s = 300.0
    """In seconds. A model that thinks, or a tool that runs, may be silent for minutes."""
    schema = SCHEMA
    keeps_history = False
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()

    def write_message(self, message: Message) -> Iterable[bytes]:
        return messages.write(message)

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> TurnProtocol:
        return PromptProtocol(request)

    def resume(self, request: ResumeRequest, _member: Member | None = None) -> TurnProtocol:
        return ContinuationProtocol(request)

    def _missing(self, _request: object) -> Never:
        raise NotImplementedError("this wire has no such operation")

    stop = answer = read_history = _missing
