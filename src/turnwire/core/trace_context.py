"""W3C Trace Context: reads from the request headers which trace a request belongs to.

A malformed header is ignored, as if it were absent: it is not used and not passed on.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_PARENT: Final = re.compile(
    rb"(?P<version>(?!ff)[0-9a-f]{2})-(?P<trace>(?!0{32})[0-9a-f]{32})"
    rb"-(?P<span>(?!0{16})[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)
_MEMBER: Final = re.compile(
    r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
    r"=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
)

_MEMBERS_MAX: Final = 32
_STATE_MAX: Final = 512
"""Longest `tracestate` that is passed on, in characters."""


class TraceContext(Struct, frozen=True):
    """A trace, and the span in it that is the parent of the next span."""

    trace_id: str
    span_id: str
    flags: int = 0
    state: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that carry this context."""
        headers = {"traceparent": f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"}
        return {**headers, "tracestate": self.state} if self.state else headers


def read(parents: Sequence[bytes], states: Sequence[bytes]) -> TraceContext | None:
    """The context of a request, from all values of its headers `traceparent` and `tracestate`.

    None if there is no valid one.
    """
    if len(parents) != 1:
        return None
    match = _PARENT.fullmatch(parents[0].strip(b" \t"))
    if match is None or (match["version"] == b"00" and match["more"] is not None):
        return None
    return TraceContext(
        match["trace"].decode(), match["span"].decode(), int(match["flags"], 16), _state(states)
    )


def _state(states: Sequence[bytes]) -> str:
    """The `tracestate` to pass on: that of the client if all of it is valid, otherwise empty."""
    header = b",".join(states).decode("latin-1")
    members = [stripped for member in header.split(",") if (stripped := member.strip(" \t"))]
    keys = {member.partition("=")[0] for member in members}
    is_sound = len(members) == len(keys) <= _MEMBERS_MAX
    if not is_sound or not all(map(_MEMBER.fullmatch, members)):
        return ""
    while len(state := ",".join(members)) > _STATE_MAX:
        members.pop()
    return state
