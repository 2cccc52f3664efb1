import json
import random
from typing import Any

import pytest

from runtime.llm.streams import read, sse
from turnwire_agent.llm.events import (
    Begun,
    Event,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    Skipped,
    Source,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shapes import responses

MODEL = Model(provider="openai", name="gpt", shape="responses", base_url="")
USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
    "output_tokens_details": {"reasoning_tokens": 2},
}
REASONING = {
    "type": "reasoning",
    "id": "rs",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "sealed",
}
MESSAGE = {
    "type": "message",
    "id": "msg",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello wörld", "annotations": []}],
}
CALL = {
    "type": "function_call",
    "id": "fc",
    "call_id": "c1",
    "name": "search",
    "arguments": '{"a":1}',
    "status": "completed",
}


def ev(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}"} | fields


def over(kind: str = "completed", output: Any = (), **fields: Any) -> dict[str, Any]:
    response = {"id": "r1", "model": "gpt-1", "status": kind, "output": list(output)} | fields
    return ev(kind, response=response)


CREATED = ev("created", response={"id": "r1", "model": "gpt-1"})
WHOLE = (
    CREATED,
    ev("in_progress", response={}),
    ev("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs"}),
    ev("reasoning_summary_part.added", item_id="rs", summary_index=0),
    ev("reasoning_summary_text.delta", item_id="rs", summary_index=0, delta="h"),
    ev("reasoning_summary_text.delta", item_id="rs", summary_index=0, delta="m"),
    ev("reasoning_summary_text.done", item_id="rs", summary_index=0, text="hm"),
    ev("output_item.done", output_index=0, item=REASONING | {"encrypted_content": "older"}),
    ev("output_item.added", output_index=1, item=MESSAGE | {"content": []}),
    ev("content_part.added", item_id="msg", content_index=0),
    ev("output_text.delta", item_id="msg", content_index=0, delta="Hello"),
    ev("output_text.delta", item_id="msg", content_index=0, delta=" wörld"),
    ev("output_text.done", item_id="msg", content_index=0, text="Hello wörld"),
    ev("output_item.done", output_index=1, item=MESSAGE),
    ev("output_item.added", output_index=2, item=CALL | {"arguments": ""}),
    ev("function_call_arguments.delta", item_id="fc", delta='{"a"'),
    ev("function_call_arguments.delta", item_id="fc", delta=":1}"),
    ev("function_call_arguments.done", item_id="fc", arguments='{"a":1}'),
    ev("output_item.done", output_index=2, item=CALL),
    over(output=[REASONING, MESSAGE, CALL], usage=USAGE),
)
EVENTS: list[Event] = [
    Begun("r1", "gpt-1"),
    *(ReasoningStart("0"), ReasoningDelta("0", "h"), ReasoningDelta("0", "m"), ReasoningEnd("0")),
    *(TextStart("1"), TextDelta("1", "Hello"), TextDelta("1", " wörld"), TextEnd("1")),
    ToolInputStart("c1", "search"),
    ToolInputDelta("c1", '{"a"'),
    ToolInputDelta("c1", ":1}"),
    ToolInputEnd("c1"),
    ToolCall("c1", "search", '{"a":1}'),
]


def heard(*events: object) -> list[Event]:
    return read(responses, MODEL, [sse(*events, named=True)])


