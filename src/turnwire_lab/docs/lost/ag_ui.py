"""The fields of AG-UI that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import ANY, Row

ROWS: Final = (
    Row(ANY, "timestamp", "nothing: servers differ in its unit"),
    Row(ANY, "rawEvent", "nothing: a copy for debugging, which is not even decoded"),
    Row(ANY, "metadata", "nothing"),
    Row(ANY, "subagentRunId", "nothing: whose text or call goes on; clients get no nesting"),
    Row("RUN_STARTED", "input", "nothing: it is our request"),
    Row("RUN_STARTED", "parentRunId", "nothing"),
    Row("RUN_STARTED", "protocolVersion", "`protocol_version` of the log line"),
    Row("RUN_FINISHED", "result", "`result of a run`, unless `TURNWIRE_STATE` shows it"),
    Row("RUN_ERROR", "code", "`error_code` of the log line"),
    Row("TEXT_MESSAGE_START", "name", "nothing"),
    Row("TEXT_MESSAGE_CHUNK", "name", "nothing"),
    Row("TOOL_CALL_START", "parentMessageId", "nothing: it may name a message that never was"),
    Row("TOOL_CALL_CHUNK", "parentMessageId", "nothing, as above"),
    Row("TOOL_CALL_RESULT", "role", "nothing: it is always `tool`"),
    Row("REASONING_START", "messageId", "nothing: each message of a span is a block of its own"),
    Row("REASONING_END", "messageId", "nothing, as above"),
    Row("THINKING_START", "title", "nothing"),
    Row("REASONING_MESSAGE_START", "role", "nothing: it is always `reasoning`"),
    Row(
        "REASONING_ENCRYPTED_VALUE",
        "encryptedValue",
        "`REASONING_ENCRYPTED_VALUE`, except marks of failures",
    ),
    Row(
        "MESSAGES_SNAPSHOT",
        "messages",
        "inputs and outcomes of open calls are taken; else `contradicted text`, "
        "`input that came late`, `failure that came late`",
    ),
    Row("STATE_SNAPSHOT", "snapshot", "`STATE_SNAPSHOT`, unless `TURNWIRE_STATE` shows it"),
    Row("STATE_DELTA", "delta", "`STATE_DELTA`, as above"),
    Row("ACTIVITY_SNAPSHOT", "content", "`ACTIVITY_SNAPSHOT`, as above"),
    Row("ACTIVITY_DELTA", "patch", "`ACTIVITY_DELTA`, as above"),
    Row("ACTIVITY_DELTA", "activityType", "nothing: the snapshot of the activity has it"),
    Row("SUBAGENT_STARTED", "description", "nothing"),
    Row("SUBAGENT_STARTED", "parentSubagentRunId", "nothing: clients get no nesting"),
    Row("SUBAGENT_STARTED", "parentToolCallId", "nothing, as above"),
    Row("SUBAGENT_STARTED", "parentMessageId", "nothing, as above"),
    Row("SUBAGENT_FINISHED", "result", "`result of a subagent`"),
    Row("SUBAGENT_FINISHED", "outcome", "nothing: what the run asks is in the outcome of the run"),
    Row("SUBAGENT_ERROR", "code", "nothing"),
    Row("RAW", "event", "`RAW`; what LangGraph says there about calls is read"),
    Row("RAW", "source", "nothing"),
    Row("CUSTOM", "value", "`CUSTOM` with the name, unless the name is known"),
)
