"""Files as clients send them, and as attackers do."""

import base64
import json
import time
from typing import Any

import pytest

from turnwire.core.body.attachments import Attachment, AttachmentLimits
from turnwire.core.body.prompt import Prompt, extract
from turnwire.errors import BadRequest

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0"
WEBM = b"\x1aE\xdf\xa3\x9fB\x86\x81\x01"
MP4 = b"\0\0\0\x18ftypiso5\0\0\0\0"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
HTML = b"<!doctype html><script>1</script>"

UNLIKE = "An attachment is not what its type says"
NOT_TAKEN = "An attachment is of a type that is not accepted"
NO_TEXT = "An attachment of a text type is not UTF-8, or has a NUL in it"
NO_BASE64 = "An attachment's data: URL is not valid base64"
NO_URL = "An attachment's URL is neither a data: URL nor one that is allowed"
NO_TYPE = "An attachment has no type, or a malformed one"
WRONG_TYPE = "The body has a field of a wrong type, or lacks one"


def held(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def file(data: bytes, mime: str = "image/png", **fields: Any) -> dict[str, Any]:
    return {"type": "file", "mediaType": mime, "url": held(data, mime), **fields}


def body(*parts: dict[str, Any]) -> bytes:
    return json.dumps({"messages": [{"role": "user", "parts": parts}]}).encode()


def attached(*parts: dict[str, Any], **limits: Any) -> tuple[Attachment, ...]:
    prompt = extract(body(*parts), AttachmentLimits(**limits))
    assert isinstance(prompt, Prompt)
    return prompt.attachments


def refusal(*parts: dict[str, Any], **limits: Any) -> str:
    with pytest.raises(BadRequest) as refused:
        attached(*parts, **limits)
    return refused.value.public


def test_files_come_before_the_text_and_stay_in_order() -> None:
    """What `sendMessage({text, files})` sends in all six clients."""
    given = body(
        file(PNG, filename="a.png"),
        file(b"hello", "text/plain", filename="b.txt"),
        {"type": "text", "text": "What is this?"},
    )

    assert extract(given) == Prompt(
        "What is this?",
        attachments=(
            Attachment("image/png", held(PNG), "a.png"),
            Attachment("text/plain", held(b"hello", "text/plain"), "b.txt"),
        ),
    )


def test_files_alone_are_a_prompt() -> None:
    assert extract(body(file(PNG))) == Prompt("", attachments=(Attachment("image/png", held(PNG)),))


def test_white_space_beside_a_file_is_kept() -> None:
    prompt = extract(body(file(PNG), {"type": "text", "text": " \n"}))

    assert isinstance(prompt, Prompt)
    assert prompt.text == " \n"


@pytest.mark.parametrize(
    ("data", "declared", "mime"),
    [
        pytest.param(PNG, "image/png", "image/png", id="as it says"),
        pytest.param(JPEG, "image/png", "image/jpeg", id="another picture"),
        pytest.param(JPEG, "image/jpg", "image/jpeg", id="another name of it"),
        pytest.param(PNG, "IMAGE/PNG", "image/png", id="in capitals"),
        pytest.param(PNG, "", "image/png", id="a browser that does not know it"),
        pytest.param(PNG, "application/octet-stream", "image/png", id="said to be anything"),
        pytest.param(WEBM, "audio/webm;codecs=opus", "audio/webm", id="a recording of Chrome"),
        pytest.param(MP4, "audio/mp4", "audio/mp4", id="a recording of Safari"),
        pytest.param(MP4, "audio/x-m4a", "audio/mp4", id="a recording of a phone"),
        pytest.param(b"ID3\x03", "audio/mp3", "audio/mpeg", id="a sound's other name"),
        pytest.param(b"%PDF-1.7", "application/pdf", "application/pdf", id="a PDF"),
        pytest.param(b"# hi", "", "text/plain", id="a text that no browser knows"),
        pytest.param(b"{}", "application/json", "application/json", id="JSON"),
        pytest.param("é".encode(), "text/plain; charset=utf-8", "text/plain", id="a charset"),
        pytest.param(HTML, "text/html", "text/html", id="a page, for its text"),
        pytest.param(b"BMW", "text/csv", "text/csv", id="a text that begins as a picture might"),
        pytest.param(SVG, "", "text/plain", id="a drawing without a type is its text"),
    ],
)
def test_the_bytes_say_the_type(data: bytes, declared: str, mime: str) -> None:
    assert attached(file(data, declared)) == (Attachment(mime, held(data, mime)),)


@pytest.mark.parametrize(
    ("data", "declared", "reason"),
    [
        pytest.param(HTML, "image/png", UNLIKE, id="a page as a picture"),
        pytest.param(SVG, "image/png", UNLIKE, id="a drawing as a picture"),
        pytest.param(b"MZ\x90\0", "image/jpeg", UNLIKE, id="a program as a picture"),
        pytest.param(b"%PDF-1.7", "image/png", UNLIKE, id="a PDF as a picture"),
        pytest.param(PNG, "application/pdf", UNLIKE, id="a picture as a PDF"),
        pytest.param(HTML, "application/pdf", UNLIKE, id="a page as a PDF"),
        pytest.param(PNG, "audio/mpeg", UNLIKE, id="a picture as a sound"),
        pytest.param(b"nonsense", "image/x-of-tomorrow", UNLIKE, id="an unknown picture"),
        pytest.param(SVG, "image/svg+xml", NOT_TAKEN, id="a drawing"),
        pytest.param(WEBM, "video/webm", NOT_TAKEN, id="a film"),
        pytest.param(b"PK\3\4", "application/zip", NOT_TAKEN, id="an archive"),
        pytest.param(
            b"\x7fELF\2\0\xff", "application/octet-stream", NOT_TAKEN, id="a program as anything"
        ),
        pytest.param(b"a\0b", "text/plain", NO_TEXT, id="NUL in a text"),
        pytest.param(b"\xff\xfea\0", "text/plain", NO_TEXT, id="UTF-16"),
        pytest.param(b"\xff", "application/json", NO_TEXT, id="JSON that is no text"),
        pytest.param(b"", "image/png", "An attachment is empty", id="nothing"),
        pytest.param(PNG, "image", NO_TYPE, id="half a type"),
        pytest.param(PNG, "image/*", NO_TYPE, id="a pattern"),
        pytest.param(PNG, "image/png\r\nx: y", NO_TYPE, id="a line break in a type"),
        pytest.param(PNG, "image/" + "x" * 101, NO_TYPE, id="a long type"),
    ],
)
@pytest.mark.attack(
    "a page or a program with the media type of a picture", "400: the bytes decide the type"
)
def test_a_file_that_is_something_else_is_refused(data: bytes, declared: str, reason: str) -> None:
    assert refusal({"type": "file", "mediaType": declared, "url": held(data)}) == reason


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        pytest.param(SVG, "image/svg+xml", id="a drawing"),
        pytest.param(b"PK\3\4", "application/zip", id="an archive"),
        pytest.param(WEBM, "video/webm", id="a film"),
    ],
)
def test_types_are_taken_that_are_listed_by_name(data: bytes, mime: str) -> None:
    assert attached(file(data, mime), types=(mime,)) == (Attachment(mime, held(data, mime)),)


