"""The port of a connected server: what is asked of the library, in plain JSON."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from msgspec import Struct

from turnwire_agent.mcp.settings import Server


class Listed(Struct, frozen=True):
    """What a server says that it has."""

    tools: tuple[Mapping[str, Any], ...]
    """As on the wire. At most one more than the bounds allow."""


class Session(Protocol):
    """A server that is connected."""

    def changed(self) -> bool:
        """Whether the server said that its tools changed, since it was asked last."""
        ...

    async def list_tools(self) -> Listed:
        """Ask which tools there are.

        Raises:
            GoneError, SilentError, ProtocolError: there is no answer.
        """
        ...

    async def call(
        self, name: str, arguments: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        """Call a tool and return the result as on the wire.

        A caller that is cancelled, or that waits for too long, cancels the call at the server.

        Raises:
            GoneError, SilentError, QuestionError, ProtocolError: there is no result.
        """
        ...

    async def gone(self) -> None:
        """Wait until the server is not there any more."""
        ...


class Connect(Protocol):
    """Connects a server for as long as the context lasts.

    Entering, and leaving, raise `GoneError` if the server cannot be reached, or is lost.
    """

    def __call__(self, server: Server) -> AbstractAsyncContextManager[Session]: ...
