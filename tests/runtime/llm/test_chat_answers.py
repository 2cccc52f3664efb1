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
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.shapes import chat

MODEL = Model(provider="openai", name="gpt", shape="chat", base_url="https://example.com/v1")
USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "a1", "model": "gpt-1", "choices": [choice]}


def fragment(index: int | None, call_id: str = "", name: str = "", arguments: Any = None) -> Any:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    told: dict[str, Any] = {"function": function} | ({"id": call_id} if call_id else {})
    return told if index is None else told | {"index": index}


def heard(*chunks: object, quirks: Quirks | None = None, done: bool = True) -> list[Event]:
    model = Model(
        provider="openai", name="gpt", shape="chat", base_url="", quirks=quirks or Quirks()
    )
    return read(chat, model, [sse(*chunks, *(["[DONE]"] if done else []))])


def finish(events: list[Event]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def native(events: list[Event]) -> Any:
    (message,) = json.loads(bytes(finish(events).native))
    return message


def calls(events: list[Event]) -> list[tuple[str, str, str]]:
    told = [each for each in events if isinstance(each, ToolCall)]
    for call in told:
        pieces = [e.text for e in events if isinstance(e, ToolInputDelta) and e.id == call.id]
        assert ("".join(pieces) or "{}") == call.arguments
        assert ToolInputStart(call.id, call.name) in events
        assert ToolInputEnd(call.id) in events
    return [(each.id, each.name, each.arguments) for each in told]


WHOLE = (
    chunk(role="assistant", content=""),
    chunk(reasoning_content="hm", reasoning="hm"),
    chunk(reasoning_content="m"),
    chunk(content="Hello"),
    chunk(content=" wörld \u2028"),
    chunk(tool_calls=[fragment(0, "c1", "search", "")]),
    chunk(tool_calls=[fragment(1, "c2", "t", '{"b"'), fragment(0, arguments='{"a":')]),
    chunk(tool_calls=[fragment(0, arguments="1}"), fragment(1, arguments=":2}")]),
    chunk("tool_calls"),
    {"id": "a1", "model": "gpt-1", "choices": [], "usage": USAGE},
)
EVENTS: list[Event] = [
    Begun("a1", "gpt-1"),
    ReasoningStart("0"),
    ReasoningDelta("0", "hm"),
    ReasoningDelta("0", "m"),
    ReasoningEnd("0"),
    TextStart("1"),
    TextDelta("1", "Hello"),
    TextDelta("1", " wörld \u2028"),
    TextEnd("1"),
    ToolInputStart("c1", "search"),
    ToolInputStart("c2", "t"),
    ToolInputDelta("c2", '{"b"'),
    ToolInputDelta("c1", '{"a":'),
    ToolInputDelta("c1", "1}"),
    ToolInputDelta("c2", ":2}"),
    ToolInputEnd("c1"),
    ToolCall("c1", "search", '{"a":1}'),
    ToolInputEnd("c2"),
    ToolCall("c2", "t", '{"b":2}'),
]


def test_an_answer_with_all_that_there_is() -> None:
    events = heard(*WHOLE)

    assert events[:-1] == EVENTS
    told = finish(events)
    assert (told.reason, told.raw) == ("tool-calls", "tool_calls")
    assert told.usage == Usage(input=10, cache_read=4, output=5, reasoning=2)
    assert native(events) == {
        "role": "assistant",
        "content": "Hello wörld \u2028",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "search", "arguments": '{"a":1}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "t", "arguments": '{"b":2}'}},
        ],
    }


def test_packets_change_nothing() -> None:
    body = sse(": comment", *WHOLE, "[DONE]", end="\r\n")
    whole = read(chat, MODEL, [body])

    assert read(chat, MODEL, [bytes([byte]) for byte in body]) == whole
    for seed in range(100):
        dice = random.Random(seed)  # noqa: S311 (a seed makes one case)
        at = sorted(dice.sample(range(len(body)), k=6))
        pieces = [body[a:b] for a, b in zip([0, *at], [*at, len(body)], strict=True)]
        assert read(chat, MODEL, pieces) == whole


