"""Checks the files of a prompt before they go to an agent.

Use: `read_in_steps(parts, limits)` returns an `Attachment` for each `file` part.

Clients send a `file` part for each file, with a `data:` URL in base64 (measured;
wire/ui-message-stream 4.1). The type of a file is read from its bytes. The type that the
part declares decides only between types that the bytes may be. An `https:` URL is
passed on if its host is listed. The gateway never fetches it.
"""

import binascii
import re
import string
import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.body import mime_sniff
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

_DATA_SCHEME: Final = "data:"

_CHECK_CHARS: Final = 1_048_576
"""Characters of base64 that are checked in one go."""

_ESCAPES_MAX: Final = 100_000
"""Most escapes of a part, without slashes. Base64 needs none, and millions are slow to decode."""

_SNIFF_CHARS: Final = 64
"""Characters of base64 that are decoded to look for a signature; a multiple of four."""

_ACTIVE_TYPES: Final = frozenset({"image/svg+xml"})
"""Types that can run code in a browser. They are accepted only if they are listed by name."""

_UNKNOWN_TYPES: Final = frozenset({"", "application/octet-stream"})
"""The types that a browser declares for a file of a type that it does not know."""

_MIME: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}")
_HTTPS: Final = re.compile(r"https://([A-Za-z0-9.-]{1,253})(?:[/?][!-\[\]-~]*)?", re.IGNORECASE)

_NO_TYPE: Final = "An attachment has no type, or a malformed one"
_NOT_ACCEPTED: Final = "An attachment is of a type that is not accepted"
_TYPE_MISMATCH: Final = "An attachment is not what its type says"
_NO_URL: Final = "An attachment's URL is neither a data: URL nor one that is allowed"
_NO_BASE64: Final = "An attachment's data: URL is not valid base64"
_NO_TEXT: Final = "An attachment of a text type is not UTF-8, or has a NUL in it"


class Attachment(Struct, frozen=True):
    """A file. `url` is a `data:` URL with the whole file, or a remote URL of an allowed host."""

    mime: str
    url: str
    filename: str | None = None


class AttachmentLimits(Struct, frozen=True, kw_only=True):
    """Which files may be attached. The defaults are those of the settings."""

    count: int = 8
    """Most attachments of a prompt; 0: no attachments are accepted."""
    characters: int = 12_000_000
    """Longest URL of an attachment, with the file in it."""
    types: Sequence[str] = ("image/*", "audio/*", "application/pdf", "text/*", "application/json")
    """MIME types; `kind/*` for all types of a kind, but not those of active content."""
    hosts: Sequence[str] = ()
    """Hosts that a remote URL may name, in lower case."""

    def accepts(self, mime: str) -> bool:
        """Whether files of this type may be attached."""
        if mime in self.types:
            return True
        return f"{mime.partition('/')[0]}/*" in self.types and mime not in _ACTIVE_TYPES


class _File(Struct, rename="camel"):
    url: HandedOn
    media_type: HandedOn | None = None
    filename: HandedOn | None = None


_file = msgspec.json.Decoder(_File).decode


def read_in_steps(parts: Sequence[Raw], limits: AttachmentLimits) -> Steps[tuple[Attachment, ...]]:
    """Read the `file` parts of a message, in steps.

    Raises:
        BadRequest: a file may not be attached, or there are too many.

    """
    if parts and not limits.count:
        raise BadRequest("Attachments are not accepted")
    if len(parts) > limits.count:
        raise BadRequest(f"There are more than {limits.count} attachments")
    read: list[Attachment] = []
    for part in parts:
        attachment = yield from _read_part(part, limits)
        read.append(attachment)
    return tuple(read)


def _read_part(part: Raw, limits: AttachmentLimits) -> Steps[Attachment]:
    data = bytes(part)
    backslashes = data.count(b"\\")
    if backslashes > _ESCAPES_MAX and backslashes - data.count(rb"\/") > _ESCAPES_MAX:
        raise BadRequest(_NO_BASE64)  # many encoders escape a slash
    yield
    file = _file(data)
    del data
    url, declared = file.url, _essence(file.media_type or "")
    filename = _clean_filename(file.filename)
    del file  # frees its URL, which may be replaced by another long string below
    yield
    if len(url) > limits.characters:
        raise BadRequest(f"An attachment is larger than {limits.characters} characters")
    if url[: len(_DATA_SCHEME)].lower() == _DATA_SCHEME:
        mime = yield from _type_of_data_url(url, declared)
        header = f"data:{mime};base64,"
        if not url.startswith(header):
            url = header + url[url.index(",") + 1 :]
    else:
        mime = _type_of_remote_url(url, declared, limits)
    if not limits.accepts(mime):
        raise BadRequest(_NOT_ACCEPTED)
    return Attachment(mime, url, filename)


