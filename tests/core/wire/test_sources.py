"""Pages that an answer cites."""

from turnwire.core.events import SourceUrl
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.sources import SOURCES_MAX, Sources


def test_each_page_is_there_once_and_in_order() -> None:
    sources = Sources(FrameStats())

    sources.add("https://a.example", "A")
    sources.add("HTTP://b.example")
    sources.add("https://a.example", "again")

    assert sources.take() == [
        SourceUrl("source-1", "https://a.example", "A"),
        SourceUrl("source-2", "HTTP://b.example", None),
    ]
    assert sources.take() == []
    sources.add("https://a.example")
    sources.add("https://c.example", "x" * 1000)
    assert sources.take() == [SourceUrl("source-3", "https://c.example", "x" * 512)]


def test_what_is_no_page_is_left_out() -> None:
    frame_stats = FrameStats()
    sources = Sources(frame_stats)

    for url in ("javascript:alert(1)", "file:///etc/passwd", "", "https://h/" + "x" * 10_000):
        sources.add(url)

    assert sources.take() == []
    assert frame_stats.left_out == {"citation": 4}


def test_their_number_is_bounded() -> None:
    sources = Sources(FrameStats())

    for number in range(SOURCES_MAX + 5):
        sources.add(f"https://h/{number}")

    assert len(sources.take()) == SOURCES_MAX
