"""The chunks of a turn that asks whether a call may run, and what a program decides on it."""

import json
from typing import Any, TypeAlias

from turnwire_client.events import ToolApprovalRequest
from turnwire_client.message import Part
from turnwire_client.requests import Verdicts

Json: TypeAlias = dict[str, Any]
START: Json = {"type": "start", "messageId": "a1"}
CALL: Json = {"type": "tool-input-available", "toolCallId": "c", "toolName": "add", "input": {}}
MADE: Json = {"type": "tool-output-available", "toolCallId": "c", "output": 3}


def asks(signed: str) -> Json:
    return {"type": "tool-approval-request", "toolCallId": "c", "approvalId": signed}


def body(*chunks: Json) -> bytes:
    records = [*(json.dumps(each) for each in (*chunks, {"type": "finish"})), "[DONE]"]
    return "".join(f"data: {record}\n\n" for record in records).encode()


def asked_for(call_id: str) -> ToolApprovalRequest:
    """The event of an approval of the turn `a1`."""
    return ToolApprovalRequest(
        "one", "one", call_id, "add", {}, "", is_native=True, message_id="a1"
    )


def approves(approval: ToolApprovalRequest, verdicts: Verdicts) -> None:
    verdicts.decide(approval, approved=True, reason=None)


def card(call_id: str = "c", name: str = "add", value: object = None) -> Part:
    """A call that waits for its approval."""
    return {
        "type": f"tool-{name}",
        "toolCallId": call_id,
        "state": "approval-requested",
        "input": {} if value is None else value,
        "approval": {"id": "a"},
    }
