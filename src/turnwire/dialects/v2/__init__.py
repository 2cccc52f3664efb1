"""The `v2` dialect: the wire of docs/v2.md. Every socket of a session gets every frame.

`V2` names the dialect and its defaults, and makes the protocol or the operation of
each request. Read `turn` first, then `binding`.
"""

from collections.abc import Iterable

from turnwire.core.agent import Feature
from turnwire.core.body.conversation import Message, UnsayableError
from turnwire.core.operations import OperationName
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    ResumeRequest,
    StopRequest,
)
from turnwire.core.session_group import Member
from turnwire.dialects.v2.answer import AnswerOperation
from turnwire.dialects.v2.continuation import ContinuationProtocol
from turnwire.dialects.v2.history import HistoryOperation
from turnwire.dialects.v2.resume import ResumeProtocol
from turnwire.dialects.v2.schema import SCHEMA
from turnwire.dialects.v2.stop import StopOperation
from turnwire.dialects.v2.turn import PromptProtocol


class V2:
    """The dialect named `v2`."""

    name = "v2"
    transport = "websocket"
    operations = frozenset(OperationName)
    features = frozenset(Feature)
    idle_s = 120.0
    schema = SCHEMA
    keeps_history = True
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()

    def write_message(self, _message: Message) -> Iterable[bytes]:
        raise UnsayableError("message")

    def prompt(self, request: PromptRequest, member: Member | None = None) -> PromptProtocol:
        return PromptProtocol(request, member or Member())

    def resume(self, request: ResumeRequest, member: Member | None = None) -> ResumeProtocol:
        return (ContinuationProtocol if request.replies else ResumeProtocol)(
            request, member or Member()
        )

    def stop(self, request: StopRequest) -> StopOperation:
        return StopOperation(request)

    def answer(self, request: AnswerRequest) -> AnswerOperation:
        return AnswerOperation(request)

    def read_history(self, request: HistoryRequest) -> HistoryOperation:
        return HistoryOperation(request)
