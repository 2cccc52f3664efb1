"""The wire schema of `openai-responses`, for drift detection and redaction."""

from typing import Final

from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.openai_responses.frames import KNOWN

_COMMON: Final = names("model sequence_number item_id output_index content_index summary_index")
"""Fields that any event may have."""

_UNREAD: Final = {
    "response.in_progress": names("response"),
    "response.output_text.delta": names("logprobs obfuscation"),
    "response.output_text.done": names("logprobs"),
    "response.output_text.annotation.added": names("annotation_index"),
    "response.refusal.delta": names("obfuscation"),
    "response.reasoning_summary_text.delta": names("obfuscation"),
    "response.reasoning_text.delta": names("obfuscation"),
    "response.function_call_arguments.delta": names("obfuscation"),
    "response.function_call_arguments.done": names("name call_id"),
    "response.mcp_call_arguments.delta": names("obfuscation"),
    "response.custom_tool_call_input.delta": names("obfuscation"),
    "response.code_interpreter_call_code.delta": names("delta obfuscation"),
    "response.code_interpreter_call_code.done": names("code"),
    "error": names("param status"),
    "keepalive": names("sequence_number"),
}
"""Fields of one type of event that are known, and not read."""

SCHEMA: Final = WireSchema(
    frames=KNOWN,
    deltas=names(
        "response.output_text.delta response.reasoning_summary_text.delta"
        " response.reasoning_text.delta response.function_call_arguments.delta"
        " response.custom_tool_call_input.delta response.refusal.delta"
    ),
    unread={
        str(kind.__struct_config__.tag): _COMMON
        | _UNREAD.get(str(kind.__struct_config__.tag), frozenset())
        for kind in KNOWN
    },
    inside={},
    types={},
    kept=names("name server_label output_index content_index summary_index sequence_number code"),
    ids=names("call_id item_id approval_request_id"),
    read=names("*.response.output.type *.item.output.type"),
    phrases=("https://", "http://", "[DONE]"),
)