def _essence(mime: str) -> str:
    """Return a type in lower case, without parameters like those of `audio/webm;codecs=opus`."""
    essence = mime.partition(";")[0].strip().lower()
    if essence and _MIME.fullmatch(essence) is None:
        raise BadRequest(_NO_TYPE)
    return essence


def _type_of_data_url(url: str, declared: str) -> Steps[str]:
    """Check a `data:` URL, and return the type of its file."""
    comma = url.find(",", 0, _HEADER_MAX)
    header = url[len(_DATA_SCHEME) : comma]
    if comma < 0 or not header.lower().endswith(";base64"):
        raise BadRequest(_NO_BASE64)
    payload = comma + 1
    if len(url) == payload:
        raise BadRequest("An attachment is empty")
    yield from _check_base64(url, payload)
    return _true_type(declared or _essence(header[: -len(";base64")]), url, payload)


def _check_base64(url: str, begin: int) -> Steps[None]:
    """Check that `url` is strictly valid base64 from `begin` on.

    To decode the base64 would take five times as long.
    """
    padding = b""
    for at in range(begin, len(url), _CHECK_CHARS):
        encoded = url[at : at + _CHECK_CHARS].encode()
        if padding:  # padding may stand at the end alone
            raise BadRequest(_NO_BASE64)
        padding = encoded.translate(None, _ALPHABET)
        if padding not in {b"", b"=", b"=="} or not encoded.endswith(padding):
            raise BadRequest(_NO_BASE64)
        yield
    if (len(url) - begin) % 4:
        raise BadRequest(_NO_BASE64)


def _true_type(declared: str, url: str, payload: int) -> str:
    """Return the type of a file, from its bytes. `payload` is where its base64 begins in `url`."""
    if mime_sniff.is_textual(declared):
        if not mime_sniff.is_text(binascii.a2b_base64(url[payload:])):
            raise BadRequest(_NO_TEXT)
        return declared
    possible = mime_sniff.types_of(binascii.a2b_base64(url[payload : payload + _SNIFF_CHARS]))
    if declared in _UNKNOWN_TYPES:
        if possible:
            return possible[0]
        if mime_sniff.is_text(binascii.a2b_base64(url[payload:])):
            return "text/plain"
        raise BadRequest(_NOT_ACCEPTED)
    if declared in possible:
        return declared
    kind = _kind(declared)
    for mime in possible:
        if _kind(mime) == kind:
            return mime
    if possible or mime_sniff.has_signature(kind):
        raise BadRequest(_TYPE_MISMATCH)
    return declared


def _kind(mime: str) -> str:
    """Return the kind in which types may stand for each other: image, audio, video; else `mime`."""
    kind = mime.partition("/")[0]
    return kind if mime_sniff.has_signature(kind) else mime


def _type_of_remote_url(url: str, declared: str, limits: AttachmentLimits) -> str:
    """Check that a URL is `https:` with an allowed host, no user and no port. Return its type."""
    match = _HTTPS.fullmatch(url) if len(url) <= _REMOTE_MAX else None
    if match is None or match[1].lower() not in limits.hosts:
        raise BadRequest(_NO_URL)
    if not declared:
        raise BadRequest(_NO_TYPE)
    return declared


def _clean_filename(filename: str | None) -> str | None:
    """Return a file name without path and invisible characters; None if nothing is left of it.

    One of the invisible characters writes backwards: with it `gpj.exe` reads `exe.jpg`.
    """
    if not filename:
        return None
    last = re.split(r"[/\\]", filename[-2 * FILENAME_MAX :])[-1]
    shown = "".join(c for c in last if unicodedata.category(c) not in {"Cc", "Cf", "Zl", "Zp"})
    shown = shown.strip()[-FILENAME_MAX:]  # the end is kept, because the extension is there
    return shown if shown.strip(".") else None
