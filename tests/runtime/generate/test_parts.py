import json
from typing import Any, get_args

import pytest
from msgspec import Raw

from turnwire_agent.generate.parts import first_part, parts, usage, written
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
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model

MODEL = Model(provider="openai", name="gpt", shape="chat", base_url="")
PARTS: list[tuple[Event, list[dict[str, Any]]]] = [
    (Begun("r", "m"), [{"type": "response-metadata", "id": "r", "modelId": "m"}]),
    (TextStart("0"), [{"type": "text-start", "id": "0"}]),
    (TextDelta("0", "ä"), [{"type": "text-delta", "id": "0", "delta": "ä"}]),
    (TextEnd("0"), [{"type": "text-end", "id": "0"}]),
    (ReasoningStart("1"), [{"type": "reasoning-start", "id": "1"}]),
    (ReasoningDelta("1", "h"), [{"type": "reasoning-delta", "id": "1", "delta": "h"}]),
    (ReasoningEnd("1"), [{"type": "reasoning-end", "id": "1"}]),
    (ToolInputStart("c", "t"), [{"type": "tool-input-start", "id": "c", "toolName": "t"}]),
    (ToolInputDelta("c", "{"), [{"type": "tool-input-delta", "id": "c", "delta": "{"}]),
    (ToolInputEnd("c"), [{"type": "tool-input-end", "id": "c"}]),
    (
        ToolCall("c", "t", "{}"),
        [{"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": "{}"}],
    ),
    (
        FileMade("image/png", b"1"),
        [{"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": "MQ=="}}],
    ),
    (
        Source("u", "T"),
        [{"type": "source", "sourceType": "url", "id": "u", "url": "u", "title": "T"}],
    ),
    (Source("u"), [{"type": "source", "sourceType": "url", "id": "u", "url": "u"}]),
    (Skipped("x"), []),
    (
        Fault(kind="rate-limited", message="secret", status=429, retry_after_s=2.5, code="x"),
        [
            {
                "type": "error",
                "error": {
                    "kind": "rate-limited",
                    "retryable": True,
                    "status": 429,
                    "retryAfterS": 2.5,
                },
            }
        ],
    ),
    (
        Fault(kind="bad-request", message="secret"),
        [{"type": "error", "error": {"kind": "bad-request", "retryable": False}}],
    ),
]


@pytest.mark.parametrize(("event", "told"), PARTS)
def test_each_event_is_a_part(event: Event, told: list[dict[str, Any]]) -> None:
    assert parts(event, MODEL) == told


def test_every_kind_of_event_has_a_part() -> None:
    assert {type(event) for event, _ in PARTS} | {Finish} == set(get_args(Event))


def test_what_is_no_event_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="Usage"):
        parts(Usage(), MODEL)  # type: ignore[arg-type]


def test_an_end_has_the_native_blocks_before_it() -> None:
    native = Raw(b'[{"x":1.50}]')
    start, end, finish = parts(Finish("stop", "end", Usage(input=1), native), MODEL)

    assert (start["type"], end["type"], finish["type"]) == (
        "reasoning-start",
        "reasoning-end",
        "finish",
    )
    assert end["providerMetadata"]["turnwire"]["native"] == {
        "shape": "chat",
        "provider": "openai",
        "model": "gpt",
        "blocks": '[{"x":1.50}]',
    }
    assert finish["finishReason"] == {"unified": "stop", "raw": "end"}
    (alone,) = parts(Finish("stop", "", Usage(), Raw(b"[]")), MODEL)
    assert alone["type"] == "finish"


def test_usage_that_is_unknown_stays_so() -> None:
    told = Usage(input=10, cache_read=4, cache_written=1, output=5, reasoning=2)

    assert usage(told) == {
        "inputTokens": {"total": 10, "noCache": 5, "cacheRead": 4, "cacheWrite": 1},
        "outputTokens": {"total": 5, "text": 3, "reasoning": 2},
    }
    assert set(usage(Usage())["inputTokens"].values()) == {None}
    assert set(usage(Usage())["outputTokens"].values()) == {None}
    assert usage(Usage(input=1, cache_read=9))["inputTokens"]["noCache"] == 0


def test_losses_come_first_as_warnings() -> None:
    assert first_part((Loss("stop", "dropped", "it has none"),)) == {
        "type": "stream-start",
        "warnings": [{"type": "unsupported", "feature": "stop", "details": "dropped: it has none"}],
    }


def test_a_part_is_an_event_of_one_line() -> None:
    event = written({"type": "text-delta", "delta": "a\nb\u2028"})

    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    assert event.count(b"\n") == 2
    assert json.loads(event[6:]) == {"type": "text-delta", "delta": "a\nb\u2028"}