def test_a_body_that_is_cut_anywhere_is_no_answer() -> None:
    body = sse(*WHOLE[:-2])
    for at in range(len(body)):
        events = read(chat, MODEL, [body[:at]])
        assert events[-1] == Fault(kind="truncated")
        assert not [each for each in events if isinstance(each, Finish | ToolCall)]


def test_a_finish_reason_is_an_end_and_so_is_done_alone() -> None:
    assert finish(heard(chunk(content="a"), chunk("length"), done=False)).reason == "length"
    told = finish(heard(chunk(content="a")))
    assert (told.reason, told.raw) == ("stop", "")
    assert finish(heard(chunk(tool_calls=[fragment(0, "c", "t")]))).reason == "tool-calls"


@pytest.mark.parametrize(("raw", "reason"), [*chat.FINISH_REASONS.items(), ("new_word", "other")])
def test_each_word_for_an_end_is_one_of_ours(raw: str, reason: str) -> None:
    told = finish(heard(chunk(raw)))

    assert (told.reason, told.raw) == (reason, raw)


def test_stop_with_calls_means_the_calls_and_a_refusal_is_a_filter() -> None:
    assert finish(heard(chunk("stop", tool_calls=[fragment(0, "c", "t")]))).reason == "tool-calls"
    events = heard(chunk(refusal="I won't"), chunk("stop"))
    assert finish(events).reason == "content-filter"
    assert TextDelta("0", "I won't") in events
    assert native(events) == {"role": "assistant", "refusal": "I won't"}


@pytest.mark.parametrize(
    "fragments",
    [
        # By index, each whole.
        [fragment(0, "c1", "a", "{}"), fragment(1, "c2", "b", '{"x":1}')],
        # Always the same index, with an id of its own each.
        [fragment(0, "c1", "a", "{}"), fragment(0, "c2", "b", '{"x":1}')],
        # Without an index, whole or in pieces, with the id in each or in the first.
        [fragment(None, "c1", "a", "{}"), fragment(None, "c2", "b", '{"x":1}')],
        [
            fragment(None, "c1", "a", "{}"),
            fragment(None, "c2", "b", '{"x"'),
            fragment(None, "c2", arguments=":1}"),
        ],
        [
            fragment(None, "c1", "a", "{}"),
            fragment(None, "c2", "b", '{"x"'),
            fragment(None, arguments=":1}"),
        ],
        # The name comes after the first piece; the id with each piece; arguments as an object.
        [
            fragment(0, "c1", "a", "{}"),
            fragment(1, "c2", "", '{"x"'),
            fragment(1, "c2", "b", ":1}"),
        ],
        [fragment(0, "c1", "a", {}), fragment(1, "c2", "b", {"x": 1})],
    ],
)
def test_calls_in_fragments_of_each_kind(fragments: list[Any]) -> None:
    for one_by_one in (True, False):
        chunks = (
            [chunk(tool_calls=[each]) for each in fragments]
            if one_by_one
            else [chunk(tool_calls=fragments)]
        )
        assert calls(heard(*chunks, chunk("tool_calls"))) == [
            ("c1", "a", "{}"),
            ("c2", "b", '{"x":1}'),
        ]


def test_no_arguments_are_an_empty_object_and_no_id_gets_one() -> None:
    fragments = [fragment(number, "", "t") for number in range(64)]
    body = sse(chunk(tool_calls=fragments), chunk("tool_calls"), "[DONE]")
    events = read(chat, MODEL, [body], made_ids="turn/3")

    assert calls(events) == [(f"turn/3-{number}", "t", "{}") for number in range(64)]
    assert calls(heard(chunk(tool_calls=[fragment(None, "", "a"), fragment(None, "", "b")]))) == [
        ("call-0", "a", "{}"),
        ("call-1", "b", "{}"),
    ]


def test_a_call_that_never_gets_a_name_is_none() -> None:
    events = heard(chunk(tool_calls=[fragment(0, "c1", arguments="{}")]), chunk("stop"))

    assert Skipped("a call without a name") in events
    assert finish(events).reason == "stop"
    assert bytes(finish(events).native) == b"[]"


