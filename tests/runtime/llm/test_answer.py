import msgspec
import pytest
from msgspec import Raw

from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.events import (
    Begun,
    Event,
    FileMade,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.transcript import Assistant, Call, File, Image, Native, Reasoning, Text

MODEL = Model(provider="p", name="m", shape="chat", base_url="")
EVENTS: list[Event] = [
    Begun("r", "m-1"),
    ReasoningStart("0"),
    TextStart("1"),
    TextDelta("1", "a"),
    ReasoningDelta("0", "h"),
    TextDelta("1", "b"),
    ReasoningDelta("0", "m"),
    ReasoningEnd("0"),
    TextEnd("1"),
    ToolInputStart("c", "t"),
    ToolCall("c", "t", '{"a":1}'),
    FileMade("image/png", b"1"),
    FileMade("audio/wav", b"2"),
]
PARTS = (
    Reasoning("hm"),
    Text("ab"),
    Call("c", "t", '{"a":1}'),
    Image("image/png", b"1"),
    File("audio/wav", b"2"),
)


def gathered(*events: Event) -> Assistant | None:
    answer = Answer(MODEL)
    for event in events:
        answer.add(event)
    return answer.message()


@pytest.mark.parametrize("native", [b"[]", b'[{"x":1}]'])
def test_an_answer_is_its_blocks_and_its_native_ones(native: bytes) -> None:
    message = gathered(*EVENTS, Finish("stop", "stop", Usage(), Raw(native)))

    assert message
    assert message.parts == PARTS
    if native == b"[]":
        assert message.native is None
    else:
        assert message.native == Native("chat", "p", "m", Raw(native))


@pytest.mark.parametrize("end", [[], [Fault(kind="truncated")]])
def test_an_answer_that_was_cut_is_none(end: list[Event]) -> None:
    assert gathered(*EVENTS, *end) is None


def test_what_a_transcript_keeps_is_read_back_from_json() -> None:
    message = gathered(*EVENTS, Finish("stop", "stop", Usage(), Raw(b'[{"x":1.50}]')))
    kept = msgspec.json.encode(message)
    again = msgspec.json.decode(kept, type=Assistant)

    assert again.parts == PARTS
    assert again.native
    assert bytes(again.native.blocks) == b'[{"x":1.50}]'
