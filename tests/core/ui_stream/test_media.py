from typing import Any

import pytest

from support.shown import brief, shown, started, tool
from turnwire.core.events import FilePart, Phase, ReasoningDelta, SourceUrl, TextDelta
from turnwire.core.ui_stream.translator import Translator

PICTURE = "data:image/png;base64,QQ=="
PAGE = "https://a.example/p?q=1#f"


@pytest.mark.parametrize(
    ("event", "chunk"),
    [
        (
            FilePart(PICTURE, "image/png"),
            {"type": "file", "url": PICTURE, "mediaType": "image/png"},
        ),
        (FilePart(PAGE, ""), {"type": "file", "url": PAGE, "mediaType": ""}),
        (FilePart("HTTP://a", "a/b"), {"type": "file", "url": "HTTP://a", "mediaType": "a/b"}),
        (
            FilePart("https://a/\ud83d", "\ud83d"),
            {"type": "file", "url": "https://a/\ufffd", "mediaType": "\ufffd"},
        ),
        (
            SourceUrl("s1", PAGE, "A page"),
            {"type": "source-url", "sourceId": "s1", "url": PAGE, "title": "A page"},
        ),
        (SourceUrl("s1", PAGE), {"type": "source-url", "sourceId": "s1", "url": PAGE}),
        (
            SourceUrl("\ud83d", "http://a/\ud83d", "\ud83d"),
            {
                "type": "source-url",
                "sourceId": "\ufffd",
                "url": "http://a/\ufffd",
                "title": "\ufffd",
            },
        ),
    ],
)
def test_a_file_or_a_source_is_one_chunk(
    event: FilePart | SourceUrl, chunk: dict[str, Any]
) -> None:
    assert shown(started().feed(event)) == [chunk]


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " https://a",
            "\thttps://a",
            "//a",
            "a",
        ),
        *("java\nscript:1", "file:///etc/passwd", "blob:https://a/1", "https:", "vbscript:1"),
        *("\ud83dhttps://a", "x-data:,1", "about:blank"),
    ],
)
def test_a_url_of_another_scheme_is_dropped_and_closes_nothing(url: str) -> None:
    translator = started(TextDelta("a"))

    assert translator.feed(FilePart(url, "image/png")) == []
    assert translator.feed(SourceUrl("s1", url, "t")) == []
    assert brief(translator.feed(TextDelta("b"))) == ["text-delta t:t0 b"]


def test_a_source_is_a_page_and_no_data() -> None:
    assert started().feed(SourceUrl("s1", PICTURE)) == []


@pytest.mark.parametrize("event", [FilePart(PICTURE, "image/png"), SourceUrl("s1", PAGE)])
def test_what_follows_stands_below_it(event: FilePart | SourceUrl) -> None:
    translator = started(TextDelta("a\ud83d"))

    parts = brief(translator.feed(event))
    parts += brief(translator.feed(ReasoningDelta("hm")))
    parts += brief(translator.feed(event))
    parts += brief(translator.feed(TextDelta("b")))

    kind = parts[2].split()[0]
    assert [part.split()[0] for part in parts] == [
        *("text-delta", "text-end", kind, "reasoning-start", "reasoning-delta", "reasoning-end"),
        *(kind, "text-start", "text-delta"),
    ]
    assert parts[0] == "text-delta t:t0 \ufffd"


def test_it_opens_no_step_after_tools() -> None:
    translator = started(tool(Phase.COMPLETED, args={}, result=1))

    assert [chunk.split()[0] for chunk in brief(translator.feed(FilePart(PICTURE, "a/b")))] == [
        "file"
    ]


def test_before_the_turn_it_is_nothing() -> None:
    assert Translator().feed(FilePart(PICTURE, "image/png")) == []