def test_what_other_makes_add_goes_back_to_them() -> None:
    signed = fragment(0, "c", "t", "{}") | {"extra_content": {"google": {"signature": "xyz"}}}
    detail = {"type": "reasoning.encrypted", "data": "abc"}
    quirks = Quirks(reasoning_field="reasoning_content")
    events = heard(
        chunk(reasoning="hm"),
        chunk(reasoning_details=[detail]),
        chunk(reasoning_details=[detail], tool_calls=[signed]),
        quirks=quirks,
    )

    message = native(events)
    assert message["tool_calls"][0]["extra_content"] == {"google": {"signature": "xyz"}}
    assert message["reasoning_details"] == [detail, detail]
    assert message["reasoning_content"] == "hm"
    assert "reasoning_content" not in native(heard(chunk(content="x", reasoning="hm")))


def test_content_may_be_a_list_of_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thinking, {"type": "text", "text": "yes"}, {"type": "reference", "ids": [1]}]
    events = heard(chunk(content=parts), chunk("stop"))

    assert ReasoningDelta("0", "hm") in events
    assert TextDelta("1", "yes") in events
    assert Skipped("reference") in events


def test_what_is_not_understood_is_told() -> None:
    other = {"index": 1, "delta": {"content": "second"}}
    events = heard(
        chunk(content="a", audio={"id": 1}, annotations=[]),
        {"choices": [other]},
        chunk("stop"),
    )

    assert [each for each in events if isinstance(each, Skipped)] == [
        Skipped("audio"),
        Skipped("choice"),
    ]


def test_reasoning_after_text_is_a_block_of_its_own() -> None:
    events = heard(chunk(content="a"), chunk(reasoning="b"), chunk(content="c"), chunk("stop"))

    assert events[1:-1] == [
        *(TextStart("0"), TextDelta("0", "a"), TextEnd("0")),
        *(ReasoningStart("1"), ReasoningDelta("1", "b"), ReasoningEnd("1")),
        *(TextStart("2"), TextDelta("2", "c"), TextEnd("2")),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "not JSON",
        "[]",
        "\\ud800",
        {"choices": 1},
        {"choices": [1]},
        {"choices": [{"delta": []}]},
        {"choices": [{"delta": {"content": 1}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": 1}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": "0"}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": 1}}]}}]},
        {"usage": {"prompt_tokens": "many"}, "choices": []},
    ],
)
def test_what_is_no_chunk_is_a_fault_and_the_end(bad: object) -> None:
    events = heard(chunk(content="a"), bad, chunk(content="b"), chunk("stop"))

    assert isinstance(events[-1], Fault)
    assert events[-1].kind == "malformed"
    assert TextDelta("0", "b") not in events


def test_an_error_in_the_stream_is_a_fault_and_the_end() -> None:
    error = {"error": {"message": "Overloaded", "type": "server_error", "code": 503}}
    events = heard(chunk(content="a"), error, chunk("stop"))

    assert isinstance(events[-1], Fault)
    assert events[-1].transient
    assert len(events) == 4


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"prompt_tokens": 1, "completion_tokens": 0}, Usage(input=1, output=0)),
        ({"prompt_cache_hit_tokens": 3}, Usage(cache_read=3)),
        ({"prompt_tokens_details": None, "prompt_tokens": -1}, Usage()),
        ({"prompt_tokens_details": {"cache_write_tokens": 9}}, Usage(cache_written=9)),
    ],
)
def test_usage_that_is_not_told_is_unknown(told: dict[str, Any], usage: Usage) -> None:
    assert finish(heard(chunk("stop") | {"usage": told})).usage == usage
    assert finish(heard(chunk("stop"))).usage == Usage()


def test_usage_that_only_groq_tells_is_read() -> None:
    groq = {"x_groq": {"id": "r1", "usage": {"prompt_tokens": 7, "completion_tokens": 3}}}
    begun = chunk(content="a") | {"x_groq": {"id": "r1"}}
    ended = {"usage": USAGE, "choices": []}

    assert finish(heard(begun, chunk("stop") | groq)).usage == Usage(input=7, output=3)
    told = Usage(input=10, cache_read=4, output=5, reasoning=2)
    for chunks in (
        (chunk("stop") | groq, ended),
        (ended, chunk("stop") | groq),
        (chunk("stop") | groq | {"usage": USAGE},),
    ):
        assert finish(heard(*chunks)).usage == told