def test_only_listed_types_are_taken() -> None:
    assert refusal(file(PNG), types=("image/jpeg", "audio/*")) == NOT_TAKEN
    assert refusal(file(PNG, "application/zip"), types=("application/zip",)) == UNLIKE


@pytest.mark.parametrize(
    ("url", "declared"),
    [
        ("data:image/png;base64,iVBORw0KGgo=", "image/png"),
        ("DATA:image/png;BASE64,iVBORw0KGgo=", "image/png"),
        ("data:image/png;name=a.png;base64,iVBORw0KGgo=", "image/png"),
        ("data:;base64,iVBORw0KGgo=", "image/png"),
        ("data:text/plain;base64,iVBORw0KGgo=", "image/png"),
        ("data:image/png;base64,iVBORw0KGgo=", None),
        ("data:application/octet-stream;base64,iVBORw0KGgo=", None),
        ("data:;base64,iVBORw0KGgo=", None),
    ],
)
def test_a_data_url_is_written_anew(url: str, declared: str | None) -> None:
    part = {"type": "file", "url": url} | ({"mediaType": declared} if declared else {})

    assert attached(part) == (Attachment("image/png", "data:image/png;base64,iVBORw0KGgo="),)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("data:image/png;base64,iVBORw0KGgo", NO_BASE64),
        ("data:image/png;base64,iVBORw0KGgo==", NO_BASE64),
        ("data:image/png;base64,iVBORw0KGgo=AAAA", NO_BASE64),
        ("data:image/png;base64,iVBORw0KGg=o", NO_BASE64),
        ("data:image/png;base64,iVBORw0KGg=A=AAA", NO_BASE64),
        ("data:image/png;base64,iVBORw0KG===", NO_BASE64),
        ("data:image/png;base64,====", NO_BASE64),
        ("data:image/png;base64,iVBO Rw0KGgo=", NO_BASE64),
        ("data:image/png;base64,iVBO\nRw0KGgo=", NO_BASE64),
        ("data:image/png;base64,iVBO_w0KGgo=", NO_BASE64),
        ("data:image/png;base64,\u00e9VBORw0KGgo=", NO_BASE64),
        ("data:image/png;base64", NO_BASE64),
        ("data:image/png,%89PNG", NO_BASE64),
        ("data:text/plain,hello%20world", NO_BASE64),
        ("data:" + "x" * 300 + ";base64,iVBORw0KGgo=", NO_BASE64),
        ("data:", NO_BASE64),
        ("data:,", NO_BASE64),
        ("data:a\nb;base64,iVBORw0KGgo=", NO_TYPE),
        ("", NO_URL),
        ("https://evil.example/a.png", NO_URL),
        ("javascript:alert(1)", NO_URL),
        ("blob:https://files.example/1", NO_URL),
        ("file:///etc/passwd", NO_URL),
    ],
)
def test_a_url_that_is_something_else_is_refused(url: str, reason: str) -> None:
    assert refusal({"type": "file", "url": url}, hosts=("files.example",)) == reason


