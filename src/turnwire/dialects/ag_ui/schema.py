"""The wire schema of `ag-ui`, for drift detection and redaction (see `core.wire.schema`)."""

from typing import Final

from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.ag_ui.frames import KNOWN

_COMMON: Final = names("timestamp rawEvent metadata subagentRunId")
"""Fields that any event may have."""

_UNREAD: Final = {
    "RUN_STARTED": names("parentRunId input"),
    "RUN_ERROR": names("threadId runId"),
    "TEXT_MESSAGE_START": names("name"),
    "TEXT_MESSAGE_CHUNK": names("name"),
    "TOOL_CALL_START": names("parentMessageId"),
    "TOOL_CALL_CHUNK": names("parentMessageId"),
    "TOOL_CALL_RESULT": names("role"),
    "REASONING_MESSAGE_START": names("role"),
    "ACTIVITY_DELTA": names("activityType"),
    "SUBAGENT_STARTED": names("description parentSubagentRunId parentToolCallId parentMessageId"),
    "SUBAGENT_FINISHED": names("outcome"),
    "SUBAGENT_ERROR": names("code"),
}
"""Fields of one type of event that are known, and not read."""

_HIDDEN: Final = names(
    "*.rawEvent *.metadata RAW.event STATE_SNAPSHOT.snapshot STATE_DELTA.delta"
    " ACTIVITY_SNAPSHOT.content ACTIVITY_DELTA.patch RUN_FINISHED.outcome.interrupts.metadata"
    " MESSAGES_SNAPSHOT.messages.content MESSAGES_SNAPSHOT.messages.name"
    " TEXT_MESSAGE_START.name TEXT_MESSAGE_CHUNK.name"
)
"""Fields whose content is the agent's own, or its framework's: with words of people in it."""

_READ: Final = frozenset(
    f"{path}.{name}"
    for path, fields in {
        "RAW.event": "event data.output.tool_calls.id data.output.tool_calls.args"
        " data.output.tool_call_id data.output.status",
        "STATE_SNAPSHOT.snapshot": "messages.tool_calls.id messages.tool_calls.args"
        " messages.tool_call_id messages.status messages.content messages.type",
        "STATE_DELTA.delta": "op path from value",
        "ACTIVITY_DELTA.patch": "op path from value",
        "MESSAGES_SNAPSHOT.messages.content": "type text source.type source.value source.mimeType",
        "RUN_FINISHED.outcome.interrupts.metadata": (
            "langgraph.raw reason adk.originalFunctionCall.id"
            " langgraph.raw.action_requests.name langgraph.raw.action_requests.args"
            " langgraph.raw.action_requests.description langgraph.raw.review_configs.action_name"
            " langgraph.raw.review_configs.allowed_decisions"
        ),
    }.items()
    for name in names(fields)
)
"""What is read of them: inputs and failures of calls, patches, parts of a result, and which call a
question is about."""

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
    kept=names("type toolCallName subtype outcome name op event action_name allowed_decisions"),
    ids=names("tool_call_id"),
    hidden=_HIDDEN,
    read=_READ,
    phrases=(
        '{"pydantic_ai": {"outcome": "failed"}}',
        '{"pydantic_ai": {"outcome": "denied"}}',
        "error",
    ),
)
