"""Files and pages: what came with a prompt, in words, and what this agent can hand out itself."""

import binascii
import re
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from turnwire_lab.agents.common.wording import counted
from turnwire_lab.agents.v2.frames import Attachment
from turnwire_lab.agents.v2.parts import File, Source
from turnwire_lab.agents.v2.turn import Turn

SIDE: Final = 48
"""Of the picture, in pixels."""
QUOTED: Final = 80
"""Characters of a text file that are repeated."""

SOURCES: Final = (
    Source(
        "source-1", "https://www.rfc-editor.org/rfc/rfc6455", "RFC 6455: The WebSocket Protocol"
    ),
    Source(
        "source-2",
        "https://html.spec.whatwg.org/multipage/server-sent-events.html",
        "HTML Standard: Server-sent events",
    ),
)


def described(attachments: Sequence[Attachment]) -> str:
    """`2 files: a.png image/png 68 bytes, notes.txt text/plain 5 bytes ("hello")`."""
    files = ", ".join(_described(attachment) for attachment in attachments)
    return f"{counted(len(attachments), 'file')}: {files}"


def contents(url: str) -> bytes | None:
    """What a `data:` URL holds; None for another URL, or for one that cannot be read."""
    head, comma, body = url.partition(",")
    if not comma or not head.startswith("data:"):
        return None
    plain = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return plain
    try:
        return b64decode(plain, validate=True)
    except binascii.Error:
        return None


async def describe(turn: Turn, _found: re.Match[str]) -> None:
    if attachments := turn.prompt.attachments:
        await turn.say(f"You sent {described(attachments)}.\n")
    else:
        await turn.say("There is no file with your prompt.\n")


async def send_file(turn: Turn, found: re.Match[str]) -> None:
    await turn.say("Here it is. ")
    turn.hand_out(note() if found["kind"].lower() == "file" else picture())
    await turn.say("That was all I had.\n")


async def cite(turn: Turn, found: re.Match[str]) -> None:
    sources = SOURCES if found["two"] else SOURCES[:1]
    await turn.say("It is all written down. ")
    for source in sources:
        turn.cite(source)
    await turn.say(f"I looked at {counted(len(sources), 'page')} and understood neither.\n")


def note() -> File:
    text = b"Nothing in here was thought of by a model.\n"
    return File("text/plain", _data_url("text/plain", text), "note.txt")


def picture() -> File:
    """A PNG of two colours that run into each other."""
    rows = (
        bytes([0, *(byte for x in range(SIDE) for byte in (5 * x, 5 * y, 160))])
        for y in range(SIDE)
    )
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(kind, data) for kind, data in chunks)
    return File("image/png", _data_url("image/png", png), "picture.png")


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{b64encode(data).decode()}"


def _described(attachment: Attachment) -> str:
    name = f"{attachment.filename} " if attachment.filename else ""
    inside = contents(attachment.url)
    if inside is None:
        # Nothing is fetched: an agent in a test has no business on the network.
        return f"{name}{attachment.mime} at {urlsplit(attachment.url).hostname or 'nowhere'}"
    quoted = ""
    if attachment.mime.startswith("text/") and inside:
        first = inside.decode(errors="replace").splitlines()[0][:QUOTED]
        quoted = f' ("{first}")'
    return f"{name}{attachment.mime} {counted(len(inside), 'byte')}{quoted}"