@pytest.mark.parametrize(
    "url",
    [
        "https://files.example/a.png?x=1#f",
        "HTTPS://FILES.example/a",
        "https://files.example",
        "https://files.example?a=@evil.example",
    ],
)
def test_a_remote_file_of_a_listed_host_is_passed_on(url: str) -> None:
    part = {"type": "file", "mediaType": "Image/PNG; a=b", "url": url}

    assert attached(part, hosts=("files.example",)) == (Attachment("image/png", url),)


@pytest.mark.parametrize(
    "url",
    [
        "http://files.example/a.png",
        "//files.example/a.png",
        "https://files.example.evil.example/a.png",
        "https://evil.example/files.example",
        "https://evil-files.example/a.png",
        "https://files.example:443/a.png",
        "https://files.example:8443/a.png",
        "https://files.example:@evil.example/",
        "https://files.example@evil.example/",
        "https://user@files.example/",
        "https://files.example\\@evil.example/",
        "https://evil.example\\files.example/",
        "https://files.example/\\evil",
        "https://files.example./a.png",
        "https://files.example#@evil.example/",
        "https:files.example/a.png",
        "https:///files.example/a.png",
        "https://files.example/a b",
        "https://files.example/a\r\nb",
        "https://files.example/\u00e9",
        "https://files\u3002example/",
        " https://files.example/",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://files.example/" + "x" * 2_048,
    ],
)
@pytest.mark.attack(
    "the address of a file on any host, from which the agent would fetch it",
    "400 unless the host is listed",
)
def test_any_other_remote_file_is_refused(url: str) -> None:
    part = {"type": "file", "mediaType": "image/png", "url": url}

    assert refusal(part, hosts=("files.example",)) == NO_URL


@pytest.mark.parametrize(
    ("declared", "reason"), [("", NO_TYPE), ("image", NO_TYPE), ("video/mp4", NOT_TAKEN)]
)
def test_a_remote_file_needs_a_type(declared: str, reason: str) -> None:
    part = {"type": "file", "mediaType": declared, "url": "https://files.example/"}

    assert refusal(part, hosts=("files.example",)) == reason


