"""A conversation as its client tells it, for an agent that keeps none.

Use: `core.body.conversion` makes the messages of a chat request into these `Message`s, which no
wire owns. A dialect writes each in the words of its wire (`core.agent.Dialect.write_message`). The
`Conversation` that a protocol gets has what was written.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Raw, Struct

from turnwire.core.body.attachments import Attachment, AttachmentLimits


class ConversationLimits(Struct, frozen=True, kw_only=True):
    """How much of a conversation is sent."""

    messages: int = 500
    """Most messages of the client. The oldest are left out first, up to a message of the user."""
    with_system: bool = False
    """Whether the client's system messages are sent."""
    attachments: AttachmentLimits = AttachmentLimits()


class Text(Struct, frozen=True):
    text: str


class Reasoning(Struct, frozen=True):
    text: str


class File(Struct, frozen=True):
    attachment: Attachment


Part: TypeAlias = Text | Reasoning | File


class Call(Struct, frozen=True):
    """A call of a tool. `input` is JSON."""

    call_id: str
    name: str
    input: Raw


class Unresolved(Struct, frozen=True):
    """A call of the last message that has the error “No result”: its outcome may come later."""

    call: Call
    """As the client has it: its name and its input are the client's word. It has the id that the
    agent gave it: its card may have another."""
    sent_id: str
    """The id that it has where the agent is sent it."""
    place: int | None = None
    """The number of the item of `Conversation.written` that says so; None if no single one does."""


class Result(Struct, frozen=True):
    """The outcome of a call: JSON, or the text of an error."""

    message_id: str
    call_id: str
    name: str
    output: Raw | None
    error: str | None = None
    is_denied: bool = False


class UserMessage(Struct, frozen=True):
    message_id: str
    parts: tuple[Text | File, ...]


class SystemMessage(Struct, frozen=True):
    message_id: str
    text: str


class AssistantMessage(Struct, frozen=True):
    """One step. `calls` come after all of `parts`, and their results follow it.

    Only a call that waits for an approval has no result.
    """

    message_id: str
    parts: tuple[Part, ...]
    calls: tuple[Call, ...] = ()


Message: TypeAlias = UserMessage | SystemMessage | AssistantMessage | Result


class UnsayableError(Exception):
    """A wire has no words for some parts of a message; for the whole message, if none are named.

    `kind` says what they are, in a few words that are the same for all such parts: the client and
    the log get these words. A wire that has words for a call has words for its result.
    """

    def __init__(self, kind: str, parts: Collection[Part] = ()) -> None:
        super().__init__(kind)
        self.kind = kind
        self.parts = parts


Write: TypeAlias = Callable[[Message], Iterable[bytes]]
"""Writes a message in the words of a wire, see `core.agent.Dialect.write_message`. An empty item is
a pause."""


class Conversation(Struct, frozen=True):
    """What an agent is sent of a conversation."""

    written: Sequence[bytes]
    """The messages in order, in the words of the wire: each item as the dialect wrote it."""
    left_out: Mapping[str, int]
    """Counts what could not be said, by kind, for the log."""
    pending: Sequence[Call] = ()
    """The calls that wait for an approval, as the client has them: its name and its input are the
    client's word."""
    unresolved: Sequence[Unresolved] = ()
    """Calls beside them that had no outcome when the approvals were asked."""
    settled: Sequence[Call] = ()
    """The other calls of their message that get no outcome any more, as the client has them: each
    has its own, or a later one has its id."""

    @property
    def size(self) -> int:
        """How much memory the messages take, in bytes."""
        return sum(map(len, self.written))
