"""The fields of AG-UI that clients get nothing of, and where that is counted.

A test compares them with the published schemas of the protocol: a new field fails it, until the
dialect reads the field or it has a row here.
"""

from collections.abc import Iterator
from typing import Final

ANY: Final = "any event"

LOST: Final[dict[tuple[str, str], str]] = {
    (ANY, "timestamp"): "nothing: servers differ in its unit",
    (ANY, "rawEvent"): "nothing: a copy for debugging, which is not even decoded",
    (ANY, "metadata"): "nothing",
    (ANY, "subagentRunId"): "tells whose text or call goes on; clients get no nesting",
    ("RUN_STARTED", "input"): "nothing: it is our request",
    ("RUN_STARTED", "parentRunId"): "nothing",
    ("RUN_STARTED", "protocolVersion"): "`protocol_version` of the log line",
    ("RUN_FINISHED", "result"): "`result of a run`",
    ("RUN_ERROR", "code"): "`error_code` of the log line",
    ("TEXT_MESSAGE_START", "name"): "nothing",
    ("TEXT_MESSAGE_CHUNK", "name"): "nothing",
    ("TOOL_CALL_START", "parentMessageId"): "nothing: it may name a message that never was",
    ("TOOL_CALL_CHUNK", "parentMessageId"): "nothing, as above",
    ("TOOL_CALL_RESULT", "role"): "nothing: it is always `tool`",
    ("REASONING_START", "messageId"): "nothing: each message of a span is a block of its own",
    ("REASONING_END", "messageId"): "nothing, as above",
    ("THINKING_START", "title"): "nothing",
    ("REASONING_MESSAGE_START", "role"): "nothing: it is always `reasoning`",
    (
        "REASONING_ENCRYPTED_VALUE",
        "encryptedValue",
    ): "`REASONING_ENCRYPTED_VALUE`, but for marks of failures",
    (
        "MESSAGES_SNAPSHOT",
        "messages",
    ): "inputs and outcomes of open calls are taken; else `contradicted text`, "
    "`input that came late`, `failure that came late`",
    ("STATE_SNAPSHOT", "snapshot"): "`STATE_SNAPSHOT`, unless `TURNWIRE_STATE` shows it",
    ("STATE_DELTA", "delta"): "`STATE_DELTA`, as above",
    ("ACTIVITY_SNAPSHOT", "content"): "`ACTIVITY_SNAPSHOT`, as above",
    ("ACTIVITY_DELTA", "patch"): "`ACTIVITY_DELTA`, as above",
    ("ACTIVITY_DELTA", "activityType"): "nothing: the snapshot of the activity has it",
    ("SUBAGENT_STARTED", "description"): "nothing",
    ("SUBAGENT_STARTED", "parentSubagentRunId"): "nothing: clients get no nesting",
    ("SUBAGENT_STARTED", "parentToolCallId"): "nothing, as above",
    ("SUBAGENT_STARTED", "parentMessageId"): "nothing, as above",
    ("SUBAGENT_FINISHED", "result"): "`result of a subagent`",
    ("SUBAGENT_FINISHED", "outcome"): "nothing: what the run asks is in the outcome of the run",
    ("SUBAGENT_ERROR", "code"): "nothing",
    ("RAW", "event"): "`RAW`; what a graph tells there of calls is read",
    ("RAW", "source"): "nothing",
    ("CUSTOM", "value"): "`CUSTOM` with the name, unless the name is known",
}
"""What becomes of each, by the type of the event and the field."""


def rows() -> Iterator[tuple[str, str, str]]:
    """A row for each field."""
    for (kind, field), becomes in LOST.items():
        yield kind if kind == ANY else f"`{kind}`", f"`{field}`", becomes
