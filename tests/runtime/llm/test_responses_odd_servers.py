"""Servers that speak the wire in ways of their own, and answers that are hard to send back."""

import json
import time
from typing import Any

import pytest

from runtime.llm.test_responses_answers import (
    CALL,
    CREATED,
    MESSAGE,
    MODEL,
    REASONING,
    ev,
    finish,
    heard,
    over,
)
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.events import Event, ReasoningDelta, TextEnd, ToolCall
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shapes import responses
from turnwire_agent.llm.sse import ServerSentEvent
from turnwire_agent.llm.transcript import Assistant, Call, Reasoning, Text, User


def answered(events: list[Event]) -> Assistant:
    answer = Answer(MODEL)
    for event in events:
        answer.add(event)
    message = answer.message()
    assert message is not None
    return message


def native(events: list[Event]) -> Any:
    return json.loads(bytes(finish(events).native))


def test_an_item_with_another_id_in_each_event_is_known_by_its_place() -> None:
    ids = iter(f"id-{number}" for number in range(99))

    def item(item: dict[str, Any]) -> dict[str, Any]:
        return item | {"id": next(ids)}

    def more(kind: str, place: int, **fields: Any) -> dict[str, Any]:
        return ev(kind, output_index=place, item_id=next(ids), **fields)

    events = heard(
        CREATED,
        ev("output_item.added", output_index=0, item=item(REASONING | {"summary": []})),
        more("reasoning_summary_text.delta", 0, summary_index=0, delta="h"),
        more("reasoning_summary_text.delta", 0, summary_index=0, delta="m"),
        ev("output_item.done", output_index=0, item=item(REASONING)),
        ev("output_item.added", output_index=1, item=item(MESSAGE | {"content": []})),
        more("output_text.delta", 1, content_index=0, delta="Hello"),
        more("output_text.delta", 1, content_index=0, delta=" wörld"),
        more("output_text.done", 1, content_index=0, text="Hello wörld"),
        ev("output_item.done", output_index=1, item=item(MESSAGE)),
        ev("output_item.added", output_index=2, item=item(CALL | {"arguments": ""})),
        more("function_call_arguments.delta", 2, delta='{"a":1}'),
        ev("output_item.done", output_index=2, item=item(CALL)),
        over(output=[item(REASONING), item(MESSAGE), item(CALL)]),
    )

    parts = (Reasoning("hm"), Text("Hello wörld"), Call("c1", "search", '{"a":1}'))
    assert answered(events).parts == parts


def test_a_part_that_was_not_told_comes_with_its_item() -> None:
    content = [*MESSAGE["content"], {"type": "refusal", "refusal": "No."}]
    events = heard(
        CREATED,
        ev("output_item.added", output_index=0, item=MESSAGE | {"content": []}),
        ev("output_text.delta", item_id="msg", content_index=0, delta="Hello"),
        ev("output_item.done", output_index=0, item=MESSAGE | {"content": content}),
        over(),
    )

    assert answered(events).parts == (Text("Hello wörld"), Text("No."))
    assert len([event for event in events if isinstance(event, TextEnd)]) == 2
    assert finish(events).reason == "content-filter"


def test_reasoning_in_an_item_that_was_never_added_is_told_once() -> None:
    plain = {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "hm"}]}
    events = heard(
        CREATED,
        ev("reasoning_text.delta", item_id="r", content_index=0, delta="h"),
        ev("reasoning_text.delta", item_id="r", content_index=0, delta="m"),
        ev("output_item.done", output_index=0, item=plain),
        over(output=[plain, MESSAGE]),
    )

    told = [event.text for event in events if isinstance(event, ReasoningDelta)]
    assert told == ["h", "m"]


def test_two_items_in_one_place_are_two() -> None:
    events = heard(
        CREATED,
        ev("output_text.delta", output_index=0, content_index=0, delta="one"),
        ev("output_item.added", output_index=0, item=MESSAGE | {"id": None}),
        ev("output_text.delta", output_index=0, content_index=0, delta="two"),
        ev("completed", response={"output": None}),
    )

    assert answered(events).parts == (Text("one"), Text("two"))


def test_reasoning_that_nothing_follows_does_not_go_back() -> None:
    """The provider refuses it, and with it every request after."""
    cut = heard(CREATED, over("incomplete", [MESSAGE, REASONING, REASONING | {"id": "r2"}]))
    alone = heard(CREATED, over("incomplete", [REASONING]))

    assert native(cut) == [MESSAGE]
    assert native(alone) == []
    assert answered(alone) == Assistant((Reasoning("hm"),))


@pytest.mark.parametrize("arguments", ['{"a":', {"a": 1}, "", None])
def test_a_call_goes_back_with_an_object(arguments: Any) -> None:
    """Servers that parse arguments refuse text that is none."""
    events = heard(CREATED, over(output=[CALL | {"arguments": arguments}]))

    (sent,) = native(events)
    assert isinstance(json.loads(sent["arguments"]), dict)
    assert sent | {"arguments": ""} == CALL | {"arguments": ""}


@pytest.mark.parametrize("call_id", ["", "c1"])
def test_a_call_without_an_id_of_its_own_gets_one_and_goes_back_with_it(call_id: str) -> None:
    second = CALL | {"id": "fc2", "call_id": call_id}
    events = heard(CREATED, over(output=[CALL, second]))

    ids = [event.id for event in events if isinstance(event, ToolCall)]
    assert ids == ["c1", "call-1"]
    assert [item["call_id"] for item in native(events)] == ids


@pytest.mark.parametrize(
    "bad",
    [
        ev("output_item.done", output_index=0, item=None),
        ev("output_item.done", output_index=0, item=CALL | {"name": ""}),
        ev("output_item.done", output_index=[], item=CALL),
        ev("output_text.delta", item_id="m", content_index={}, delta="x"),
    ],
)
def test_what_cannot_be_is_a_fault(bad: object) -> None:
    last = heard(CREATED, bad, over())[-1]

    assert isinstance(last, Fault)
    assert last.kind == "malformed"


def test_a_long_answer_costs_no_more_for_each_delta() -> None:
    delta = ev("output_text.delta", item_id="m", content_index=0, delta="x" * 2000)
    event = ServerSentEvent("", json.dumps(delta).encode())
    decoder = responses.decoder(MODEL)
    began = time.process_time()
    told = [len(decoder.event(event)) for _ in range(20_000)]

    whole = ev("output_text.done", item_id="m", content_index=0, text="x")
    event = ServerSentEvent("", json.dumps(whole).encode())
    for _ in range(10_000):
        assert decoder.event(event) == []

    assert told == [2] + [1] * 19_999
    assert time.process_time() - began < 3  # with a copy of all that was told, it is a minute


def test_a_message_of_nothing_is_not_sent() -> None:
    said = (User((Text("hi"),)), Assistant((Text("yes"),)), User((Text(""),)))
    sent = responses.encode(MODEL, Request(transcript=said))

    assert len(json.loads(sent.body)["input"]) == 2
    assert sent.losses == (Loss("messages[2]", "dropped", "there is nothing in it"),)


def test_arguments_that_are_no_object_are_told() -> None:
    said = (User((Text("hi"),)), Assistant((Call("c", "t", "{"),)))
    why = "they are no JSON object"

    assert responses.encode(MODEL, Request(transcript=said)).losses == (
        Loss("messages[1].arguments", "sent as text", why),
    )
