"""What `messages` reads that is not as the wire has it, or newer than this layer."""

from typing import Any

import pytest

from runtime.llm.messages_events import (
    BEGIN,
    MODEL,
    STOP,
    call,
    delta,
    ended,
    events_of,
    finish,
    native,
    start,
    stop,
    text,
)
from runtime.llm.streams import read, sse
from turnwire_agent.llm.events import (
    Begun,
    Finish,
    Skipped,
    Source,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
)
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.shapes import messages


def test_events_that_are_not_known_are_told_and_change_nothing() -> None:
    future = {"type": "future_event" * 10, "usage": {"input_tokens": 99}}
    events = read(
        messages,
        MODEL,
        [sse(future, stop(7), BEGIN, BEGIN, *text(0, "a"), ended("end_turn"), STOP)],
    )

    assert events[:-1] == [
        Skipped(("future_event" * 10)[:64]),
        Begun("m1", "claude-1"),
        *(TextStart("0"), TextDelta("0", "a"), TextEnd("0")),
    ]
    assert finish(events).usage.input == 10


def test_blocks_of_the_providers_own_tools_are_told_and_go_back() -> None:
    use: dict[str, Any] = {"id": "srv", "name": "web_search", "input": {}}
    found = {"tool_use_id": "srv", "content": [{"encrypted_content": "Eo8+/="}]}
    events = events_of(
        start(0, "server_tool_use", **use),
        delta(0, "input_json_delta", partial_json=""),
        delta(0, "input_json_delta", partial_json='{"query":"x"}'),
        stop(0),
        start(1, "web_search_tool_result", **found),
        stop(1),
    )

    assert events[1:-1] == [Skipped("server_tool_use"), Skipped("web_search_tool_result")]
    assert finish(events).reason == "stop"
    assert native(events) == [
        {"type": "server_tool_use"} | use | {"input": {"query": "x"}},
        {"type": "web_search_tool_result"} | found,
    ]


def test_a_block_that_is_not_known_goes_back_byte_for_byte() -> None:
    block = b'{ "type":"hologram","x":1.50,"y":"\\u00fc/\\/" }'
    begun = b'data: {"type":"content_block_start","index":0,"content_block":' + block + b"}\n\n"
    end = sse(stop(0), ended("end_turn"), STOP)
    events = read(messages, MODEL, [sse(BEGIN) + begun + end])

    assert bytes(finish(events).native) == b"[" + block + b"]"
    assert Skipped("hologram") in events


def test_a_delta_that_is_not_known_costs_no_words_and_no_call() -> None:
    strange = delta(0, "light_delta", light=1)
    for kind, more in (
        ("text", {"text": "a"}),
        ("thinking", {"thinking": "a", "signature": "s"}),
        ("tool_use", {"id": "c", "name": "t", "input": {}}),
    ):
        events = events_of(start(0, kind, **more), strange, stop(0))

        assert Skipped("light_delta") in events
        assert native(events) == [{"type": kind} | more]


def test_an_answer_with_a_block_that_cannot_be_put_together_does_not_go_back() -> None:
    events = events_of(
        start(0, "hologram"),
        delta(0, "light_delta", light=1),
        stop(0),
        start(1, "hologram_result", of=0),
        stop(1),
        *call(2, "c", "t"),
    )

    assert [each for each in events if isinstance(each, Skipped)] == [
        Skipped("hologram"),
        Skipped("light_delta"),
        Skipped("hologram_result"),
    ]
    assert ToolCall("c", "t", "{}") in events
    assert native(events) == []


def test_what_was_compacted_goes_back_as_it_came() -> None:
    events = events_of(
        start(0, "compaction", content=None, encrypted_content=None),
        delta(0, "compaction_delta", content="So far.", encrypted_content="Ep=="),
        stop(0),
        reason="compaction",
    )

    assert native(events) == [
        {"type": "compaction", "content": "So far.", "encrypted_content": "Ep=="}
    ]
    assert finish(events).reason == "other"