def finish(events: list[Event]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def test_an_answer_with_all_that_there_is() -> None:
    events = heard(*WHOLE, "[DONE]")

    assert events[:-1] == EVENTS
    told = finish(events)
    assert (told.reason, told.raw) == ("tool-calls", "completed")
    assert told.usage == Usage(input=10, cache_read=4, cache_written=1, output=5, reasoning=2)


def test_the_last_event_has_the_items_to_keep_byte_for_byte() -> None:
    body = sse(*WHOLE[:-1]) + (
        b'data: {"type":"response.completed","response":{"status":"completed",'
        b'"output":[{"type":"reasoning", "encrypted_content" : "z\\u00e4",  "summary":[]},'
        b'{"type":"x"}]}}\n\n'
    )
    told = finish(read(responses, MODEL, [body]))

    assert bytes(told.native) == (
        b'[{"type":"reasoning", "encrypted_content" : "z\\u00e4",  "summary":[]},{"type":"x"}]'
    )


def test_without_them_those_of_the_items_are_kept() -> None:
    told = finish(heard(*WHOLE[:-1], over()))

    kept = json.loads(bytes(told.native))
    assert kept == [REASONING | {"encrypted_content": "older"}, MESSAGE, CALL]


def test_reasoning_goes_back_sealed_without_its_plain_content() -> None:
    content = [{"type": "reasoning_text", "text": "plain"}]
    plain = {"type": "reasoning", "id": "r2", "summary": [], "content": content}
    output = [REASONING | {"content": content}, plain, MESSAGE]
    told = finish(heard(CREATED, over(output=output)))

    assert json.loads(bytes(told.native)) == [REASONING, plain, MESSAGE]


def test_packets_change_nothing() -> None:
    body = sse(": comment", *WHOLE, named=True, end="\r\n")
    whole = read(responses, MODEL, [body])

    assert read(responses, MODEL, [bytes([byte]) for byte in body]) == whole
    for seed in range(60):
        dice = random.Random(seed)  # noqa: S311 (a seed makes one case)
        at = sorted(dice.sample(range(len(body)), k=6))
        pieces = [body[a:b] for a, b in zip([0, *at], [*at, len(body)], strict=True)]
        assert read(responses, MODEL, pieces) == whole


def test_a_body_that_is_cut_after_any_event_is_no_answer() -> None:
    for count in range(len(WHOLE)):
        events = heard(*WHOLE[:count], "[DONE]")
        assert events[-1] == Fault(kind="truncated")
        assert not [each for each in events if isinstance(each, Finish)]


def test_items_that_come_whole_are_told_whole() -> None:
    assert heard(CREATED, over(output=[REASONING, MESSAGE, CALL]))[:-1] == [
        Begun("r1", "gpt-1"),
        *(ReasoningStart("0"), ReasoningDelta("0", "hm"), ReasoningEnd("0")),
        *(TextStart("1"), TextDelta("1", "Hello wörld"), TextEnd("1")),
        ToolInputStart("c1", "search"),
        ToolInputDelta("c1", '{"a":1}'),
        ToolInputEnd("c1"),
        ToolCall("c1", "search", '{"a":1}'),
    ]


def test_events_without_indices_are_told_once() -> None:
    events = heard(
        CREATED,
        ev("output_item.added", item={"type": "message", "id": "msg"}),
        ev("output_text.delta", item_id="msg", delta="Hello"),
        ev("output_text.done", item_id="msg", text="Hello wörld"),
        ev("output_item.done", item=MESSAGE),
        over(output=[MESSAGE]),
    )

    assert [each.text for each in events if isinstance(each, TextDelta)] == ["Hello", " wörld"]


def test_items_without_an_id_are_known_by_their_place() -> None:
    first = {"type": "function_call", "name": "a", "arguments": ""}
    events = read(
        responses,
        MODEL,
        [
            sse(
                ev("output_item.added", output_index=0, item=first),
                ev("output_item.added", output_index=1, item=first | {"name": "b"}),
                ev("function_call_arguments.delta", output_index=1, delta="{1"),
                ev("output_item.done", output_index=0, item=first),
                ev("output_item.done", output_index=1, item=first | {"arguments": ""}),
                over(output=[first, first | {"name": "b"}]),
            )
        ],
        made_ids="t/1",
    )

    assert [each for each in events if isinstance(each, ToolCall)] == [
        ToolCall("t/1-0", "a", "{}"),
        ToolCall("t/1-1", "b", "{1"),
    ]


def test_arguments_may_be_an_object_or_broken_and_are_told_as_they_are() -> None:
    events = heard(
        ev("output_item.done", item=CALL | {"id": "x", "arguments": {"a": 1}}),
        ev("output_item.done", item=CALL | {"id": "y", "call_id": "c2", "arguments": '{"a'}),
        over("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    )

    assert [each.arguments for each in events if isinstance(each, ToolCall)] == ['{"a":1}', '{"a']
    assert (finish(events).reason, finish(events).raw) == ("length", "max_output_tokens")


@pytest.mark.parametrize(
    ("raw", "reason"), [*responses.INCOMPLETE.items(), ("new", "other"), ("", "other")]
)
def test_each_word_for_an_end_is_one_of_ours(raw: str, reason: str) -> None:
    told = finish(heard(CREATED, over("incomplete", incomplete_details={"reason": raw})))

    assert (told.reason, told.raw) == (reason, raw or "incomplete")


def test_a_refusal_is_text_and_a_filter() -> None:
    item = MESSAGE | {"content": [{"type": "refusal", "refusal": "I won't"}]}
    for events in (
        heard(
            CREATED, ev("refusal.delta", item_id="msg", content_index=0, delta="I won't"), over()
        ),
        heard(CREATED, over(output=[item])),
    ):
        assert TextDelta("0", "I won't") in events
        assert TextEnd("0") in events
        assert finish(events).reason == "content-filter"


def test_reasoning_may_be_plain_and_a_source_is_one() -> None:
    cited = {"type": "url_citation", "url": "https://example.com", "title": "It"}
    events = heard(
        CREATED,
        ev("reasoning_text.delta", item_id="rs", content_index=0, delta="hm"),
        ev("output_text.annotation.added", item_id="msg", annotation=cited),
        ev("output_text.annotation.added", item_id="msg", annotation={"type": "file_path"}),
        over(),
    )

    assert ReasoningDelta("0", "hm") in events
    assert Source("https://example.com", "It") in events
    assert Skipped("file_path") in events


def test_what_is_not_understood_is_told_and_kept() -> None:
    searched = {"type": "web_search_call", "id": "ws", "status": "completed"}
    events = heard(
        CREATED,
        CREATED,
        ev("output_item.added", item=searched),
        ev("web_search_call.searching", item_id="ws"),
        ev("function_call_arguments.delta", item_id="ws", delta="x"),
        ev("function_call_arguments.delta", item_id="ws", delta=""),
        ev("output_item.done", item=searched),
        over(output=[searched]),
    )

    assert events[1:-1] == [
        Skipped("web_search_call"),
        Skipped("response.web_search_call.searching"),
    ]
    assert json.loads(bytes(finish(events).native)) == [searched]


@pytest.mark.parametrize(
    "bad",
    [
        "not JSON",
        "[]",
        {"type": 1},
        ev("output_text.delta", item_id=1, delta="x"),
        ev("output_text.delta", item_id="a", delta=1),
        ev("output_item.added", item=[]),
        ev("output_item.done", item={"type": "function_call", "arguments": 1}),
        over(output={}) | {"response": {"output": 1}},
        over(usage={"input_tokens": "many"}),
    ],
)
def test_what_is_no_event_is_a_fault_and_the_end(bad: object) -> None:
    events = heard(CREATED, bad, *WHOLE[1:])

    assert isinstance(events[-1], Fault)
    assert events[-1].kind == "malformed"


@pytest.mark.parametrize(
    "failed",
    [
        over("failed", error={"code": "server_error", "message": "Sorry"}),
        {"type": "error", "code": "server_error", "message": "Sorry"},
        {"type": "error", "error": {"code": "server_error", "message": "Sorry"}},
    ],
)
def test_an_error_in_the_stream_is_a_fault_and_the_end(failed: object) -> None:
    events = heard(CREATED, failed, *WHOLE[1:])

    assert isinstance(events[-1], Fault)
    assert (events[-1].kind, events[-1].code, events[-1].message) == (
        "server",
        "server_error",
        "Sorry",
    )
