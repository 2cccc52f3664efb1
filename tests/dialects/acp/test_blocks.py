"""Blocks of content: files of a prompt, and what is shown of the agent's."""

from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import Played
from turnwire.core.body.attachments import Attachment
from turnwire.dialects.acp.turn import FILE_REFUSED

PNG = Attachment("image/png", "data:image/png;base64,QUJD", "a.png")
MP3 = Attachment("audio/mpeg", "data:audio/mpeg;base64,QUJD")
PDF = Attachment("application/pdf", "data:application/pdf;base64,QUJD", "a.pdf")
TEXT = Attachment("text/plain", "data:text/plain;base64,aMOp", "a.txt")
LINK = Attachment("application/pdf", "https://files.example/a.pdf")


def sent(*files: Attachment, text: str = "", **abilities: bool) -> Any:
    played = Played(f.initialized(**abilities), f.made(), text=text, attachments=files)
    return played.sent[2]["params"]["prompt"]


def test_files_are_blocks_of_their_kinds() -> None:
    assert sent(PNG, MP3, text="see", image=True, audio=True) == [
        {"type": "text", "text": "see"},
        {"type": "image", "mimeType": "image/png", "data": "QUJD"},
        {"type": "audio", "mimeType": "audio/mpeg", "data": "QUJD"},
    ]
    assert sent(PDF, embeddedContext=True) == [
        {
            "type": "resource",
            "resource": {"uri": "attachment:a.pdf", "mimeType": "application/pdf", "blob": "QUJD"},
        }
    ]
    assert sent(TEXT, embeddedContext=True) == [
        {
            "type": "resource",
            "resource": {"uri": "attachment:a.txt", "mimeType": "text/plain", "text": "hé"},
        }
    ]
    assert sent(LINK) == [
        {
            "type": "resource_link",
            "uri": LINK.url,
            "name": "file-1",
            "mimeType": "application/pdf",
        }
    ]


@pytest.mark.parametrize(
    ("mime", "base64", "content"),
    [
        ("application/json", "e30=", {"text": "{}"}),
        ("application/ld+json", "e30=", {"text": "{}"}),
        ("application/zip", "e30=", {"blob": "e30="}),
        ("text/plain", "/w==", {"blob": "/w=="}),  # no UTF-8
        ("text/plain", "e", {"blob": "e"}),
    ],
)
def test_a_text_is_sent_as_text_if_it_is_one(mime: str, base64: str, content: Any) -> None:
    (block,) = sent(Attachment(mime, f"data:{mime};base64,{base64}"), embeddedContext=True)

    assert block["resource"] == {"uri": "attachment:file-1", "mimeType": mime, **content}


@pytest.mark.parametrize("file", [PNG, MP3, PDF])
def test_a_file_that_the_agent_does_not_take_is_an_error_and_not_left_out(file: Attachment) -> None:
    played = Played(*f.OPENED, attachments=(file,))

    assert played.client.error == FILE_REFUSED
    assert "session/prompt" not in played.methods


@pytest.mark.parametrize(
    ("block", "chunk"),
    [
        (
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
            {"type": "file", "url": "data:image/png;base64,QUJD", "mediaType": "image/png"},
        ),
        (
            {"type": "image", "uri": "https://a.example/x", "mimeType": "image/png"},
            {"type": "file", "url": "https://a.example/x", "mediaType": "image/png"},
        ),
        (
            {"type": "resource_link", "uri": "https://a.example/x", "name": "X"},
            {
                "type": "source-url",
                "sourceId": "https://a.example/x",
                "url": "https://a.example/x",
                "title": "X",
            },
        ),
    ],
)
def test_what_is_shown_of_a_block(block: Any, chunk: Any) -> None:
    assert Played(*f.OPENED, f.block(**block)).chunks[-1] == chunk


@pytest.mark.parametrize(
    "block",
    [
        {"type": "resource_link", "uri": "file:///etc/passwd", "name": "X"},
        {"type": "image"},
        {"type": "resource", "resource": {}},
    ],
)
def test_other_blocks_are_counted(block: Any) -> None:
    played = Played(*f.OPENED, f.block(**block))

    assert played.kinds == ["start", "start-step"]
    assert played.protocol.frame_stats.left_out == {"block of content": 1}
