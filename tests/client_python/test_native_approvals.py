"""Approvals that come as the AI SDK's `tool-approval-request`, before a real gateway."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from client_python.driving import AnyChat, Kind, chatting, text_of
from gateway.running import Gateway
from gateway.tokens import NEXT_KEY
from turnwire_client import (
    Event,
    Finish,
    Question,
    RefusedError,
    Restart,
    ToolApprovalRequest,
    ToolOutputAvailable,
    ToolOutputError,
)
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


@pytest.fixture
async def gateway(agent: ReferenceAgent) -> AsyncIterator[Gateway]:
    async with Gateway(agent.url, signing_keys=NEXT_KEY, on_disconnect="continue") as gateway:
        yield gateway


def approval_in(events: list[Event]) -> ToolApprovalRequest:
    (asked,) = [event for event in events if isinstance(event, ToolApprovalRequest)]
    return asked


async def all_of(chat: AnyChat, prompt: str | None = None, verdict: str = "") -> list[Event]:
    """The events of a turn, or of the one that runs; `verdict` is what is said to an approval."""
    found: list[Event] = []
    async for event in chat.resume() if prompt is None else chat.send(prompt):
        found.append(event)
        if isinstance(event, ToolApprovalRequest) and verdict == "approve":
            await chat.approve(event)
        elif isinstance(event, ToolApprovalRequest) and verdict:
            await chat.deny(event, reason=verdict)
    return found


def call_in(chat: AnyChat) -> dict[str, Any]:
    (call,) = [part for part in chat.message.parts if part["type"] == "tool-calculator"]
    return call


@pytest.mark.parametrize(("profile", "is_taken_back"), [("7", False), ("7.1", True)])
async def test_the_newest_profile_takes_a_lost_attempt_back(
    kind: Kind,
    gateway: Gateway,
    profile: str,
    is_taken_back: bool,  # noqa: FBT001 (a parameter of pytest's)
) -> None:
    async with chatting(kind, gateway.url, profile=profile) as chat:
        events = await all_of(chat, "lose an attempt")
        _, answered = await chat.history()

        assert any(isinstance(event, Restart) for event in events) == is_taken_back
        assert (chat.message.parts == answered.parts) == is_taken_back
        assert isinstance(events[-1], Finish)


async def test_a_call_that_is_approved_runs_in_the_same_loop(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url, profile="7") as chat:
        events = await all_of(chat, "approve 12*7", "approve")
        history = await chat.history()

        asked = approval_in(events)
        assert asked.is_native
        assert (asked.tool_name, asked.input) == ("calculator", {"expression": "12*7"})
        (made,) = [event for event in events if isinstance(event, ToolOutputAvailable)]
        assert (made.tool_call_id, made.output["value"]) == (asked.tool_call_id, 84)
        assert [event for event in events if isinstance(event, Finish)] == [events[-1]]
        assert not [event for event in events if isinstance(event, Question)]
        assert text_of(events) == chat.message.text == history[-1].text
        assert call_in(chat)["state"] == "output-available"
        assert [message.role for message in history] == ["user", "assistant"]


async def test_a_call_that_is_denied_does_not_run(
    kind: Kind, gateway: Gateway, agent: ReferenceAgent
) -> None:
    async with chatting(kind, gateway.url, profile="6") as chat:
        events = await all_of(chat, "approve 12*7", "too dear")

    assert [event for event in events if isinstance(event, ToolOutputError)]
    assert not [event for event in events if isinstance(event, ToolOutputAvailable)]
    (run,) = agent.journal.of("s1")
    assert run.reason == "end_turn"


async def test_who_decides_later_resumes(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url, profile="7") as chat:
        before = await all_of(chat, "approve 12*7")
        assert isinstance(before[-1], Finish)
        assert call_in(chat)["state"] == "approval-requested"
        await chat.approve(approval_in(before))
        after = await all_of(chat)

        assert approval_in(after).tool_call_id == approval_in(before).tool_call_id
        assert [event for event in after if isinstance(event, ToolOutputAvailable)]
        assert call_in(chat)["state"] == "output-available"
        assert isinstance(after[-1], Finish)


async def test_another_process_may_decide(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url, profile="7") as chat:
        await all_of(chat, "approve 12*7")
    async with chatting(kind, gateway.url, profile="7") as chat:
        events = await all_of(chat, verdict="approve")

    assert [event for event in events if isinstance(event, ToolOutputAvailable)]


async def test_what_was_decided_elsewhere_is_read_and_not_refused(
    kind: Kind, gateway: Gateway
) -> None:
    async with (
        chatting(kind, gateway.url, profile="7") as chat,
        chatting(kind, gateway.url, profile="7") as other,
    ):
        events: list[Event] = []
        async for event in chat.send("approve 12*7"):
            events.append(event)
            if isinstance(event, ToolApprovalRequest):
                await all_of(other, verdict="too dear")
                await chat.approve(event)

        assert [event for event in events if isinstance(event, ToolOutputError)]
        assert isinstance(events[-1], Finish)


async def test_a_turn_that_waits_can_be_stopped(
    kind: Kind, gateway: Gateway, agent: ReferenceAgent
) -> None:
    async with chatting(kind, gateway.url, profile="7") as chat:
        await all_of(chat, "approve 12*7")
        receipt = await chat.stop()

    (run,) = agent.journal.of("s1")
    assert (receipt.stopped, receipt.turn_id, run.reason) == (True, run.turn_id, "canceled")


async def test_a_gateway_without_keys_refuses_the_profile(
    kind: Kind, agent: ReferenceAgent
) -> None:
    async with Gateway(agent.url) as gateway, chatting(kind, gateway.url, profile="7") as chat:
        with pytest.raises(RefusedError, match="no keys"):
            await all_of(chat, "approve 12*7")
