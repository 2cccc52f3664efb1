"""What the words of a report are on a wire: its author knows the wire's own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_CLOSED: Final = "an abort is a closed connection"

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "v2": (
            "a delta is `message.part.text-delta`, a call is `message.part.tool-update`, the "
            "verdict is `message.finalize`, an abort is `abort`, the first frame of a "
            "connection is `init`"
        ),
        "session-agent": (
            "a delta is `chunk`, a call is a part of `message.updated`, the verdict is its part "
            "`finish`, an abort is `abort`, the first frame of a connection is `init`"
        ),
        "acp": (
            "a delta is `agent_message_chunk`, a call is `tool_call` with its `tool_call_update`, "
            "the verdict is the answer to `session/prompt`, an abort is `session/cancel`, the "
            "history is what `session/load` tells"
        ),
        "ag-ui": (
            "a delta is `TEXT_MESSAGE_CONTENT`, a call begins with `TOOL_CALL_START` and ends with "
            f"`TOOL_CALL_RESULT`, the verdict is `RUN_FINISHED` or `RUN_ERROR`, {_CLOSED}"
        ),
        "ui-stream": (
            "a delta is `text-delta`, a call begins with `tool-input-start` and ends with "
            f"`tool-output-available` or `tool-output-error`, the verdict is `finish`, {_CLOSED}"
        ),
        "openai-chat": (
            "a delta is a chunk with `content`, a call is one of `tool_calls`, the verdict is "
            f"`finish_reason` and then `[DONE]`, {_CLOSED}"
        ),
        "openai-responses": (
            "a delta is `response.output_text.delta`, a call is an item from "
            "`response.output_item.added` to `response.output_item.done`, the verdict is "
            f"`response.completed`, `response.incomplete` or `response.failed`, {_CLOSED}"
        ),
    }
)
"""By the name of a dialect; one that others wrote has none."""
