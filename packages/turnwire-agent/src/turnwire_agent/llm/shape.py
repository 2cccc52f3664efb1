"""The port of a wire: how a request is written, and how an answer is read."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from turnwire_agent.llm.events import Event
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.sse import ServerSentEvent


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
            UnsendableError: Something in the transcript cannot be sent on this wire, as a file of
                a type that it does not have. Nothing was sent.
        """
        ...

    def decoder(self, model: Model) -> Decoder:
        """A reader for one answer."""
        ...


class UnsendableError(ValueError):
    """A request has something that its wire cannot carry. The message names it."""
