"""W3C Trace Context: which trace a request belongs to, as its headers say.

What is malformed is as good as not there: it is neither believed nor passed on.
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
    """A trace, and the span in it that is the parent of what comes next."""

    trace_id: str
    span_id: str
    flags: int = 0
    state: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that say so."""
        told = {"traceparent": f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"}
        return {**told, "tracestate": self.state} if self.state else told


def read(parents: Sequence[bytes], states: Sequence[bytes]) -> TraceContext | None:
    """The context that a request came with, of all values of its two headers."""
    if len(parents) != 1:
        return None
    found = _PARENT.fullmatch(parents[0].strip(b" \t"))
    if found is None or (found["version"] == b"00" and found["more"] is not None):
        return None
    return TraceContext(
        found["trace"].decode(), found["span"].decode(), int(found["flags"], 16), _state(states)
    )


def _state(states: Sequence[bytes]) -> str:
    """What systems on the way want to know again. All of it, or nothing."""
    told = b",".join(states).decode("latin-1")
    members = [stripped for member in told.split(",") if (stripped := member.strip(" \t"))]
    keys = {member.partition("=")[0] for member in members}
    sound = len(members) == len(keys) <= _MEMBERS_MAX
    if not sound or not all(map(_MEMBER.fullmatch, members)):
        return ""
    while len(state := ",".join(members)) > _STATE_MAX:
        members.pop()
    return state
