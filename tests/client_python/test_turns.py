"""Whole turns through a real gateway: their events, and the message that they make."""

import pytest

from client_python.driving import Kind, chatting, outline, text_of
from gateway.running import Gateway
from turnwire_client import (
    Abort,
    Data,
    Error,
    File,
    Finish,
    ReasoningDelta,
    SourceUrl,
    TextDelta,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputError,
)

pytestmark = pytest.mark.sockets

ENDS = Finish | Error | Abort


@pytest.mark.parametrize(
    "prompt",
    [
        "hello",
        "what is 12*7?",
        "make the tool fail",
        "think about rivers",
        "send me a picture",
        "cite two sources",
        "say nothing",
        "write a query about resume",
        "take two steps",
    ],
)
async def test_the_message_of_a_turn_is_that_of_the_history(
    kind: Kind, gateway: Gateway, prompt: str
) -> None:
    async with chatting(kind, gateway.url) as chat:
        events = [event async for event in chat.send(prompt)]
        asked, answered = await chat.history()

        assert chat.message.parts == answered.parts
        assert chat.message.id == answered.id
        assert (asked.role, asked.text) == ("user", prompt)
        assert text_of(events) == answered.text
        assert [type(event) for event in events if isinstance(event, ENDS)] == [Finish]
        assert isinstance(events[-1], Finish)


async def test_a_call_comes_with_its_input_and_its_output(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        events = [event async for event in chat.send("what is 12*7?")]

    (given,) = [event for event in events if isinstance(event, ToolInputAvailable)]
    (made,) = [event for event in events if isinstance(event, ToolOutputAvailable)]
    assert (given.tool_name, given.input) == ("calculator", {"expression": "12*7"})
    assert made.tool_call_id == given.tool_call_id
    assert made.output == {"expression": "12*7", "value": 84}
    names = [name for name in outline(events) if name not in {"Data", "ToolInputStart"}]
    assert names == [
        *("StartStep", "TextDelta", "ToolInputAvailable", "ToolOutputAvailable", "FinishStep"),
        *("StartStep", "TextDelta", "FinishStep", "Finish"),
    ]


@pytest.mark.parametrize(
    ("prompt", "event"),
    [
        ("think about rivers", ReasoningDelta),
        ("send me a picture", File),
        ("cite two sources", SourceUrl),
        ("make the tool fail", ToolOutputError),
    ],
)
async def test_what_else_a_turn_may_have(
    kind: Kind, gateway: Gateway, prompt: str, event: type[object]
) -> None:
    async with chatting(kind, gateway.url) as chat:
        assert event in {type(each) async for each in chat.send(prompt)}


async def test_the_status_of_the_agent_is_data_of_the_moment(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        events = [event async for event in chat.send("hello")]

    statuses = [event for event in events if isinstance(event, Data)]
    assert {event.name for event in statuses} == {"agent-status"}
    assert all(event.transient for event in statuses)
    assert {"status": "thinking"} in [event.data for event in statuses]


async def test_the_end_has_the_token_counts(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        *_, end = [event async for event in chat.send("hello")]

    assert isinstance(end, Finish)
    assert end.usage is not None
    assert all(isinstance(count, int) for count in end.usage.values())


async def test_a_turn_that_fails_ends_with_its_text(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        events = [event async for event in chat.send("make the turn fail")]

    assert isinstance(events[-1], Error)
    assert events[-1].error_text == "The agent was told to fail this turn."
    assert len([event for event in events if isinstance(event, ENDS)]) == 1
    assert text_of(events) == "I will try, but it will not "


async def test_a_stopped_turn_ends_with_an_abort(kind: Kind, gateway: Gateway) -> None:
    events = []
    async with chatting(kind, gateway.url) as chat:
        async for event in chat.send("hang"):
            events.append(event)
            if isinstance(event, TextDelta) and chat.message.text.endswith("stops me. "):
                receipt = await chat.stop()
        again = await chat.stop(chat.message.id)

    assert (receipt.stopped, receipt.turn_id) == (True, chat.message.id)
    assert again.reason == "canceled"
    assert isinstance(events[-1], Abort)
    assert len([event for event in events if isinstance(event, ENDS)]) == 1


async def test_the_history_comes_in_pages(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        for number in range(2):
            assert [event async for event in chat.send(f"what is {number}+1?")]
        last = await chat.history(limit=2)
        before = await chat.history(limit=1, before=last[0].id)

    assert [message.role for message in last] == ["user", "assistant"]
    assert last[0].text == "what is 1+1?"
    assert "0+1 is **1**" in before[0].text


async def test_without_a_turn_there_is_nothing_to_resume(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        assert [event async for event in chat.resume()] == []
