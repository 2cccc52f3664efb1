import pytest

from turnwire.core.body import mime_sniff

PAD = bytes(range(1, 40))


def box(brand: bytes) -> bytes:
    return b"\0\0\0\x18ftyp" + brand + b"\0\0\0\0" + PAD


@pytest.mark.parametrize(
    ("data", "likeliest", "others"),
    [
        (b"\x89PNG\r\n\x1a\n" + PAD, "image/png", ()),
        (b"\xff\xd8\xff\xe0\0\x10JFIF" + PAD, "image/jpeg", ()),
        (b"\xff\xd8\xff\xe1\0\x10Exif" + PAD, "image/jpeg", ()),
        (b"GIF89a" + PAD, "image/gif", ()),
        (b"GIF87a" + PAD, "image/gif", ()),
        (b"RIFF\n\n\0\0WEBPVP8 " + PAD, "image/webp", ()),
        (b"BM\x0a\0\0\0\0\0\0\0" + PAD, "image/bmp", ()),
        (b"II*\0" + PAD, "image/tiff", ()),
        (b"MM\0*" + PAD, "image/tiff", ()),
        (b"\0\0\1\0\1\0" + PAD, "image/x-icon", ("image/vnd.microsoft.icon",)),
        (b"\xff\x0a" + PAD, "image/jxl", ()),
        (b"\0\0\0\x0cJXL \r\n\x87\n" + PAD, "image/jxl", ()),
        (box(b"avif"), "image/avif", ()),
        (box(b"heic"), "image/heic", ("image/heif",)),
        (box(b"hevc"), "image/heic", ("image/heif",)),
        (box(b"mif1"), "image/heif", ("image/heic", "image/avif")),
        (b"%PDF-1.7\n" + PAD, "application/pdf", ()),
        (b"ID3\x03" + PAD, "audio/mpeg", ()),
        (b"\xff\xfb\x90\x44" + PAD, "audio/mpeg", ()),
        (b"\xff\xf3\x90\x44" + PAD, "audio/mpeg", ()),
        (b"\xff\xf1P\x80" + PAD, "audio/aac", ()),
        (b"RIFF\n\n\0\0WAVEfmt " + PAD, "audio/wav", ()),
        (b"fLaC" + PAD, "audio/flac", ()),
        (b"FORM\n\n\0\0AIFF" + PAD, "audio/aiff", ()),
        (b"#!AMR\n" + PAD, "audio/amr", ()),
        (b"caff\0\1" + PAD, "audio/x-caf", ()),
        (b"MThd" + PAD, "audio/midi", ()),
        (b"OggS\0\2" + PAD, "audio/ogg", ("video/ogg",)),
        (b"\x1aE\xdf\xa3" + PAD, "video/webm", ("audio/webm", "video/x-matroska")),
        (box(b"M4A "), "audio/mp4", ()),
        (box(b"qt  "), "video/quicktime", ()),
        (box(b"3gp4"), "video/3gpp", ("audio/3gpp",)),
        (box(b"iso5"), "video/mp4", ("audio/mp4",)),
    ],
)
def test_a_signature_tells_a_type(data: bytes, likeliest: str, others: tuple[str, ...]) -> None:
    assert mime_sniff.types_of(data) == (likeliest, *others)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"BMW is a car",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!doctype html>",
        b"MZ\x90\0",
        b"\x7fELF\2\1\1",
        b"#!/bin/sh\n",
        b"PK\3\4",
        b" %PDF-1.7",
        b"ftypheic",
    ],
)
def test_anything_else_is_unknown(data: bytes) -> None:
    assert mime_sniff.types_of(data) == ()


@pytest.mark.parametrize(
    ("mime", "textual"),
    [
        ("text/plain", True),
        ("text/html", True),
        ("application/json", True),
        ("application/ld+json", True),
        ("image/svg+xml", True),
        ("application/x-yaml", True),
        ("application/jsonx", False),
        ("application/pdf", False),
        ("image/png", False),
        ("text/", False),
        ("", False),
    ],
)
def test_which_types_are_text(mime: str, *, textual: bool) -> None:
    assert mime_sniff.is_textual(mime) is textual


@pytest.mark.parametrize(
    ("data", "text"),
    [("é\n".encode(), True), (b"", True), (b"a\0b", False), (b"\xff", False), (b"\xc3", False)],
)
def test_what_is_text(data: bytes, *, text: bool) -> None:
    assert mime_sniff.is_text(data) is text
