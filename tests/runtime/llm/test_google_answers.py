import json
import random
import time
from typing import Any

import pytest

from runtime.llm.streams import read, sse
from turnwire_agent.llm.events import (
    Begun,
    Event,
    FileMade,
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
from turnwire_agent.llm.shapes import google
from turnwire_agent.llm.sse import ServerSentEvent

MODEL = Model(provider="google", name="gemini", shape="google", base_url="")


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "gemini-1"} | more


def called(name: str, signature: str = "", **args: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args}}
    return part | ({"thoughtSignature": signature} if signature else {})


USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
WHOLE = (
    chunk({"text": "h", "thought": True}, usageMetadata={"promptTokenCount": 10}),
    chunk({"text": "m", "thought": True}),
    chunk({"text": "Hello"}),
    chunk({"text": " wörld"}, {"text": ""}),
    chunk({"text": "", "thoughtSignature": "s0=="}),
    chunk(called("search", "s1==", a=1), called("t")),
    chunk({"text": ""}, finish="STOP", usageMetadata=USAGE | {"cachedContentTokenCount": 4}),
)
EVENTS: list[Event] = [
    Begun("r1", "gemini-1"),
    *(ReasoningStart("0"), ReasoningDelta("0", "h"), ReasoningDelta("0", "m"), ReasoningEnd("0")),
    *(TextStart("1"), TextDelta("1", "Hello"), TextDelta("1", " wörld"), TextEnd("1")),
    ToolInputStart("call-0", "search"),
    ToolInputDelta("call-0", '{"a":1}'),
    ToolInputEnd("call-0"),
    ToolCall("call-0", "search", '{"a":1}'),
    ToolInputStart("call-1", "t"),
    ToolInputEnd("call-1"),
    ToolCall("call-1", "t", "{}"),
]


def heard(*chunks: object) -> list[Event]:
    return read(google, MODEL, [sse(*chunks)])


def finish(events: list[Event]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def test_an_answer_with_all_that_there_is() -> None:
    events = heard(*WHOLE)

    assert events[:-1] == EVENTS
    told = finish(events)
    assert (told.reason, told.raw) == ("tool-calls", "STOP")
    assert told.usage == Usage(input=10, cache_read=4, output=5, reasoning=2)
    assert json.loads(bytes(told.native)) == [
        {"text": "hm", "thought": True},
        {"text": "Hello wörld"},
        {"text": "", "thoughtSignature": "s0=="},
        called("search", "s1==", a=1),
        called("t"),
    ]


def test_a_signed_part_is_kept_byte_for_byte() -> None:
    part = b'{"functionCall" : {"name":"t","args":{"x":1.50}}, "thoughtSignature":"z\\u00e4=="}'
    body = b'data: {"candidates":[{"content":{"parts":[' + part + b']},"finishReason":"STOP"}]}\n\n'
    told = finish(read(google, MODEL, [body]))

    assert bytes(told.native) == b"[" + part + b"]"


def test_packets_change_nothing() -> None:
    body = sse(": comment", *WHOLE, end="\r\n")
    whole = read(google, MODEL, [body])

    assert read(google, MODEL, [bytes([byte]) for byte in body]) == whole
    for seed in range(60):
        dice = random.Random(seed)  # noqa: S311 (a seed makes one case)
        at = sorted(dice.sample(range(len(body)), k=6))
        pieces = [body[a:b] for a, b in zip([0, *at], [*at, len(body)], strict=True)]
        assert read(google, MODEL, pieces) == whole


def test_a_body_that_is_cut_anywhere_is_no_answer() -> None:
    body = sse(*WHOLE)
    for at in range(len(body)):
        assert read(google, MODEL, [body[:at]])[-1] == Fault(kind="truncated")


@pytest.mark.parametrize(
    ("raw", "reason"), [*google.FINISH_REASONS.items(), ("A_NEW_WORD", "other")]
)
def test_each_word_for_an_end_is_one_of_ours(raw: str, reason: str) -> None:
    told = finish(heard(chunk({"text": "a"}, finish=raw)))

    assert (told.reason, told.raw) == (reason, raw)


def test_a_call_keeps_the_id_it_has_or_gets_one() -> None:
    with_id = {"functionCall": {"id": "g1", "name": "a"}}
    body = sse(chunk(with_id, *[called("b")] * 64, finish="STOP"))
    events = read(google, MODEL, [body], made_ids="t/1")

    ids = [each.id for each in events if isinstance(each, ToolCall)]
    assert ids == ["g1", *(f"t/1-{number}" for number in range(1, 65))]


def test_signed_text_and_reasoning_are_told_like_plain_ones() -> None:
    events = heard(
        chunk({"text": "a", "thoughtSignature": "s"}),
        chunk({"text": "b", "thought": True, "thoughtSignature": "s"}, finish="STOP"),
    )

    assert events[1:-1] == [
        *(TextStart("0"), TextDelta("0", "a"), TextEnd("0")),
        *(ReasoningStart("1"), ReasoningDelta("1", "b"), ReasoningEnd("1")),
    ]


def test_a_picture_is_a_file_and_a_page_a_source() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}
    grounded = chunk({"text": "a"}, picture)
    pages = [{"web": {"uri": "https://example.com", "title": "It"}}, {"retrievedContext": {}}]
    grounded["candidates"][0]["groundingMetadata"] = {"groundingChunks": pages}
    events = heard(grounded, grounded, chunk(finish="STOP"))

    assert events.count(FileMade("image/png", b"\x89PN")) == 2
    assert events.count(Source("https://example.com", "It")) == 1


