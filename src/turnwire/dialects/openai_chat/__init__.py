"""The `openai-chat` dialect: agents behind the Chat Completions API, over HTTP.

`OpenAiChat` names the dialect and its defaults, and makes the protocol of each prompt. Read `turn`
first, then `progress`. The tools of such an agent run upstream: it is sent none. The agent keeps
nothing that this wire could ask for, so it has no operations.
"""

from collections.abc import Iterable
from typing import Never

from turnwire.core.agent import Feature
from turnwire.core.body.conversation import Message
from turnwire.core.operations import OperationName
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.openai_chat import commands, messages
from turnwire.dialects.openai_chat.schema import SCHEMA
from turnwire.dialects.openai_chat.turn import TurnProtocol


class OpenAiChat:
    """The dialect with the name `openai-chat`."""

    name = "openai-chat"
    transport = "http"
    operations = frozenset[OperationName]()
    features = frozenset(Feature) - {Feature.QUESTIONS, Feature.APPROVALS, Feature.RETRACTS}
    idle_s = 300.0
    """In seconds. A model that thinks, or a tool of an agent, may be silent for minutes."""
    schema = SCHEMA
    keeps_history = False
    names_sessions = False
    needs = frozenset({"agent_auth", "agent_model"})
    """The user's token is for no model host, unless the operator says so."""
    request_fields = commands.FIELDS

    def write_message(self, message: Message) -> Iterable[bytes]:
        return messages.write(message)

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> TurnProtocol:
        return TurnProtocol(request)

    def resume(self, _request: ResumeRequest, _member: Member | None = None) -> Never:
        """Refuse the answers: a turn on this wire asks nothing.

        Raises:
            RejectedError: always.

        """
        raise RejectedError(Rejection.CLOSED)

    def _missing(self, _request: object) -> Never:
        raise NotImplementedError("this wire has no such operation")

    stop = answer = read_history = _missing