def test_more_than_may_come_are_refused() -> None:
    assert len(attached(*[file(PNG)] * 8)) == 8
    assert refusal(*[file(PNG)] * 9) == "There are more than 8 attachments"
    assert refusal(*[file(PNG)] * 2, count=1) == "There are more than 1 attachments"
    assert refusal(file(PNG), count=0) == "Attachments are not accepted"
    assert attached({"type": "text", "text": "hi"}, count=0) == ()


def test_a_file_that_is_too_large_is_refused() -> None:
    longest = len(held(PNG))

    assert attached(file(PNG), characters=longest)
    assert (
        refusal(file(PNG), characters=longest - 1)
        == f"An attachment is larger than {longest - 1} characters"
    )


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("a.png", "a.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\fakepath\\a.png", "a.png"),
        ("a\r\nb\0.png", "ab.png"),
        ("exe.\u202egpj", "exe.gpj"),
        ("a\u2028b\u2029c", "abc"),
        (" a b.png ", "a b.png"),
        ("\u00e9\U0001f600.png", "\u00e9\U0001f600.png"),
        ("x" * 300 + ".png", "x" * 251 + ".png"),
        ("x" * 1_000_000 + ".png", "x" * 251 + ".png"),
        ("", None),
        (None, None),
        ("..", None),
        (".", None),
        ("a/", None),
        ("\0", None),
        (".env", ".env"),
    ],
)
def test_a_file_name_is_a_name_alone(given: str | None, cleaned: str | None) -> None:
    assert attached(file(PNG, filename=given))[0].filename == cleaned


@pytest.mark.parametrize(
    "fields", [{"url": 7}, {"url": None}, {"mediaType": 7}, {"filename": ["a"]}, {"type": 7}]
)
def test_fields_of_a_wrong_type_are_refused(fields: dict[str, Any]) -> None:
    assert refusal(file(PNG) | fields) == WRONG_TYPE
    assert refusal({"type": "file"}) == WRONG_TYPE


def test_a_refusal_repeats_nothing_of_what_was_sent() -> None:
    secret = "s3cr3t"
    for part in (
        {"type": "file", "mediaType": secret, "url": held(PNG)},
        {"type": "file", "mediaType": f"image/{secret}", "url": held(HTML)},
        {"type": "file", "url": f"https://{secret}.example/"},
        {"type": "file", "url": f"data:{secret};base64,{secret}"},
        file(secret.encode(), "image/png", filename=secret),
    ):
        assert secret not in refusal(part)


def test_the_largest_file_takes_no_second() -> None:
    url = held(PNG + bytes(8_999_000))
    given = body({"type": "file", "mediaType": "image/png", "url": url})
    began = time.process_time()

    prompt = extract(given)

    assert time.process_time() - began < 5
    assert isinstance(prompt, Prompt)
    assert prompt.attachments == (Attachment("image/png", url),)


def test_a_slash_may_be_written_as_an_escape() -> None:
    """As PHP and Swift write each; a white picture is nothing but slashes."""
    white = PNG + b"\xff" * 400_000
    plain = body(file(white))

    assert extract(plain.replace(b"/", rb"\/")) == extract(plain)
    assert plain.count(b"/") > 300_000


def test_so_it_may_beside_a_name_with_a_path() -> None:
    plain = body({**file(PNG + b"\xff" * 400_000), "filename": r"a\b.png"})

    assert extract(plain.replace(b"/", rb"\/")) == extract(plain)


def test_an_attachment_in_millions_of_escapes_is_not_read() -> None:
    spelled = body(file(PNG)).replace(b"base64,", b"base64," + rb"\u0041" * 200_000)

    with pytest.raises(BadRequest, match="base64"):
        extract(spelled)


def test_padding_within_a_long_file_is_no_base64() -> None:
    """It is looked at a mebibyte at a time, and this is where one ends."""
    spelled = held(PNG + b"\0" * 1_000_000)
    comma = spelled.index(",") + 1
    end = comma + 1_048_576
    broken = spelled[: end - 1] + "=" + spelled[end:]

    with pytest.raises(BadRequest, match="not valid base64"):
        extract(body({"type": "file", "mediaType": "image/png", "url": broken}))
