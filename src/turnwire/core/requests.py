"""What a protocol or an operation is asked to do: the five requests, and the channel they are for.

The web layer makes a request from an HTTP request. A dialect gets it with the connection that
carries it out (`core.agent.Dialect`).
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import Conversation
from turnwire.core.events import Event
from turnwire.core.terms import Terms


class Channel(Struct, frozen=True):
    """A thread of work inside a session."""

    type: str
    id: str


DEFAULT_CHANNEL: Final = Channel("web", "default")
"""The channel of a request that names none. Both wires mean the same one."""


class StateMode(enum.Enum):
    """What a client is sent of an agent's state and of the results of its runs.

    Both may hold conversations, and secrets.
    """

    OFF = "off"
    TRANSIENT = "transient"
    """It is shown at once, and never enters the message."""
    PARTS = "parts"
    """The latest state is a part of the message."""


class DialectOptions(Struct, frozen=True, kw_only=True):
    """What the settings change in a dialect. A dialect reads those that its wire has a use for."""

    state: StateMode = StateMode.OFF
    sends_history: bool = True
    """Whether each request has the whole conversation, since the agent keeps none."""
    names_previous_response: bool = False
    """Whether a request continues the agent's last response, and names it by its id."""
    has_turn_log: bool = True
    """Whether a turn log brings an answer to the turn that asks."""
    model: str = ""
    """The name of the model that requests have."""
    fields: Mapping[str, Raw] = {}
    """Fields that the operator adds to each request, or to a greeting (`TURNWIRE_AGENT_REQUEST`). A
    token that the wire has in its frames is one of them. No recording has these values."""
    cwd: str = ""
    """The working directory that the agent's sessions have."""


def _ignore(_session_id: str) -> None:
    """Keep nothing."""


def _nothing() -> None:
    """There is nothing to forget."""


class AgentSession(Struct, frozen=True, kw_only=True):
    """The agent's own session for a channel, on a wire whose agent names its sessions itself."""

    known: str | None = None
    """The agent's id of the session that was kept for this channel; None: none was."""
    keep: Callable[[str], object] = _ignore
    """Keep the id of a session, for the next request of this channel. It never blocks."""
    forget: Callable[[], object] = _nothing
    """Keep none any more: the agent has no such session. It never blocks."""


class AgentRequest(Struct, frozen=True, kw_only=True):
    """Base of the requests: who asks, and on which channel."""

    user_id: str
    session_id: str = ""
    channel: Channel = DEFAULT_CHANNEL
    options: DialectOptions = DialectOptions()
    agent_session: AgentSession = AgentSession()
    """Set only for a dialect that has `names_sessions`."""


class PromptRequest(AgentRequest, frozen=True, kw_only=True):
    """A prompt for the agent, from one HTTP request."""

    user_id: str = ""
    text: str
    prompt_id: str
    """The gateway makes it for this request. An agent that supports it sends it back in its
    echo."""
    client_message_id: str | None = None
    """The client's id of the message. It shows that a POST is a retry of an earlier one."""
    attachments: tuple[Attachment, ...] = ()
    regenerates: bool = False
    """Whether the prompt was sent before, and a new answer shall replace the old one."""
    replaces: str | None = None
    """The client's id of the message that this prompt replaces. If `regenerates`, that is the old
    answer; otherwise it is the prompt as it was before the user edited it."""
    has_earlier: bool = False
    """Whether the client has messages before this one."""
    conversation: Conversation | None = None
    """What the agent is sent: what the client says was said, with this prompt as its end. It holds
    the text and the files too, so `attachments` is empty. None: the dialect has `keeps_history`."""

    def without_attachments(self) -> "PromptRequest":
        """The same request without its files and its conversation, to keep after they are sent."""
        if not self.attachments and self.conversation is None:
            return self
        return msgspec.structs.replace(self, attachments=(), conversation=None)


class QuestionReply(Struct, frozen=True):
    """The answer to an open question."""

    question_id: str
    answer: Raw
    """JSON."""
    subject: bytes | None = None
    """Digest of what the user approved (`core.approvals.subject`), or None if it is unknown. If
    set, the answer is sent only if the open question has this digest."""


class ResumeRequest(AgentRequest, frozen=True, kw_only=True):
    """Which turn to follow: the one that runs or waits on a channel, of any user.

    With `replies` it is the turn that asked these questions, and events before its
    last question are not sent again.
    """

    init_s: float
    """How long to wait for the agent's `init` frame, in seconds."""
    replies: Sequence[QuestionReply] = ()
    terms: Terms = Terms()
    """The rules that the replies must meet."""
    conversation: Conversation | None = None
    """With replies: what the client says was said, up to the message that holds the questions. Its
    calls that wait for one of the replies are `pending`. None: as for a prompt."""
    message_id: str | None = None
    """With replies: the client's id of the message that holds the questions."""
    waiting: Sequence[Event] | None = None
    """With replies: the events of the turn that waits, if a turn log kept them. Deltas in a row are
    one event. Then the protocol returns what is new alone, and the caller repeats the rest."""
    prompt_id: str | None = None
    """If set, only the turn of this prompt is followed. Not every agent names the prompt of a
    turn."""


class OperationRequest(AgentRequest, frozen=True, kw_only=True):
    """Base of the requests for an operation: how long it may wait. Times are in seconds."""

    init_s: float
    """Longest wait for the `init` frame. If none comes, the operation goes on without it where that
    is safe."""
    verdict_s: float
    """Longest wait for the agent's reply."""


class StopRequest(OperationRequest, frozen=True, kw_only=True):
    """Stop the turn `turn_id`; if that is None, the turn that runs on the channel."""

    turn_id: str | None = None


class AnswerRequest(OperationRequest, frozen=True, kw_only=True):
    """Answer an open question."""

    reply: QuestionReply
    terms: Terms = Terms()
    """The rules that the reply must meet."""


class HistoryRequest(OperationRequest, frozen=True, kw_only=True):
    """Read the messages of a channel, in order: the last `limit` ones before the id `before`."""

    limit: int
    before: str | None = None
    is_answer_under_way: bool = False
    """Whether the turn log has the last answer, and a resume brings it: it runs, it waits, or its
    client did not get its end. If the agent's history has this answer too, leave it out there."""
