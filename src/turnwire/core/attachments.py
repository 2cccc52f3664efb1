"""The files that come with a prompt, checked before an agent is given them.

Clients send a `file` part for each, with a `data:` URL in base64 (measured;
wire/ui-message-stream 4.1). A file's type is read off its bytes: what its part
says decides only between types that the bytes may be. An `https:` URL is
passed on, never fetched, and only if its host is listed.
"""

import binascii
import re
import string
import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import sniff
from turnwire.core.bounds import HandedOn
from turnwire.core.steps import Steps
from turnwire.errors import BadRequest

FILENAME_MAX: Final = 255
"""Longest file name that is passed on, in characters."""

_HEADER_MAX: Final = 256
"""Longest beginning of a `data:` URL, up to its comma."""

_REMOTE_MAX: Final = 2_048
"""Longest `https:` URL."""

_ALPHABET: Final = (string.ascii_letters + string.digits + "+/").encode()

_DATA: Final = "data:"

_CHECKED: Final = 1_048_576
"""How much base64 is looked at in one go."""

_ESCAPES: Final = 100_000
"""Most escapes of a part, but for slashes. Base64 needs none, and to read millions takes long."""

_SNIFFED: Final = 64
"""How much base64 is decoded to look for a signature; a multiple of four."""

_ACTIVE: Final = frozenset({"image/svg+xml"})
"""Types that run code where they are shown: taken only if they are listed by name."""

_ANYTHING: Final = frozenset({"", "application/octet-stream"})
"""What a browser calls a file that it does not know."""

_MIME: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}")
_HTTPS: Final = re.compile(r"https://([A-Za-z0-9.-]{1,253})(?:[/?][!-\[\]-~]*)?", re.IGNORECASE)

_NO_TYPE: Final = "An attachment has no type, or a malformed one"
_NOT_TAKEN: Final = "An attachment is of a type that is not accepted"
_UNLIKE: Final = "An attachment is not what its type says"
_NO_URL: Final = "An attachment's URL is neither a data: URL nor one that is allowed"
_NO_BASE64: Final = "An attachment's data: URL is not valid base64"
_NO_TEXT: Final = "An attachment of a text type is not UTF-8, or has a NUL in it"


class Attachment(Struct, frozen=True):
    """A file. Its `url` holds it whole (`data:`), or is remote and of an allowed host."""

    mime: str
    url: str
    filename: str | None = None


class AttachmentLimits(Struct, frozen=True, kw_only=True):
    """What may be attached. Defaults are those of the settings."""

    count: int = 8
    """Most attachments of a prompt; 0: none are taken."""
    characters: int = 12_000_000
    """Longest URL of one, file and all."""
    types: Sequence[str] = ("image/*", "audio/*", "application/pdf", "text/*", "application/json")
    """MIME types; `kind/*` for all of a kind that are not active content."""
    hosts: Sequence[str] = ()
    """Hosts that a remote URL may name, in lower case."""

    def takes(self, mime: str) -> bool:
        """Whether files of this type may be attached."""
        if mime in self.types:
            return True
        return f"{mime.partition('/')[0]}/*" in self.types and mime not in _ACTIVE


class _File(Struct, rename="camel"):
    url: HandedOn
    media_type: HandedOn | None = None
    filename: HandedOn | None = None


_file = msgspec.json.Decoder(_File).decode


def reading(parts: Sequence[Raw], limits: AttachmentLimits) -> Steps[tuple[Attachment, ...]]:
    """Read the `file` parts of a message, in steps.

    Raises:
        BadRequest: one of them may not be attached, or they are too many.

    """
    if parts and not limits.count:
        raise BadRequest("Attachments are not accepted")
    if len(parts) > limits.count:
        raise BadRequest(f"There are more than {limits.count} attachments")
    read: list[Attachment] = []
    for part in parts:
        attachment = yield from _read(part, limits)
        read.append(attachment)
    return tuple(read)


