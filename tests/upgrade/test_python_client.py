"""`turnwire-client` of today before the older gateway: a program may be upgraded first."""

from pathlib import Path

import pytest

from gateway.tokens import KEY, OTHER_KEY, token
from turnwire_client import AsyncClient, Finish, TextDelta, ToolApprovalRequest
from turnwire_client.events import Event
from turnwire_lab.agents.v2.server import ReferenceAgent
from upgrade.older import Version

pytestmark = pytest.mark.sockets


async def test_a_turn_an_approval_and_the_history_of_the_older_gateway(older: Path) -> None:
    events: list[Event] = []
    async with ReferenceAgent() as agent:
        settings: dict[str, object] = {
            "enabled": "true",
            "agent_url": agent.url,
            "jwt_key": KEY,
            "signing_keys": OTHER_KEY,
            "lag_s": 0,
            "port": 0,
            "metrics_port": 0,
        }
        async with Version(settings, older) as gateway, AsyncClient(gateway.url) as client:
            chat = client.chat("s1", token=token())
            async for event in chat.send("approve 12*7"):
                events.append(event)
                if isinstance(event, ToolApprovalRequest):
                    await chat.approve(event)
            asked, answered = await chat.history()
        (_, told) = agent.session("s1").history

    assert isinstance(events[-1], Finish)
    text = "".join(event.delta for event in events if isinstance(event, TextDelta))
    assert "84" in text
    assert text == told.text
    assert (asked.role, answered.role, answered.id) == ("user", "assistant", told.id)
