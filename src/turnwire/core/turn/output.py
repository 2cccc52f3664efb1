"""The output of a `Turn` for one input: what the caller shall do now."""

from collections.abc import Callable, Sequence
from typing import Final, cast

from msgspec import Struct, structs

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
    ends_response: bool = False
    """With `disconnect_client`: `to_client` is the end of the response, which a client that reads
    shall get."""
    connect: ConnectRequest | None = None
    """Close the connection to the agent, if there is one, and open another by this request."""


NO_OUTPUT: Final = Output()


def joined(opened: Output, following: Callable[[], Output]) -> Output:
    """Return one output for a connection that opened and for what followed on it.

    Nothing follows on a connection after which another one is wanted.
    """
    if opened.connect is not None:
        return opened
    second = following()
    if opened is NO_OUTPUT:
        return second
    return structs.replace(
        second,
        to_client=opened.to_client + second.to_client,
        to_agent=(*opened.to_agent, *second.to_agent),
    )


def with_connect(
    to_client: bytes, to_agent: Sequence[bytes | ConnectRequest], *, is_over: bool
) -> Output:
    """Return an output with the request that is the last of `to_agent`, unless the turn is over."""
    *frames, connect = to_agent
    return Output(
        to_client,
        cast("list[bytes]", frames),
        connect=None if is_over else cast("ConnectRequest", connect),
    )