def test_sources_are_told_and_citations_go_back() -> None:
    page = {"type": "web_search_result_location", "url": "https://e.com", "title": "E"}
    untitled = page | {"title": None}
    place = {"type": "char_location", "start_char_index": 1}
    cited = [delta(0, "citations_delta", citation=each) for each in (page, untitled, place)]
    events = events_of(
        start(0, "text", text="", citations=None),
        delta(0, "text_delta", text="a"),
        *cited,
        stop(0),
    )

    assert events[3:6] == [
        Source("https://e.com", "E"),
        Skipped("char_location"),
        TextEnd("0"),
    ]
    assert native(events) == [{"type": "text", "text": "a", "citations": [page, untitled, place]}]


def test_what_is_not_known_is_named_with_at_most_64_characters() -> None:
    long = "x" * 65
    events = events_of(
        start(0, "text", text="a"),
        delta(0, "citations_delta", citation={"type": long}),
        delta(0, long),
        start(1, long),
        {"type": long},
    )

    assert [each for each in events if isinstance(each, Skipped)] == [Skipped("x" * 64)] * 4


def test_citations_may_come_without_words() -> None:
    cited = delta(0, "citations_delta", citation={"type": "x"})

    assert native(events_of(start(0, "text", text=" a"), cited, stop(0))) == [
        {"type": "text", "text": " a", "citations": [{"type": "x"}]}
    ]


DEEP = '{"type":' + "[" * 100_000


@pytest.mark.parametrize(
    "bad",
    [
        *("not JSON", "[]", '{"type":"\\ud800"}', DEEP),
        {"type": 1},
        {"type": "message_start", "message": []},
        {"type": "message_start", "message": {"usage": {"input_tokens": "many"}}},
        {"type": "content_block_start", "index": "0", "content_block": {"type": "text"}},
        {"type": "content_block_start", "index": 0},
        start(0, "text", text=1),
        start(0, "tool_use", id=1, name="t"),
        start(0, "tool_use", id="c", name=["t"]),
        delta(9, "text_delta", text="a"),
        delta(5, "text_delta", text=1),
        {"type": "content_block_delta", "index": 5, "delta": "a"},
        ended([]),  # type: ignore[arg-type]
        {"type": "message_delta", "delta": {}, "usage": 1},
    ],
)
def test_what_is_not_of_the_wire_is_a_fault_and_the_end(bad: object) -> None:
    events = events_of(start(5, "text", text="a"), bad, *text(1, "b"))

    assert isinstance(events[-1], Fault)
    assert events[-1].kind == "malformed"
    assert events[1:-1] == [TextStart("0"), TextDelta("0", "a")]


@pytest.mark.parametrize(
    "bad",
    [
        [start(0, "tool_use", id="c", name="t", input=[1]), stop(0)],
        [start(0, "tool_use", id="c", name="t", input=[1])],
    ],
)
def test_an_input_that_is_no_object_is_a_fault(bad: list[Any]) -> None:
    events = events_of(*bad)

    assert isinstance(events[-1], Fault)
    assert events[-1].kind == "malformed"
    assert not [each for each in events if isinstance(each, Finish)]


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"type": "content_block_start", "index": 0}, "content_block"),
        (delta(9, "text_delta", text="a"), "index"),
        (start(0, "text", text=1), "text"),
    ],
)
def test_a_fault_names_the_field(bad: object, name: str) -> None:
    assert events_of(bad)[-1] == Fault(kind="malformed", message=name)


def test_an_end_without_a_beginning_is_a_fault() -> None:
    events = read(messages, MODEL, [sse(*call(0, "c", "t"), ended("tool_use"), STOP)])

    assert events[-1] == Fault(kind="malformed", message="message_start")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "overloaded",
        ),
        ({"error": {"code": 503, "message": "busy", "type": "unavailable_error"}}, "overloaded"),
        ({"type": "error"}, "server"),
    ],
)
def test_an_error_in_the_stream_is_a_fault_and_the_end(event: Any, kind: str) -> None:
    events = read(messages, MODEL, [sse(BEGIN, *text(0, "a"), event, ended("end_turn"), STOP)])

    assert isinstance(events[-1], Fault)
    assert (events[-1].kind, events[-1].status) == (kind, 0)
    assert len(events) == 5


def test_an_event_may_be_named_beside_its_data() -> None:
    body = sse(BEGIN, *text(0, "a"), ended("end_turn")) + b"event: message_stop\ndata: {}\n\n"

    assert finish(read(messages, MODEL, [body])).reason == "stop"
