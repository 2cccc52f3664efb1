"""Recognises the MIME types of a file by its first bytes.

Use: `types_of(data)` returns every type that the bytes may be. Text has no signature: see
`is_textual` and `is_text`.

The gateway has its own table. Libraries of signatures call an audio recording of a browser a
video, because its container may hold one, and they identify some pictures by
two letters alone. Here a signature stands for every type that the bytes may be.
"""

import re
from typing import Final

_HEAD: Final = 16
"""Bytes that are compared; the longest signature needs no more."""

_SIGNATURES: Final = tuple(
    (re.compile(signature, re.DOTALL), types)
    for signature, types in (
        (rb"\x89PNG\r\n\x1a\n", ("image/png",)),
        (rb"\xff\xd8\xff", ("image/jpeg",)),
        (rb"GIF8[79]a", ("image/gif",)),
        (rb"RIFF.{4}WEBP", ("image/webp",)),
        (rb"BM.{4}\0{4}", ("image/bmp",)),
        (rb"II\*\0|MM\0\*", ("image/tiff",)),
        (rb"\x00\x00\x01\x00", ("image/x-icon", "image/vnd.microsoft.icon")),
        (rb"\xff\x0a|\0\0\0\x0cJXL ", ("image/jxl",)),
        (rb".{4}ftypavi[fs]", ("image/avif",)),
        (rb".{4}ftyphe(?:i[cmsx]|v[cmsx])", ("image/heic", "image/heif")),
        (rb".{4}ftypm(?:if|sf)1", ("image/heif", "image/heic", "image/avif")),
        (rb"%PDF-", ("application/pdf",)),
        (rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", ("audio/mpeg",)),
        (rb"\xff[\xf0\xf1\xf8\xf9]", ("audio/aac",)),
        (rb"RIFF.{4}WAVE", ("audio/wav",)),
        (rb"fLaC", ("audio/flac",)),
        (rb"FORM.{4}AIF[CF]", ("audio/aiff",)),
        (rb"#!AMR", ("audio/amr",)),
        (rb"caff", ("audio/x-caf",)),
        (rb"MThd", ("audio/midi",)),
        (rb"OggS", ("audio/ogg", "video/ogg")),
        (rb"\x1aE\xdf\xa3", ("video/webm", "audio/webm", "video/x-matroska")),
        (rb".{4}ftypM4[ABP]", ("audio/mp4",)),
        (rb".{4}ftypqt ", ("video/quicktime",)),
        (rb".{4}ftyp3g", ("video/3gpp", "audio/3gpp")),
        (rb".{4}ftyp", ("video/mp4", "audio/mp4")),
    )
)

_TEXTUAL: Final = re.compile(
    r"text/.+|[^/]+/(?:[^/]+\+)?(?:json|xml|yaml|x-yaml|toml|sql|javascript|x-ndjson)"
)


def types_of(data: bytes) -> tuple[str, ...]:
    """Return the types that these bytes may be, the likeliest first; none if no signature fits."""
    head = data[:_HEAD]
    return next((types for signature, types in _SIGNATURES if signature.match(head)), ())


def has_signature(kind: str) -> bool:
    """Whether every file of this type, or of this kind of types, begins with a known signature."""
    return kind in {"image", "audio", "video", "application/pdf"}


def is_textual(mime: str) -> bool:
    """Whether files of this type are text. Text has no signature."""
    return _TEXTUAL.fullmatch(mime) is not None


def is_text(data: bytes) -> bool:
    """Whether these bytes are UTF-8 without a NUL character."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
