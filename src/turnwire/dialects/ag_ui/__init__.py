"""The `ag-ui` dialect: AG-UI over HTTP, one request and its stream of events for each run.

`AgUi` names the dialect and its defaults, and makes the protocol of each prompt. Read `turn` first,
then `progress`. The agent keeps nothing that this wire could ask for, so it has no operations.
"""

from collections.abc import Iterable
from typing import Never

from turnwire.core.agent import Feature
from turnwire.core.body.conversation import Message
from turnwire.core.operations import OperationName
from turnwire.core.requests import (
    PromptRequest,
    ResumeRequest,
)
from turnwire.core.session_group import Member
from turnwire.dialects.ag_ui import messages
from turnwire.dialects.ag_ui.continuation import ContinuationProtocol
from turnwire.dialects.ag_ui.schema import SCHEMA
from turnwire.dialects.ag_ui.turn import PromptProtocol, TurnProtocol


class AgUi:
    """The dialect with the name `ag-ui`."""

    name = "ag-ui"
    transport = "http"
    operations = frozenset[OperationName]()
    features = frozenset(Feature) - {Feature.FILES_MADE, Feature.SOURCES, Feature.RETRACTS}
    idle_s = 300.0
    """In seconds. A model that thinks, or a node of a graph, may be silent for minutes."""
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
