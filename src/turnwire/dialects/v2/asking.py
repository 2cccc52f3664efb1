"""A question of the `v2` wire, told by a frame or by a part of the hydration alike."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Raw

from turnwire.core import events, harmless

APPROVAL: Final = "approval"
"""The `kind` of a question about a tool call that waits (docs/v2.md)."""

_UNSHOWN: Final = frozenset({"turnId", "promptId", "channelType", "channelId", "expiresAt"})
"""What of an approval is not what it asks for, and need not be the same in the hydration."""

_NONE: Final = Raw()


def question(question_id: str, payload: Mapping[str, Raw]) -> events.Question:
    """The question; its fields go to the client as they are."""
    told = Raw(msgspec.json.encode(payload))
    if _string(payload, "kind") != APPROVAL:
        return events.Question(question_id, told)
    approval = _approval(payload)
    if approval is not None:
        return events.Question(question_id, told, approval)
    shown = {name: value for name, value in payload.items() if name not in _UNSHOWN}
    return events.Question(question_id, told, shown=Raw(msgspec.json.encode(shown)))


def _approval(payload: Mapping[str, Raw]) -> events.Approval | None:
    call_id, tool_name = _string(payload, "callId"), _string(payload, "toolName")
    if not call_id or not tool_name:
        return None
    return events.Approval(call_id, tool_name, payload.get("args"))


def _string(payload: Mapping[str, Raw], field: str) -> str | None:
    return harmless.short(payload.get(field, _NONE))
