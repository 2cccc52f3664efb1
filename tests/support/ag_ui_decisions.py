"""What a graph asks that wants decisions about calls, as the adapter of LangGraph sends it."""

from typing import Any

from support import ag_ui_frames as f
from support.ag_ui_turn import Played

YES, NO = {"type": "approve"}, {"type": "reject"}
A, B = {"path": "a"}, {"path": "b"}
CALL_A = f.whole_call("c1", "delete", '{"path":"a"}')
CALL_B = f.whole_call("c2", "delete", '{"path":"b"}')
BOTH = ["approve", "edit", "reject", "respond"]


def request(name: str = "delete", **more: Any) -> Any:
    return {"name": name, "args": A, "description": f"May {name} run?", **more}


def config(name: str = "delete", *allowed: str) -> Any:
    return {"action_name": name, "allowed_decisions": [*(allowed or BOTH)]}


def value(*requests: Any, configs: Any = None) -> Any:
    found = [config(each["name"]) for each in requests] if configs is None else configs
    return {"action_requests": [*requests], "review_configs": found}


def outcome(value: Any, interrupt_id: str = "i1", **more: Any) -> Any:
    """The interrupt of an outcome, as the adapter of LangGraph sends it."""
    metadata = {"langgraph": {"raw": value, "ns": None}}
    return {"id": interrupt_id, "reason": "langgraph:interrupt", "metadata": metadata, **more}


def asked(played: Played) -> list[Any]:
    return [
        chunk["data"]
        for chunk in played.chunks
        if chunk["type"] == "data-question" and chunk["data"]["state"] == "open"
    ]


TWO = value(request(), request(args=B, description="And b?"))
WHOLE_TEXT = 'May delete run?\ndelete {"path": "a"}'
WHOLE_TEXT_OF_TWO = f'{WHOLE_TEXT}\n\nAnd b?\ndelete {{"path": "b"}}'
SINGLE = {"type": "tool_approval", "tool_call_id": "c1", **request()}
