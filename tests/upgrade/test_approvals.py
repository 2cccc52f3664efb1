"""An approval that one version showed counts at the other: both sign with the same keys."""

from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from gateway.clients import Json, ask, chunks, new_client, said
from gateway.tokens import KEY, OTHER_KEY, bearer
from turnwire_lab.agents.v2.server import ReferenceAgent
from upgrade.older import Version

pytestmark = [pytest.mark.sockets, pytest.mark.long]

PROMPT: Final = "approve 12*7"


def approved(body: str) -> Json:
    """What a client sends back of a response that asked for an approval."""
    of_type: dict[str, Any] = {chunk["type"]: chunk for chunk in chunks(body)}
    call = of_type["tool-input-available"]
    approval = {"id": of_type["tool-approval-request"]["approvalId"], "approved": True}
    card = {
        "type": f"tool-{call['toolName']}",
        "toolCallId": call["toolCallId"],
        "state": "approval-responded",
        "input": call["input"],
        "approval": approval,
    }
    message_id = of_type["start"]["messageId"]
    parts = [{"type": "text", "text": said(body)}, card]
    asked = ask(PROMPT)
    asked["messages"].append({"id": message_id, "role": "assistant", "parts": parts})
    return {**asked, "messageId": message_id}


@pytest.mark.parametrize("direction", ["upgrade", "rollback"])
async def test_an_approval_shown_by_one_version_counts_at_the_other(
    older: Path, direction: str
) -> None:
    first, second = (older, None) if direction == "upgrade" else (None, older)
    headers = {**bearer(), "x-turnwire-profile": "7"}
    async with ReferenceAgent() as agent, new_client() as client:
        settings: dict[str, object] = {
            "enabled": "true",
            "agent_url": agent.url,
            "jwt_key": KEY,
            "signing_keys": OTHER_KEY,
            "port": 0,
            "metrics_port": 0,
            "lag_s": 0,
        }
        async with Version(settings, first) as gateway:
            url = f"{gateway.url}/api/sessions/s1/chat"
            asked = await client.post(url, json=ask(PROMPT), headers=headers)
        async with Version(settings, second) as gateway:
            url = f"{gateway.url}/api/sessions/s1/chat"
            answered = await client.post(url, json=approved(asked.text), headers=headers)
        runs = list(agent.journal.of("s1"))

    assert answered.status_code == httpx.codes.OK
    outputs = [chunk for chunk in chunks(answered.text) if chunk["type"] == "tool-output-available"]
    assert [each["output"]["value"] for each in outputs] == [84]
    assert [run.reason for run in runs] == ["end_turn"]
