import json
import random
from typing import Any

import msgspec
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
    thinking,
)
from runtime.llm.streams import read, sse
from turnwire_agent.llm.answer import Answer
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
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shapes import messages
from turnwire_agent.llm.sse import EventReader
from turnwire_agent.llm.transcript import Result, Results, Text, User

WHOLE = (
    BEGIN,
    *thinking(0, "hm", "Ab+/=="),
    {"type": "ping"},
    start(1, "redacted_thinking", data="x"),
    stop(1),
    *text(2, "Hello", " wörld \u2028"),
    *call(3, "c1", "search", '{"a":', " 1.50}"),
    *call(4, "c2", "t", ""),
    ended("tool_use", output_tokens=20),
    STOP,
)
EVENTS: list[Event] = [
    Begun("m1", "claude-1"),
    *(ReasoningStart("0"), ReasoningDelta("0", "hm"), ReasoningEnd("0")),
    *(ReasoningStart("1"), ReasoningEnd("1")),
    *(TextStart("2"), TextDelta("2", "Hello"), TextDelta("2", " wörld \u2028"), TextEnd("2")),
    ToolInputStart("c1", "search"),
    *(ToolInputDelta("c1", '{"a":'), ToolInputDelta("c1", " 1.50}")),
    *(ToolInputEnd("c1"), ToolCall("c1", "search", '{"a": 1.50}')),
    *(ToolInputStart("c2", "t"), ToolInputEnd("c2"), ToolCall("c2", "t", "{}")),
]
NATIVE = (
    '[{"type":"thinking","thinking":"hm","signature":"Ab+/=="},'
    '{"type": "redacted_thinking", "data": "x"},'  # as it was sent
    '{"type":"text","text":"Hello wörld \u2028"},'
    '{"type":"tool_use","id":"c1","name":"search","input":{"a": 1.50}},'
    '{"type": "tool_use", "id": "c2", "name": "t", "input": {}}]'
)


def test_an_answer_with_all_that_there_is() -> None:
    events = read(messages, MODEL, [sse(*WHOLE, named=True)])

    assert events[:-1] == EVENTS
    told = finish(events)
    assert (told.reason, told.raw) == ("tool-calls", "tool_use")
    assert told.usage == Usage(input=10, output=20)
    assert bytes(told.native).decode() == NATIVE


def test_packets_change_nothing_nor_do_names_and_comments() -> None:
    whole = read(messages, MODEL, [sse(*WHOLE, named=True)])
    body = b": comment\r\n" + sse(*WHOLE, end="\r\n")

    assert read(messages, MODEL, [bytes([byte]) for byte in body]) == whole
    for seed in range(100):
        dice = random.Random(seed)  # noqa: S311 (a seed makes one case)
        at = sorted(dice.sample(range(len(body)), k=6))
        pieces = [body[a:b] for a, b in zip([0, *at], [*at, len(body)], strict=True)]
        assert read(messages, MODEL, pieces) == whole


def test_a_body_that_is_cut_anywhere_is_no_answer() -> None:
    body = sse(*WHOLE, named=True)
    for at in range(len(body) - 1):
        events = read(messages, MODEL, [body[:at]])
        assert events[-1] == Fault(kind="truncated")
        assert not [each for each in events if isinstance(each, Finish)]
        gathered = Answer(MODEL)
        for event in events:
            gathered.add(event)
        assert gathered.message() is None


def test_nothing_comes_after_the_end() -> None:
    whole = read(messages, MODEL, [sse(*WHOLE)])

    assert read(messages, MODEL, [sse(*WHOLE, *WHOLE, "[DONE]", {"type": "error"})]) == whole


