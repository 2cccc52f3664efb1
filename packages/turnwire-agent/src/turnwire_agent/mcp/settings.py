"""Which MCP servers there are, how each is reached, and what it may send."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from turnwire_agent.llm.credentials.api_key import NoKey
from turnwire_agent.llm.credentials.port import Credential
from turnwire_agent.tools.contract import DESCRIPTION_MAX, TIMEOUT_S, Approval

CONNECT_S: Final = 30.0
SERVERS_MAX: Final = 50
"""Most servers of one agent."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


class BadServerError(ValueError):
    """Settings of a server that cannot be. The text is one line, for the operator."""


class Bounds(Struct, frozen=True, kw_only=True):
    """How much a server may send. It is somebody else's program."""

    tools: int = 200
    """Most tools. Those after them are left out, and that is a problem of the snapshot."""
    description_chars: int = DESCRIPTION_MAX
    """Most characters of the description of a tool. One with more is left out."""
    schema_bytes: int = 100_000
    """Most bytes of the schema of a tool, as JSON. One with more is left out."""
    result_chars: int = 200_000
    """Most characters of the text of a result. What is left out is counted in its place."""
    media_bytes: int = 5_000_000
    """Most bytes of the pictures of a result, together."""
    message_bytes: int = 16_000_000
    """Most bytes of one message. A server that sends more is disconnected."""


class Program(Struct, frozen=True, kw_only=True):
    """A server that is a program on this machine. It is started, and speaks over its pipes."""

    command: str
    arguments: Sequence[str] = ()
    variables: Mapping[str, str] = {}
    """Environment variables of the program, beside `stdio.PLAIN_VARIABLES`."""
    inherited: Sequence[str] = ()
    """Names of variables of this process that the program gets too. It gets no others: they may
    be keys."""
    folder: str | None = None
    """Where it runs; None: where this process does."""
    shows_errors: bool = False
    """Whether what it writes to stderr goes to that of this process. Else it goes nowhere."""

    def __repr__(self) -> str:
        return f"Program({self.command!r}, …)"


class Endpoint(Struct, frozen=True, kw_only=True):
    """A server that is reached by HTTP (`streamable HTTP`)."""

    url: str
    credential: Credential = NoKey()

    def __repr__(self) -> str:
        return "Endpoint(…)"


class Server(Struct, frozen=True, kw_only=True):
    """One server.

    Raises:
        BadServerError: its name is none, or a time is not above 0.
    """

    name: str
    """The part before the point in the names of its tools: letters, digits, `_`, `-`."""
    place: Program | Endpoint
    trusted: bool = False
    """Whether its hints count: tools that are read-only or idempotent are `Effect.SAFE` then. All
    tools of any other server are `Effect.ONCE`, since anybody can write a hint."""
    only: frozenset[str] | None = None
    """Names at the server of the tools that are wanted; None: all."""
    approval: Approval = "never"
    """Of each of its tools that is not in `approvals`."""
    approvals: Mapping[str, Approval] = {}
    """By names at the server."""
    call_s: float = TIMEOUT_S
    """Longest call."""
    connect_s: float = CONNECT_S
    """Longest time until it is connected, and until it has listed its tools."""
    bounds: Bounds = Bounds()

    def __post_init__(self) -> None:
        """Refuse what would fail later."""
        if not _NAME.fullmatch(self.name):
            raise BadServerError(
                f"MCP server {self.name[:60]!a}: a name has 1 to 32 letters, digits, _ and -"
            )
        if not (self.call_s > 0 and self.connect_s > 0):
            raise BadServerError(f"MCP server {self.name!r}: a time is more than 0 seconds")
