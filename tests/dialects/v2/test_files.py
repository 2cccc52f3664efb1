"""Files and pages on the `v2` wire, both ways, and what a prompt says of an earlier one."""

import json
from typing import Any

import pytest

from support import v2_frames as f
from support.v2_protocol import conversation
from turnwire.core.agent import Decoded
from turnwire.core.body.attachments import Attachment
from turnwire.core.events import FilePart, SourceUrl

PNG = "data:image/png;base64,iVBORw0KGgo="


def prompt(**ask: Any) -> dict[str, Any]:
    (frame,) = conversation(**ask).connection_opened(0).to_agent
    sent: dict[str, Any] = json.loads(frame)
    return sent


def test_attachments_go_along_in_their_order() -> None:
    sent = prompt(
        text="",
        attachments=(Attachment("image/png", PNG, "a.png"), Attachment("text/plain", "https://a/")),
    )

    assert sent["content"] == ""
    assert sent["attachments"] == [
        {"type": "file", "mime": "image/png", "url": PNG, "filename": "a.png"},
        {"type": "file", "mime": "text/plain", "url": "https://a/"},
    ]


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ({}, {}),
        ({"regenerates": True}, {"regenerate": True}),
        ({"regenerates": True, "replaces": "a1"}, {"regenerate": True}),
        ({"replaces": "m1"}, {"edit": True}),
    ],
)
def test_what_is_not_asked_is_left_out(ask: dict[str, Any], told: dict[str, bool]) -> None:
    sent = prompt(**ask)

    assert {
        name: sent[name] for name in ("attachments", "regenerate", "edit") if name in sent
    } == told


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (f.file(PNG, filename="a.png"), FilePart(PNG, "image/png")),
        (f.source("https://a/", title="A"), SourceUrl("s1", "https://a/", "A")),
        (f.source("https://a/"), SourceUrl("s1", "https://a/")),
        (f.source("https://a/", title=None), SourceUrl("s1", "https://a/")),
    ],
)
def test_a_file_or_a_page_of_our_turn_is_told(frame: bytes, event: FilePart | SourceUrl) -> None:
    assert conversation(f.begin()).receive_frame(frame, 0) == Decoded([event])


@pytest.mark.parametrize("frame", [f.file(turn="turn-9"), f.source(turn="turn-9")])
def test_one_of_another_turn_is_foreign(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert made.frame_stats.foreign == 1


@pytest.mark.parametrize("frame", [f.file(turn="turn-9"), f.source(turn="turn-9")])
def test_one_of_another_turn_shows_that_it_is_open(frame: bytes) -> None:
    made = conversation()

    made.receive_frame(frame, 0)

    assert made.queued


@pytest.mark.parametrize(
    "frame",
    [
        f.frame("message.part.file", turnId=f.OURS, url=PNG),
        f.frame("message.part.file", turnId=f.OURS, mime="image/png"),
        f.frame("message.part.file", url=PNG, mime="image/png"),
        f.frame("message.part.source", turnId=f.OURS, url="https://a/"),
        f.frame("message.part.source", turnId=f.OURS, sourceId="", url="https://a/"),
        f.source(title=7),
    ],
)
def test_one_with_wrong_fields_is_counted(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert made.frame_stats.malformed == 1


@pytest.mark.parametrize(
    ("frame", "kind"),
    [(f.source("javascript:alert(1)"), "source"), (f.file("file:///etc/passwd"), "file")],
)
def test_a_link_that_no_client_is_sent_is_counted(frame: bytes, kind: str) -> None:
    ours = conversation()
    ours.connection_opened(0)
    ours.receive_frame(f.begin(), 0)
    ours.receive_frame(frame, 0)

    assert ours.frame_stats.left_out == {f"{kind} with a URL that no client is sent": 1}
    ours.receive_frame(f.source("https://a/"), 0)
    assert len(ours.frame_stats.left_out) == 1
