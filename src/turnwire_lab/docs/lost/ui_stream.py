"""The chunks and fields of the AI SDK's UI message stream that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import ALL, BY_NAME, Row

ROWS: Final = (
    Row(
        "message-metadata source-document reasoning-file custom steering-message"
        " tool-approval-response",
        ALL,
        BY_NAME,
    ),
    Row("reset-step", ALL, f"{BY_NAME}: what the step said stays"),
    Row("start", "messageId", "nothing: the message is that of our turn"),
    Row("start finish", "messageMetadata", "nothing: it is made for an app that reads this agent"),
    Row(
        "text-start text-delta text-end reasoning-start reasoning-delta file source-url",
        "providerMetadata",
        "nothing: not every client takes it",
    ),
    Row("reasoning-end", "providerMetadata", "`providerMetadata of reasoning`"),
    Row("text-end", "citations", "nothing, as above"),
    Row(
        "tool-input-start tool-input-available tool-input-error",
        "title toolMetadata providerExecuted providerMetadata dynamic",
        "nothing, as above",
    ),
    Row(
        "tool-output-available tool-output-error",
        "toolMetadata providerExecuted providerMetadata dynamic",
        "nothing, as above",
    ),
    Row("tool-input-start", "inputEncoding", "nothing"),
    Row(
        "tool-approval-request",
        "approvalDescriptor inputSchemaInput",
        "nothing: a client is shown the call",
    ),
    Row("tool-approval-request", "isAutomatic", "`automatic approval`: the agent decides itself"),
    Row("abort", "reason", "nothing"),
)
