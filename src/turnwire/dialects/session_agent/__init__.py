"""The `session-agent` dialect: the wire that agent-ops and valet speak with a client socket.

`SessionAgent` holds the name and the defaults of the dialect, and makes a protocol or an
operation for each request. The reference is docs/wire/session-agent.md (docs/session-agent.md is
the page for users): "page 6" in this package is section 6 of the reference. The package supports
three revisions of the wire (R, A, V). It recognises the revision by the frames that the agent
sends, so there is no setting for it. To read the package, start with `turn`, then `binding`.
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
from turnwire.dialects.session_agent.answer import AnswerOperation
from turnwire.dialects.session_agent.continuation import ContinuationProtocol
from turnwire.dialects.session_agent.history import HistoryOperation
from turnwire.dialects.session_agent.resume import ResumeProtocol
from turnwire.dialects.session_agent.schema import SCHEMA
from turnwire.dialects.session_agent.stop import StopOperation
from turnwire.dialects.session_agent.turn import TurnProtocol


class SessionAgent:
    """The dialect with the name `session-agent`."""

    name = "session-agent"
    transport = "websocket"
    operations = frozenset(OperationName)
    features = frozenset({Feature.FILES_SENT, Feature.QUESTIONS})
    idle_s = 330.0
    """In seconds. A question waits for 300 s, and a model may be silent for as long (page 1, row
    14)."""
    schema = SCHEMA
    keeps_history = True
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()

    def write_message(self, _message: Message) -> Iterable[bytes]:
        raise UnsayableError("message")

    def prompt(self, request: PromptRequest, member: Member | None = None) -> TurnProtocol:
        return TurnProtocol(request, member or Member())

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
