"""What went wrong with a call of a model, in no provider's words.

A fault is a value: it is the last event of a stream, and the verdict of a call that never began.
`message` is the provider's sentence: for the log and the operator, never for a client of the
gateway.
"""

from typing import Final, Literal

from msgspec import Struct

FaultKind = Literal[
    "bad-request",
    "unauthorized",
    "forbidden",
    "not-found",
    "too-large",
    "context-overflow",
    "rate-limited",
    "quota",
    "overloaded",
    "server",
    "connection",
    "timeout",
    "truncated",
    "malformed",
    "refused",
]

TRANSIENT: Final[frozenset[FaultKind]] = frozenset(
    {"rate-limited", "overloaded", "server", "connection", "timeout", "truncated", "malformed"}
)
"""The same request may go well a moment later. All others need somebody to change something."""

MESSAGE_CHARS: Final = 2000


class Fault(Struct, frozen=True, kw_only=True):
    """Why there is no answer."""

    kind: FaultKind
    message: str = ""
    """The provider's own words, of at most `MESSAGE_CHARS`."""
    status: int = 0
    """Of the HTTP response; 0 if there was none, or if it was a 200 whose stream failed."""
    code: str = ""
    """The provider's own word, as `overloaded_error`; of at most 64 characters."""
    retry_after_s: float | None = None
    """What the provider asks us to wait."""

    @property
    def transient(self) -> bool:
        """Whether the same request may go well later."""
        return self.kind in TRANSIENT


def of_error(error: object, status: int = 0) -> Fault:
    """The fault that a provider's error object tells, of any of the four wires.

    Args:
        error: The decoded JSON: the envelope with its `error`, or what is in it.
        status: Of the HTTP response; 0 for an event in a stream.
    """
    raise NotImplementedError
