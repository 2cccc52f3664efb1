"""Questions and approvals, answered while the stream is open."""

import pytest

from client_python.driving import AnyChat, Kind, chatting
from gateway.running import Gateway
from gateway.tokens import NEXT_KEY
from turnwire_client import (
    Event,
    Finish,
    Question,
    RefusedError,
    ToolApprovalRequest,
    ToolOutputAvailable,
    ToolOutputError,
)
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


async def decided(chat: AnyChat, *, yes: bool, reason: str | None = None) -> list[Event]:
    """The events of a turn whose approval is given, or not."""
    events = []
    async for event in chat.send("approve 12*7"):
        events.append(event)
        if isinstance(event, ToolApprovalRequest):
            await (chat.approve(event) if yes else chat.deny(event, reason=reason))
    return events


async def test_a_question_is_answered_once(kind: Kind, gateway: Gateway) -> None:
    events = []
    async with chatting(kind, gateway.url) as chat:
        async for event in chat.send("ask me: tea or coffee?"):
            events.append(event)
            if isinstance(event, Question) and event.state == "open":
                await chat.answer(event.id, "tea")
                with pytest.raises(RefusedError) as late:
                    await chat.answer(event.id, "coffee")

        opened, closed = [event for event in events if isinstance(event, Question)]
        assert (opened.options, opened.text) == (("tea", "coffee"), "Which one shall it be?")
        assert (closed.id, closed.state, closed.data["answer"]) == (opened.id, "resolved", "tea")
        assert (late.value.status, late.value.code) == (409, "question_closed")
        assert late.value.text == "The question is not open any more"
        assert "you said **tea**" in chat.message.text


async def test_a_call_that_is_approved_runs(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url) as chat:
        events = await decided(chat, yes=True)

    (asked,) = [event for event in events if isinstance(event, ToolApprovalRequest)]
    (made,) = [event for event in events if isinstance(event, ToolOutputAvailable)]
    assert (asked.tool_name, asked.input) == ("calculator", {"expression": "12*7"})
    assert (asked.tool_call_id, asked.approval_id) == (made.tool_call_id, None)
    assert made.output["value"] == 84
    assert isinstance(events[-1], Finish)


@pytest.mark.parametrize("reason", [None, "too dear"])
async def test_a_call_that_is_denied_does_not_run(
    kind: Kind, gateway: Gateway, reason: str | None
) -> None:
    async with chatting(kind, gateway.url) as chat:
        events = await decided(chat, yes=False, reason=reason)

    assert [event for event in events if isinstance(event, ToolOutputError)]
    assert not [event for event in events if isinstance(event, ToolOutputAvailable)]
    assert isinstance(events[-1], Finish)


@pytest.mark.parametrize("yes", [True, False])
async def test_with_keys_an_approval_is_answered_with_its_signed_id(
    kind: Kind,
    agent: ReferenceAgent,
    yes: bool,  # noqa: FBT001 (a column of the table)
) -> None:
    async with (
        Gateway(agent.url, signing_keys=NEXT_KEY) as gateway,
        chatting(kind, gateway.url) as chat,
    ):
        events = await decided(chat, yes=yes)

    (asked,) = [event for event in events if isinstance(event, ToolApprovalRequest)]
    outcome = ToolOutputAvailable if yes else ToolOutputError
    assert asked.approval_id
    assert [event for event in events if isinstance(event, outcome)]