def _read(part: Raw, limits: AttachmentLimits) -> Steps[Attachment]:
    data = bytes(part)
    if data.count(b"\\") - data.count(rb"\/") > _ESCAPES:  # a slash is written so by many
        raise BadRequest(_NO_BASE64)
    yield
    file = _file(data)
    del data
    url, declared = file.url, _essence(file.media_type or "")
    filename = _clean(file.filename)
    del file  # or it would hold the whole URL, which may be made anew
    yield
    if len(url) > limits.characters:
        raise BadRequest(f"An attachment is larger than {limits.characters} characters")
    if url[: len(_DATA)].lower() == _DATA:
        mime = yield from _held(url, declared)
        header = f"data:{mime};base64,"
        if not url.startswith(header):
            url = header + url[url.index(",") + 1 :]
    else:
        mime = _remote(url, declared, limits)
    if not limits.takes(mime):
        raise BadRequest(_NOT_TAKEN)
    return Attachment(mime, url, filename)


def _essence(mime: str) -> str:
    """A type in lower case, without parameters: a recorder says `audio/webm;codecs=opus`."""
    essence = mime.partition(";")[0].strip().lower()
    if essence and _MIME.fullmatch(essence) is None:
        raise BadRequest(_NO_TYPE)
    return essence


def _held(url: str, declared: str) -> Steps[str]:
    """A `data:` URL: the type of what it holds."""
    comma = url.find(",", 0, _HEADER_MAX)
    header = url[len(_DATA) : comma]
    if comma < 0 or not header.lower().endswith(";base64"):
        raise BadRequest(_NO_BASE64)
    payload = comma + 1
    if len(url) == payload:
        raise BadRequest("An attachment is empty")
    yield from _check_base64(url, payload)
    return _true_type(declared or _essence(header[: -len(";base64")]), url, payload)


def _check_base64(url: str, begin: int) -> Steps[None]:
    """See that it is strictly valid base64 from there. To decode it takes five times as long."""
    padding = b""
    for at in range(begin, len(url), _CHECKED):
        encoded = url[at : at + _CHECKED].encode()
        if padding:  # and something behind it
            raise BadRequest(_NO_BASE64)
        padding = encoded.translate(None, _ALPHABET)
        if padding not in {b"", b"=", b"=="} or not encoded.endswith(padding):
            raise BadRequest(_NO_BASE64)
        yield
    if (len(url) - begin) % 4:
        raise BadRequest(_NO_BASE64)


def _true_type(declared: str, url: str, payload: int) -> str:
    """The type of what stands in a URL in base64, from its `payload` on."""
    if sniff.is_textual(declared):
        if not sniff.is_text(binascii.a2b_base64(url[payload:])):
            raise BadRequest(_NO_TEXT)
        return declared
    found = sniff.types_of(binascii.a2b_base64(url[payload : payload + _SNIFFED]))
    if declared in _ANYTHING:
        if found:
            return found[0]
        if sniff.is_text(binascii.a2b_base64(url[payload:])):
            return "text/plain"
        raise BadRequest(_NOT_TAKEN)
    if declared in found:
        return declared
    kind = _kind(declared)
    for mime in found:
        if _kind(mime) == kind:
            return mime
    if found or sniff.has_signature(kind):
        raise BadRequest(_UNLIKE)
    return declared


def _kind(mime: str) -> str:
    """What one type may be taken for another of: a picture, a sound, a film; else itself."""
    kind = mime.partition("/")[0]
    return kind if sniff.has_signature(kind) else mime


def _remote(url: str, declared: str, limits: AttachmentLimits) -> str:
    """The type of a remote URL: `https:`, and an allowed host without a user or a port."""
    found = _HTTPS.fullmatch(url) if len(url) <= _REMOTE_MAX else None
    if found is None or found[1].lower() not in limits.hosts:
        raise BadRequest(_NO_URL)
    if not declared:
        raise BadRequest(_NO_TYPE)
    return declared


def _clean(filename: str | None) -> str | None:
    """A file name without a path and without what does not show; None if nothing is left of it.

    Invisible characters go too: one of them writes backwards, so that `gpj.exe` reads `exe.jpg`.
    """
    if not filename:
        return None
    last = re.split(r"[/\\]", filename[-2 * FILENAME_MAX :])[-1]
    shown = "".join(c for c in last if unicodedata.category(c) not in {"Cc", "Cf", "Zl", "Zp"})
    shown = shown.strip()[-FILENAME_MAX:]  # an ending is worth more than a beginning
    return shown if shown.strip(".") else None
