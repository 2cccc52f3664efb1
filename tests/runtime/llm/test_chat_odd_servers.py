"""Servers that speak the wire in ways of their own, and answers that are hard to send back."""

import json
import time
from typing import Any

import pytest

from runtime.llm.streams import sse
from runtime.llm.test_chat_answers import MODEL, chunk, finish, fragment, heard, native
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.events import Begun, Event, ToolCall
from turnwire_agent.llm.shapes import chat
from turnwire_agent.llm.sse import EventReader


def calls(events: list[Event]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def test_a_chunk_that_judges_the_prompt_does_not_name_the_answer() -> None:
    judged = {"id": "", "model": "", "choices": [], "prompt_filter_results": []}
    events = heard(judged, chunk(content="x"), chunk("stop"))

    assert [event for event in events if isinstance(event, Begun)] == [Begun("a1", "gpt-1")]


def test_two_calls_with_one_id_are_two() -> None:
    events = heard(
        chunk(tool_calls=[fragment(0, "c", "t", '{"a":1}'), fragment(1, "c", "t", '{"a":2')]),
        chunk(tool_calls=[fragment(1, "", "", "}")]),
        chunk("tool_calls"),
    )

    told = [ToolCall("c", "t", '{"a":1}'), ToolCall("call-1", "t", '{"a":2}')]
    assert calls(events) == told
    assert [call["id"] for call in native(events)["tool_calls"]] == ["c", "call-1"]


def test_a_made_id_is_not_one_that_the_server_gave() -> None:
    events = heard(chunk(tool_calls=[fragment(0, "call-1", "t"), fragment(1, "", "t")]))

    assert [call.id for call in calls(events)] == ["call-1", "call-2"]


@pytest.mark.parametrize("arguments", ["{", "[]", '"x"'])
def test_a_call_goes_back_with_an_object(arguments: str) -> None:
    """Servers that parse arguments refuse the whole conversation for text that is none."""
    events = heard(chunk(tool_calls=[fragment(0, "c", "t", arguments)]), chunk("length"))

    (sent,) = native(events)["tool_calls"]
    assert calls(events)[0].arguments == arguments
    assert json.loads(sent["function"]["arguments"]) == {"INVALID_JSON": arguments}


def test_an_answer_of_nothing_does_not_go_back() -> None:
    events = heard(chunk(content=""), chunk("stop"))
    answer = Answer(MODEL)
    for event in events:
        answer.add(event)

    message = answer.message()
    assert bytes(finish(events).native) == b"[]"
    assert message is not None
    assert message.native is None


def test_reasoning_that_comes_in_pieces_goes_back_in_blocks() -> None:
    def piece(text: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
        told = {"type": "reasoning.text", "index": index, "signature": "", "format": "f"}
        return told | ({} if text is None else {"text": text}) | more

    sealed = {"type": "reasoning.encrypted", "data": "abc", "index": 2}
    events = heard(
        chunk(reasoning_details=[piece("h"), piece("m")]),
        chunk(reasoning_details=[piece(signature="s0")]),
        chunk(reasoning_details=[piece("x", 1, signature=None), piece("", 1)]),
        chunk(reasoning_details=[sealed]),
        chunk(reasoning_details=[sealed], content="yes"),
        chunk("stop"),
    )

    assert native(events)["reasoning_details"] == [
        piece("hm", signature="s0"),
        piece("x", 1, signature=None),
        sealed,
        sealed,
    ]


def test_many_calls_without_an_index_cost_no_more_for_each() -> None:
    body = sse(*(chunk(tool_calls=[fragment(None, f"c{at}", "t")]) for at in range(20_000)))
    events = EventReader().feed(body)
    decoder = chat.decoder(MODEL)
    began = time.process_time()
    told = [len(decoder.event(event)) for event in events]

    assert told == [2] + [1] * 19_999
    assert time.process_time() - began < 3  # with a look at all calls before, half a minute