def test_what_is_not_understood_is_told_and_kept() -> None:
    code = {"executableCode": {"code": "1"}, "thoughtSignature": "s"}
    second = {"index": 1, "content": {"parts": [{"text": "second"}]}}
    events = heard({"candidates": [second]}, chunk(code, finish="STOP"))

    assert events[:-1] == [Begun("", ""), Skipped("candidate"), Skipped("executableCode")]
    assert json.loads(bytes(finish(events).native)) == [code]


def test_a_prompt_that_is_blocked_is_refused() -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "No."}
    events = heard({"promptFeedback": feedback}, chunk({"text": "a"}, finish="STOP"))

    assert events == [Fault(kind="refused", code="SAFETY", message="No.")]


def test_feedback_beside_an_answer_changes_nothing() -> None:
    feedback = {"blockReason": "SAFETY"}

    events = heard(chunk({"text": "a"}, finish="STOP", promptFeedback=feedback))

    assert finish(events).reason == "stop"


@pytest.mark.parametrize(
    "bad",
    [
        "not JSON",
        "[]",
        {"candidates": 1},
        {"candidates": [1]},
        {"candidates": [{"content": []}]},
        chunk({"text": 1}),
        chunk({"functionCall": []}),
        chunk({"functionCall": {"name": 1}}),
        chunk({"functionCall": {"name": "t", "args": [1]}}),
        chunk({"inlineData": {"mimeType": "image/png", "data": "no base64!"}}),
        {"usageMetadata": {"promptTokenCount": "many"}},
    ],
)
def test_what_is_no_chunk_is_a_fault_and_the_end(bad: object) -> None:
    events = heard(WHOLE[0], bad, *WHOLE[1:])

    assert isinstance(events[-1], Fault)
    assert events[-1].kind == "malformed"


def test_an_error_in_the_stream_is_a_fault_and_the_end() -> None:
    error = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}
    events = heard(WHOLE[0], error, *WHOLE[1:])

    assert isinstance(events[-1], Fault)
    assert (events[-1].kind, events[-1].message) == ("overloaded", "Overloaded")


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"promptTokenCount": 1, "candidatesTokenCount": 0}, Usage(input=1, output=0)),
        ({"thoughtsTokenCount": 3}, Usage(output=3, reasoning=3)),
        ({"promptTokenCount": None}, Usage()),
    ],
)
def test_usage_that_is_not_told_is_unknown(told: dict[str, Any], usage: Usage) -> None:
    assert finish(heard(chunk(finish="STOP", usageMetadata=told))).usage == usage


def test_another_candidate_may_be_anything() -> None:
    odd: list[dict[str, Any]] = [{"index": 1, "content": 5}, {"index": 2, "content": {"parts": 1}}]
    first = chunk(called("t", "s=="), finish="STOP")
    events = heard(first | {"candidates": [*odd, *first["candidates"]]})

    assert json.loads(bytes(finish(events).native)) == [called("t", "s==")]


@pytest.mark.parametrize(
    "call",
    [
        {"name": "t", "willContinue": True},
        {"name": "t", "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]},
        {"args": {"a": 1}},
    ],
)
def test_half_a_call_is_a_fault_and_never_a_call(call: dict[str, Any]) -> None:
    last = heard(chunk({"functionCall": call}), chunk(finish="STOP"))[-1]

    assert isinstance(last, Fault)
    assert last.kind == "malformed"


def test_two_calls_with_one_id_are_two() -> None:
    twice = {"functionCall": {"id": "g", "name": "t", "args": {}}}
    events = heard(chunk(twice, twice, finish="STOP"))

    assert [event.id for event in events if isinstance(event, ToolCall)] == ["g", "call-1"]


def test_many_candidates_cost_no_more_for_each() -> None:
    candidate = chunk({"text": "x", "thoughtSignature": "s"})["candidates"][0]
    event = ServerSentEvent("", json.dumps({"candidates": [candidate] * 10_000}).encode())
    began = time.process_time()

    assert len(google.decoder(MODEL).event(event)) > 10_000
    assert time.process_time() - began < 2  # if each is looked for in all of the chunk, 20 seconds
