"""An approval is asked for at a card that shows what is approved, or not at a card."""

import json
from typing import Any

import pytest

from support import v2_frames as f
from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

SIGNER = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
REQUESTS = ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60)
SHOWN = f.tool("running", "c1", "bash", args={"command": "ls"})


def chunk_types(**asked: Any) -> list[str]:
    """The types of the chunks, where a card shows `ls` and this is asked."""
    conversation = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    turn = Turn(conversation, Limits(), UIMessageStream(StreamOptions(approvals=REQUESTS)))
    turn.handle(Opened(), 0)
    named = {"type": "question", "kind": "approval", "questionId": "q1", "turnId": f.OURS}
    approval = json.dumps({**named, "callId": "c1", "toolName": "bash", **asked}).encode()
    act = turn.frames([f.begin(), SHOWN, approval], 1)
    lines = [line for line in act.to_client.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: "))["type"] for line in lines]


@pytest.mark.attack(
    "an agent that shows one input or tool and asks for the approval of another",
    "no approval at that card: a question that shows what is asked",
)
@pytest.mark.parametrize(
    "asked",
    [
        {"args": {"command": "rm -rf /"}},
        {"args": {"command": "ls", "sudo": True}},
        {"args": {}},
        {"args": {"command": "ls"}, "toolName": "sudo"},
        {"toolName": "sudo"},
    ],
)
def test_a_card_never_shows_another_thing_than_is_approved(asked: dict[str, Any]) -> None:
    types = chunk_types(**asked)

    assert "tool-approval-request" not in types
    assert "data-question" in types


def test_a_card_that_shows_it_is_asked_at() -> None:
    assert "tool-approval-request" in chunk_types(args={"command": "ls"})
