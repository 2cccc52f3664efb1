"""Sources of answers, on each wire that has some."""

from typing import Any

import pytest

from runtime.llm import test_chat_answers as chat
from runtime.llm import test_google_answers as google
from runtime.llm.messages_events import delta, events_of, native, start, stop
from runtime.llm.streams import read, sse
from turnwire_agent.llm.events import Event, Finish, Skipped, Source, TextEnd
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shapes import responses
from turnwire_agent.llm.shapes.sources import SOURCES_MAX, TITLE_CHARS, URL_CHARS, Sources

URL = "https://example.com/a"
OTHER = "http://example.com/b"
IT, THEM = Source(URL, "It"), Source(OTHER, "Them")


def told(events: list[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, Source | Skipped)]


def test_a_page_is_told_once() -> None:
    sources = Sources()

    assert sources.new(URL, "It") == [IT]
    assert sources.new(URL, "Another title") == []
    assert sources.new(OTHER) == [Source(OTHER)]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "gs://bucket/file",
        "//example.com",
        " https://example.com",
        "https://" + "x" * URL_CHARS,
    ],
)
def test_what_is_no_link_is_skipped(url: str) -> None:
    sources = Sources()

    assert sources.new(url) == [Skipped("source")]
    assert sources.new(url) == []


def test_there_is_a_bound_and_past_it_one_is_skipped() -> None:
    sources = Sources()
    pages = [f"{URL}/{number}" for number in range(SOURCES_MAX + 9)]

    events = [event for url in pages for event in sources.new(url, "x" * 9999)]

    assert events == [*(Source(url, "x" * TITLE_CHARS) for url in pages[:-9]), Skipped("source")]
    assert [event for url in pages for event in sources.new(url)] == []
    assert len(sources._known) == SOURCES_MAX + 1


def test_lists_that_are_repeated_are_told_at_the_end_and_have_a_bound() -> None:
    sources = Sources()
    pages = [f"{URL}/{number}" for number in range(SOURCES_MAX + 9)]
    for _ in range(3):
        sources.note(pages)
    sources.note([{"url": pages[0], "title": "First"}, {"url": pages[0], "title": "Late"}])

    assert len(sources._noted) == SOURCES_MAX + 1
    noted = sources.noted()
    assert noted[0] == Source(pages[0], "First")
    assert noted[SOURCES_MAX:] == [Skipped("source")]


@pytest.mark.parametrize("pages", [None, 7, "x", {}, [None, 7, {}, [URL], {"url": 7}, ""]])
def test_lists_of_something_else_are_none(pages: Any) -> None:
    sources = Sources()
    sources.note(pages)

    assert sources.noted() == []


def test_chat_servers_that_search_have_lists_whose_titles_come_late() -> None:
    lists = {"citations": [URL, OTHER]}
    results = {"search_results": [{"title": "It", "url": URL, "date": None}, {"url": OTHER}]}
    events = chat.heard(
        chat.chunk(content="a") | lists,
        chat.chunk(content="b") | lists,
        chat.chunk("stop") | lists | results,
    )

    assert told(events) == [IT, Source(OTHER)]
    assert isinstance(events[-1], Finish)
    assert events[-4] == TextEnd("0")


def test_chat_annotations_name_a_page() -> None:
    cited = {"url": URL, "title": "It", "start_index": 0, "end_index": 1}
    flat = {"type": "url_citation", "url": OTHER, "title": "Them"}
    events = chat.heard(
        chat.chunk(content="a", annotations=[{"type": "url_citation", "url_citation": cited}]),
        chat.chunk(annotations=[flat, flat, {"type": "file", "file": {"hash": "x"}}]),
        chat.chunk("stop") | {"citations": [URL]},
    )

    assert told(events) == [IT, THEM, Skipped("file")]


def heard_responses(*events: dict[str, Any]) -> list[Event]:
    model = Model(provider="openai", name="gpt", shape="responses", base_url="")
    return read(responses, model, [sse(*events, named=True)])


def test_responses_tell_an_annotation_as_it_comes_or_with_its_text() -> None:
    added = {"type": "response.output_text.annotation.added", "item_id": "m", "content_index": 0}
    cited = {"type": "url_citation", "url": URL, "title": "It"}
    late = {"type": "url_citation", "url": OTHER, "title": "Them"}
    part = {"type": "output_text", "text": "a", "annotations": [cited, late, {"type": "file_path"}]}
    item = {"type": "message", "id": "m", "content": [part]}
    events = heard_responses(
        {"type": "response.output_text.delta", "item_id": "m", "delta": "a"},
        added | {"annotation": cited},
        added | {"annotation": cited},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
    )

    assert told(events) == [IT, THEM]


def test_messages_tell_a_citation_once_and_all_of_them_go_back() -> None:
    page = {"type": "web_search_result_location", "url": URL, "title": "It", "cited_text": "a"}
    again = page | {"cited_text": "b"}
    other = {"type": "web_search_result_location", "url": OTHER, "title": "Them"}
    events = events_of(
        start(0, "text", text="a", citations=[page]),
        delta(0, "citations_delta", citation=again),
        delta(0, "citations_delta", citation=other),
        stop(0),
        start(1, "text", text="b", citations=[other | {"url": f"{URL}/more"}]),
        stop(1),
    )

    assert told(events) == [IT, THEM, Source(f"{URL}/more", "Them")]
    assert native(events)[0]["citations"] == [page, again, other]


@pytest.mark.parametrize("kind", ["web", "retrievedContext", "maps"])
def test_google_tells_each_kind_of_page_with_an_address(kind: str) -> None:
    grounded = google.chunk({"text": "a"})
    grounded["candidates"][0]["groundingMetadata"] = {
        "groundingChunks": [
            {kind: {"uri": URL, "title": "It"}},
            {kind: {"uri": "gs://bucket/file"}},
            {kind: {"title": "no address"}},
            {kind: {"uri": OTHER, "title": "Them"}},
        ]
    }
    events = google.heard(grounded, grounded, google.chunk(finish="STOP"))

    assert told(events) == [IT, Skipped("source"), THEM]
