"""The wire schema of `ag-ui`, for drift detection and redaction (see `core.wire.schema`)."""

from typing import Final

from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.ag_ui.frames import KNOWN

_COMMON: Final = names("timestamp rawEvent metadata subagentRunId")
"""Fields that any event may have."""

_UNREAD: Final = {
    "RUN_STARTED": names("threadId protocolVersion parentRunId input"),
    "RUN_FINISHED": names("threadId result"),
    "TEXT_MESSAGE_START": names("name"),
    "TEXT_MESSAGE_CHUNK": names("name"),
    "TOOL_CALL_START": names("parentMessageId"),
    "TOOL_CALL_CHUNK": names("parentMessageId"),
    "TOOL_CALL_RESULT": names("role"),
    "REASONING_MESSAGE_START": names("role"),
    "ACTIVITY_DELTA": names("activityType"),
    "SUBAGENT_STARTED": names("description parentSubagentRunId parentToolCallId parentMessageId"),
    "SUBAGENT_FINISHED": names("result outcome"),
    "SUBAGENT_ERROR": names("code"),
}
"""Fields of one type of event that are known, and not read."""

SCHEMA: Final = WireSchema(
    frames=KNOWN,
    deltas=names(
        "TEXT_MESSAGE_CONTENT TEXT_MESSAGE_CHUNK REASONING_MESSAGE_CONTENT"
        " REASONING_MESSAGE_CHUNK THINKING_TEXT_MESSAGE_CONTENT TOOL_CALL_ARGS TOOL_CALL_CHUNK RAW"
    ),
    unread={
        str(kind.__struct_config__.tag): _COMMON
        | _UNREAD.get(str(kind.__struct_config__.tag), frozenset())
        for kind in KNOWN
    },
    inside={},
    types={},
    kept=names("toolCallName subtype outcome name op"),
    phrases=('{"pydantic_ai": {"outcome": "failed"}}', '{"pydantic_ai": {"outcome": "denied"}}'),
)
