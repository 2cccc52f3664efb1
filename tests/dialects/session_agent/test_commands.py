"""What is sent on the `session-agent` wire."""

import json

import pytest

from turnwire.core.body.attachments import Attachment
from turnwire.core.requests import Channel, PromptRequest
from turnwire.dialects.session_agent import commands

PNG = "data:image/png;base64,iVBORw0KGgo="


def test_attachments_go_along_in_their_order() -> None:
    files = (Attachment("image/png", PNG, "a.png"), Attachment("application/pdf", "data:,x"))

    sent = json.loads(
        commands.prompt(
            PromptRequest(text="", prompt_id="p1", attachments=files), Channel("web", "d")
        )
    )

    assert sent == {
        "type": "prompt",
        "content": "",
        "queueMode": "followup",
        "channelType": "web",
        "channelId": "d",
        "attachments": [
            {"type": "file", "mime": "image/png", "url": PNG, "filename": "a.png"},
            {"type": "file", "mime": "application/pdf", "url": "data:,x"},
        ],
    }


@pytest.mark.parametrize("ask", [{}, {"regenerates": True, "replaces": "a1"}, {"replaces": "m1"}])
def test_the_wire_knows_no_earlier_prompt(ask: dict[str, object]) -> None:
    made = PromptRequest(**{"text": "hi", "prompt_id": "p1"} | ask)  # type: ignore[arg-type]  # checked by Ask

    assert json.loads(commands.prompt(made, Channel("thread", "t1"))) == {
        "type": "prompt",
        "content": "hi",
        "queueMode": "followup",
        "channelType": "thread",
        "channelId": "t1",
        "threadId": "t1",
    }
