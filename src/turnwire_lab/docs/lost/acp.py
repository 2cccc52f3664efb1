"""The messages and fields of ACP that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import ALL, ANY, BY_NAME, Row

ROWS: Final = (
    Row(ANY, "_meta", "nothing: it is each agent's own"),
    Row(
        "usage_update plan_update plan_removed available_commands_update current_mode_update"
        " config_option_update session_info_update",
        ALL,
        BY_NAME,
    ),
    Row("user_message_chunk", ALL, f"{BY_NAME}; in a history, it is the prompt"),
    Row(
        "fs/read_text_file fs/write_text_file terminal/create terminal/kill terminal/output"
        " terminal/release terminal/wait_for_exit mcp/connect mcp/disconnect mcp/message"
        " elicitation/create elicitation/complete",
        ALL,
        f"{BY_NAME}; a request is refused",
    ),
    Row("content.resource", ALL, "`block of content`"),
    Row("content.text content.image content.audio content.resource_link", "annotations", "nothing"),
    Row("content.resource_link", "description size title", "nothing"),
    Row(
        "session/request_permission.toolCall",
        "rawOutput status",
        "nothing: a call that waits has no output",
    ),
    Row("initialize.result", "agentInfo authMethods", "nothing"),
    Row(
        "initialize.result.agentCapabilities",
        "auth mcpCapabilities nes positionEncoding providers",
        "nothing: the gateway uses none of it",
    ),
    Row(
        "initialize.result.agentCapabilities.sessionCapabilities",
        "additionalDirectories close delete fork list",
        "nothing, as above",
    ),
    Row(
        "session/new.result session/load.result session/resume.result",
        "configOptions modes",
        "nothing",
    ),
    Row("error", "code", "`error_code` of the log line"),
    Row("error", "data", "nothing"),
)
