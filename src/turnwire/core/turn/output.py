"""The output of a `Turn` for one input: what the caller shall do now."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from turnwire.core.connect import ConnectRequest


class Output(Struct, frozen=True):
    """What the caller shall do now. The response headers go out before the first write."""

    to_client: bytes = b""
    """Bytes to write to the client."""
    to_agent: Sequence[bytes] = ()
    """Text frames to send to the agent."""
    disconnect_client: bool = False
    """Close the client's connection, although it has not read all bytes, and read from the agent
    again."""
    connect: ConnectRequest | None = None
    """Close the connection to the agent, if there is one, and open another by this request."""


NO_OUTPUT: Final = Output()
