"""What a conversation with the gateway asks of its shell, and what it gets for it.

A conversation is a generator (`sending.py`): it yields one step after the other, and the shell
(`client.py`, `async_client.py`) sends back what came of it. An event is a step, too: the shell
hands it to the program, and sends back nothing.
"""

from collections.abc import Generator, Mapping
from typing import TypeAlias, TypeVar

from msgspec import Struct

from turnwire_client.events import Event
from turnwire_client.requests import Request

Result = TypeVar("Result")


class Open(Struct, frozen=True):
    """Send a request. Gets a `Reply` or `Broken`. The body of an event stream is left open."""

    request: Request


class Read(Struct, frozen=True):
    """Read some bytes of the open body. Gets bytes, none at its end, or `Broken`."""


class Close(Struct, frozen=True):
    """Close the open body. Gets None."""


class Wait(Struct, frozen=True):
    """Wait for so many seconds. Gets None."""

    seconds: float


class Reply(Struct, frozen=True):
    """An answer. `body` is empty if it is open; `headers` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_open: bool = False


class Broken(Struct, frozen=True):
    """No answer, or no more of it. `is_sent`: the gateway may have the request."""

    is_sent: bool


Step: TypeAlias = Open | Read | Close | Wait | Event
Outcome: TypeAlias = Reply | Broken | bytes | None
Steps: TypeAlias = Generator[Step, Outcome, Result]