def test_ten_steps_with_calls_side_by_side_go_back_as_they_came() -> None:
    transcript: list[Any] = [User((Text("hi"),))]
    natives: list[bytes] = []
    for step in range(10):
        calls = [call(n + 1, f"c{step}-{n}", "t", f'{{"n" : {n}.0}}') for n in range(3)]
        thought = thinking(0, f"step {step} ü", f"sig+{step}/==")
        answer = Answer(MODEL)
        for event in events_of(
            *thought, *(each for one in calls for each in one), reason="tool_use"
        ):
            answer.add(event)
        message = answer.message()
        assert message is not None
        assert message.native is not None
        natives.append(bytes(message.native.blocks))
        again = msgspec.json.decode(msgspec.json.encode(message), type=type(message))
        results = tuple(Result(each.id, each.name, (Text("ok"),)) for each in again.calls)
        transcript += [again, Results(results)]

    encoded = messages.encode(MODEL, Request(transcript=tuple(transcript), effort="high"))

    assert encoded.losses == ()
    for step, blocks in enumerate(natives):
        assert b'{"role":"assistant","content":' + blocks + b"}" in encoded.body
        assert f'"signature":"sig+{step}/=="'.encode() in blocks
        assert blocks.count(b'{"n" : ') == 3


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool-calls"),
        ("refusal", "content-filter"),
        ("pause_turn", "other"),
        ("compaction", "other"),
        ("new_word" * 20, "other"),
        ("", "stop"),
    ],
)
def test_each_word_for_an_end_is_one_of_ours(raw: str, reason: str) -> None:
    told = finish(events_of(*text(0, "a"), reason=raw))

    assert (told.reason, told.raw) == (reason, raw[:64])


@pytest.mark.parametrize("raw", ["", "end_turn", "stop_sequence", "tool_use"])
def test_an_end_with_calls_means_the_calls(raw: str) -> None:
    assert finish(events_of(*call(0, "c", "t"), reason=raw)).reason == "tool-calls"


def test_the_last_word_for_an_end_counts_and_null_is_none() -> None:
    events = events_of(ended("max_tokens"), reason="refusal")
    assert finish(events).reason == "content-filter"
    body = sse(BEGIN, ended("max_tokens"), ended(None), STOP)
    assert finish(read(messages, MODEL, [body])).reason == "length"


