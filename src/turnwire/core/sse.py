r"""Chunk to record: the bytes of one SSE event.

A record is an optional `event:` line, one `data:` line of JSON and a blank
line. The AI SDK reads the `data` alone; the `event:` lines are what the RFC
asks for and what a person with curl likes to see.

JSON keeps CR, LF and the other control characters out of a record by itself.
U+0085, U+2028 and U+2029 end no line in SSE, but they do in the line splitters
of several languages (Python's `str.splitlines` among them), so they go out as
escapes too.
"""

import functools
from collections.abc import Iterable

import msgspec

from turnwire.core import chunks

KEEPALIVE = b": keepalive\n\n"
"""A comment. An empty or non-JSON `data:` would be an error in every client."""

DONE = b"data: [DONE]\n\n"

DELTA_END = b"}\n\n"

_EVENT_NAMES = {"start": "message-start", "finish": "message-finish"}

_json = msgspec.json.Encoder().encode


def one_line(json: bytes) -> bytes:
    """Escape what some line splitter takes for the end of a line. In ASCII there is none."""
    return (
        json.replace(b"\xe2\x80\xa8", b"\\u2028")
        .replace(b"\xe2\x80\xa9", b"\\u2029")
        .replace(b"\xc2\x85", b"\\u0085")
    )


def record(chunk: chunks.Chunk, *, event_line: bool = True) -> bytes:
    """The record of one chunk; behind `finish` comes `data: [DONE]`.

    Raises:
        UnicodeEncodeError: a string holds half of a surrogate pair. The
            translator mends its strings (`core.harmless`), so this is a bug.

    """
    kind = type(chunk)
    end = DONE if kind is chunks.Finish else b""
    json = _json(chunk)
    if not json.isascii():
        json = one_line(json)
    return b"%bdata: %b\n\n%b" % (_named(kind, event_line), json, end)


@functools.cache
def _named(kind: type[chunks.Chunk], event_line: bool) -> bytes:  # noqa: FBT001 (a cache's key)
    """The `event:` line of a chunk of this class, if there is to be one: made once for each."""
    tag = str(kind.__struct_config__.tag)
    return f"event: {_EVENT_NAMES.get(tag, tag)}\n".encode() if event_line else b""


def delta_prefix(block_id: str, *, event_line: bool = True) -> bytes:
    """All of a `text-delta` record that comes before its delta; `DELTA_END` comes after it."""
    whole = record(chunks.TextDelta(block_id, ""), event_line=event_line)
    return whole.removesuffix(b'""' + DELTA_END)


def deltas(prefix: bytes, texts: Iterable[str]) -> bytes:
    """The records of text deltas in a row; `prefix` is the `delta_prefix` of their block.

    What is done here for each of them is done by C alone: encoded, and put in between.

    Raises:
        UnicodeEncodeError: a text holds half of a surrogate pair.

    """
    between = DELTA_END + prefix
    records = prefix + between.join(map(_json, texts)) + DELTA_END
    return records if records.isascii() else one_line(records)
