r"""Encodes chunks as records: the bytes of server-sent events.

Use: `record(chunk)` for any chunk; `delta_prefix` and `deltas` for many text deltas in a row.

A record is an optional `event:` line, one `data:` line of JSON and a blank
line. The AI SDK reads the `data` alone. The RFC asks for the `event:` lines, and
a person who uses curl can read them.

JSON escapes CR, LF and the other control characters, so a record holds none of them.
U+0085, U+2028 and U+2029 do not end a line in SSE, but they do in the line splitters
of several languages (Python's `str.splitlines` among them), so they are sent as
escapes too.
"""

import functools
from collections.abc import Iterable

import msgspec

from turnwire.core.ui_stream import chunks

KEEPALIVE = b": keepalive\n\n"
"""A comment of SSE. An empty or non-JSON `data:` would be an error in every client."""

DONE = b"data: [DONE]\n\n"

DELTA_END = b"}\n\n"

_EVENT_NAMES = {"start": "message-start", "finish": "message-finish"}

_json = msgspec.json.Encoder().encode


def one_line(json: bytes) -> bytes:
    """Escape the characters that some line splitters take for line ends. None of them is ASCII."""
    return (
        json.replace(b"\xe2\x80\xa8", b"\\u2028")
        .replace(b"\xe2\x80\xa9", b"\\u2029")
        .replace(b"\xc2\x85", b"\\u0085")
    )


def record(chunk: chunks.Chunk, *, event_line: bool = True) -> bytes:
    """Return the record of one chunk; for `finish`, with `data: [DONE]` after it.

    Raises:
        UnicodeEncodeError: a string holds half of a surrogate pair. The
            translator joins the pairs of its strings (`core.safe_json`), so this is a bug.

    """
    begin, end = _around(type(chunk), event_line)
    json = _json(chunk)
    if not json.isascii():
        json = one_line(json)
    if not begin and isinstance(chunk, chunks.DataPart):  # each has a type of its own
        begin = f"event: {chunk.type}\ndata: ".encode()
    return begin + json + end


@functools.cache
def _around(kind: type[chunks.Chunk], event_line: bool) -> tuple[bytes, bytes]:  # noqa: FBT001 (a cache's key)
    """Return what comes before and behind the JSON of a chunk of this class.

    Nothing comes before a `DataPart` with an `event:` line: the line depends on the chunk.
    """
    end = b"\n\n" + DONE if kind is chunks.Finish else b"\n\n"
    if not event_line:
        return b"data: ", end
    if kind is chunks.DataPart:
        return b"", end
    tag = str(kind.__struct_config__.tag)
    return f"event: {_EVENT_NAMES.get(tag, tag)}\ndata: ".encode(), end


def delta_prefix(block_id: str, *, event_line: bool = True) -> bytes:
    """Return a `text-delta` record up to its delta; `DELTA_END` comes after the delta."""
    empty_record = record(chunks.TextDelta(block_id, ""), event_line=event_line)
    return empty_record.removesuffix(b'""' + DELTA_END)


def deltas(prefix: bytes, texts: Iterable[str]) -> bytes:
    """Return the records of text deltas in a row; `prefix` is the `delta_prefix` of their block.

    C code alone does the work for each delta: it encodes the delta and joins the records.

    Raises:
        UnicodeEncodeError: a text holds half of a surrogate pair.

    """
    between = DELTA_END + prefix
    records = prefix + between.join(map(_json, texts)) + DELTA_END
    return records if records.isascii() else one_line(records)