def test_usage_is_of_all_of_the_answer_so_far_and_the_cache_is_a_part_of_the_input() -> None:
    usage = {
        "input_tokens": 25,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 5,
        "output_tokens": 1,
    }
    begin = {"type": "message_start", "message": {"usage": usage}}
    events = read(messages, MODEL, [sse(begin, ended("end_turn", output_tokens=8), STOP)])
    assert finish(events).usage == Usage(input=40, cache_read=5, cache_written=10, output=8)

    later: dict[str, Any] = {
        "input_tokens": 30,
        "cache_read_input_tokens": 6,
        "cache_creation_input_tokens": None,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    more = (ended("end_turn", **later, output_tokens=7), ended(None, output_tokens=9))
    assert finish(read(messages, MODEL, [sse(begin, *more, STOP)])).usage == Usage(
        input=46, cache_read=6, cache_written=10, output=9, reasoning=3
    )


def test_usage_that_is_not_told_is_unknown() -> None:
    begin = {"type": "message_start", "message": {"usage": {"cache_read_input_tokens": 4}}}
    assert finish(read(messages, MODEL, [sse(begin, STOP)])).usage == Usage(cache_read=4)
    begin = {"type": "message_start", "message": {}}
    assert finish(read(messages, MODEL, [sse(begin, STOP)])).usage == Usage()


def test_blocks_may_be_told_side_by_side() -> None:
    one, other = call(0, "c1", "a", '{"x":', "1}"), call(1, "c2", "b", '{"y":', "2}")
    mixed = [each for pair in zip(one, other, strict=True) for each in pair]
    events = events_of(*mixed)

    assert [each for each in events if isinstance(each, ToolCall)] == [
        ToolCall("c1", "a", '{"x":1}'),
        ToolCall("c2", "b", '{"y":2}'),
    ]


def test_a_call_may_be_whole_at_once_and_64_are_told_in_one_answer() -> None:
    at_once = [start(0, "tool_use", id="c", name="t", input={"ü": [1]}), stop(0)]
    events = events_of(*at_once)
    assert events[1:-1] == [
        ToolInputStart("c", "t"),
        ToolInputDelta("c", '{"ü":[1]}'),
        ToolInputEnd("c"),
        ToolCall("c", "t", '{"ü":[1]}'),
    ]
    assert native(events) == [at_once[0]["content_block"]]

    many = [event for n in range(64) for event in call(n, "", "t")]
    body = sse(BEGIN, *many, ended("tool_use"), STOP)
    events = read(messages, MODEL, [body], made_ids="turn-3")
    ids = [f"turn-3-{n}" for n in range(64)]
    assert [each.id for each in events if isinstance(each, ToolCall)] == ids
    assert [each["id"] for each in native(events)] == ids


@pytest.mark.parametrize("broken", ['{"a": ', "[1]", '{"a":"' + "[" * 100_000])
def test_a_call_that_is_cut_is_told_as_it_came_and_goes_back_as_text(broken: str) -> None:
    events = events_of(*call(0, "c", "t", broken)[:-1], reason="max_tokens")

    assert ToolCall("c", "t", broken) in events
    assert finish(events).reason == "length"
    assert native(events)[0]["input"] == {"INVALID_JSON": broken}


def test_a_call_without_an_id_gets_one() -> None:
    decoder = messages.decoder(MODEL)
    for event in EventReader().feed(sse(BEGIN, *call(0, "", "t")[:1])):
        events = decoder.event(event)

    assert events == [ToolInputStart("call-0", "t")]


def test_two_calls_of_one_id_are_two_also_when_they_go_back() -> None:
    events = events_of(
        *call(0, "c", "a", "{}"),
        *call(1, "c", "b", '{"n":1}'),
        *call(2, "c", "a", "{}"),
    )

    calls = [each for each in events if isinstance(each, ToolCall)]
    assert calls == [
        ToolCall("c", "a", "{}"),
        ToolCall("call-1", "b", '{"n":1}'),
        ToolCall("call-2", "a", "{}"),
    ]
    assert [each["id"] for each in native(events)] == ["c", "call-1", "call-2"]


def test_a_call_may_begin_without_an_input() -> None:
    pieces = call(0, "c", "t", '{"a":1}')[1:]
    events = events_of(start(0, "tool_use", id="c", name="t"), *pieces)

    assert ToolCall("c", "t", '{"a":1}') in events
    assert native(events)[0]["input"] == {"a": 1}


def test_a_call_without_a_name_is_none() -> None:
    events = events_of(*call(0, "c", "", "{}"))

    assert events[1:-1] == [Skipped("a call without a name")]
    assert finish(events).reason == "stop"
    assert native(events) == []


def test_thinking_without_its_signature_goes_back_only_if_the_model_ended_by_itself() -> None:
    unsigned = [*thinking(0, "hm", ""), *text(1, "a")]

    assert [each["type"] for each in native(events_of(*unsigned))] == ["thinking", "text"]
    for cut in ("max_tokens", "refusal", "pause_turn"):
        assert [each["type"] for each in native(events_of(*unsigned, reason=cut))] == ["text"]
        signed = [*thinking(0, "hm", "s"), *text(1, "a")]
        assert len(native(events_of(*signed, reason=cut))) == 2


def test_text_of_white_space_alone_does_not_go_back() -> None:
    assert native(events_of(*text(0), *text(1, "\n", "\n"), *text(2, "a"))) == [
        {"type": "text", "text": "a"}
    ]


def test_a_block_may_have_words_at_its_start_and_need_not_stop() -> None:
    events = events_of(
        start(0, "thinking", thinking="h"),
        delta(0, "thinking_delta", thinking="m"),
        start(0, "text", text="a"),
        delta(0, "text_delta", text=""),
        delta(0, "text_delta", text="b"),
    )

    assert events[1:-1] == [
        *(ReasoningStart("0"), ReasoningDelta("0", "h"), ReasoningDelta("0", "m")),
        ReasoningEnd("0"),
        *(TextStart("1"), TextDelta("1", "a"), TextDelta("1", "b"), TextEnd("1")),
    ]
    assert [each[each["type"]] for each in native(events)] == ["hm", "ab"]


def test_the_json_of_the_journal_is_that_of_the_wire() -> None:
    assert json.loads(NATIVE) == native(read(messages, MODEL, [sse(*WHOLE)]))
