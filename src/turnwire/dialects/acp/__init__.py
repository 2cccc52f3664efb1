"""The `acp` dialect: the Agent Client Protocol, JSON-RPC over a WebSocket.

`Acp` names the dialect and its defaults, and makes the protocol or the operation of each request.
Read `turn` first, then `opening` and `progress`.
"""

from collections.abc import Iterable
from typing import Never

from turnwire.core.agent import Feature
from turnwire.core.body.conversation import Message, UnsayableError
from turnwire.core.operations import OperationName
from turnwire.core.requests import HistoryRequest, PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects.acp.history import HistoryOperation
from turnwire.dialects.acp.schema import SCHEMA
from turnwire.dialects.acp.turn import PromptProtocol


class Acp:
    """The dialect with the name `acp`."""

    name = "acp"
    transport = "websocket"
    operations = frozenset({OperationName.HISTORY})
    idle_s = 300.0
    """In seconds. A model that thinks, or a command that runs, may be silent for minutes."""
    features = frozenset(Feature) - {Feature.TOOL_INPUT, Feature.RETRACTS}
    schema = SCHEMA
    keeps_history = True
    names_sessions = True
    needs = frozenset({"agent_cwd"})
    request_fields = frozenset[str]()

    def write_message(self, _message: Message) -> Iterable[bytes]:
        raise UnsayableError("message")

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> PromptProtocol:
        return PromptProtocol(request)

    def read_history(self, request: HistoryRequest) -> HistoryOperation:
        return HistoryOperation(request)

    def _missing(self, _request: object, _member: Member | None = None) -> Never:
        raise NotImplementedError("this wire has no such operation")

    resume = stop = answer = _missing
