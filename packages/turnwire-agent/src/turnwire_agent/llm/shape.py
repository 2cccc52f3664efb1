"""The port of a wire: how a request is written, and how an answer is read."""

from collections.abc import Sequence
from typing import Protocol

import msgspec
from msgspec import Raw, Struct

from turnwire_agent.llm.events import Event
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.sse import ServerSentEvent
from turnwire_agent.llm.transcript import Assistant


class Encoded(Struct, frozen=True):
    """A request in the words of a wire: a POST of JSON."""

    path: str
    """Behind `Model.base_url`, as `/chat/completions`."""
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    """What the wire wants beside the content type and the credential."""
    losses: tuple[Loss, ...] = ()


class Decoder(Protocol):
    """Reads one answer. After a `Finish` or a `Fault` it says nothing more."""

    def event(self, event: ServerSentEvent) -> Sequence[Event]:
        """What one event of the stream says. It never raises for what a server sends."""
        ...

    def end(self) -> Sequence[Event]:
        """The body ended: a `Fault` (`truncated`), unless the answer is over."""
        ...


class Shape(Protocol):
    """A provider's wire."""

    def encode(self, model: Model, request: Request) -> Encoded:
        """Write a request.

        Raises:
            UnsendableError: Something in the last message, which is a user's, cannot be sent on
                this wire, as a file of a type that it does not have. Nothing was sent. What is in
                the messages before it never ends a conversation: a text names it, and a loss.
        """
        ...

    def decoder(self, model: Model, made_ids: str = "call") -> Decoder:
        """A reader for one answer.

        Args:
            model: Whose answer it is.
            made_ids: Ids of calls that the provider gives none begin with it, as `call-0`. A turn
                and a step in it make them the same in a process that resumes.
        """
        ...


def native_blocks(message: Assistant, model: Model) -> list[Raw] | None:
    """The blocks that go back unchanged, if this very model made them; else None."""
    native = message.native
    made_by = native and (native.shape, native.provider, native.model)
    if native is None or made_by != (model.shape, model.provider, model.name):
        return None
    return msgspec.json.decode(native.blocks, type=list[Raw])


class UnsendableError(ValueError):
    """A request has something that its wire cannot carry. The message names it."""
