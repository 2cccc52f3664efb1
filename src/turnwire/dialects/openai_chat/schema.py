"""The wire schema of `openai-chat`, for drift detection and redaction (see `core.wire.schema`)."""

from typing import Final

from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.openai_chat.frames import KNOWN, type_of

_DELTA: Final = names("thinking_blocks provider_specific_fields")

SCHEMA: Final = WireSchema(
    frames=KNOWN,
    deltas=names("chunk"),
    unread={
        "chunk": names(
            "id object created model system_fingerprint service_tier obfuscation provider"
            " prompt_filter_results search_results hermes nonce type timings moderation"
        ),
        "chunk.choices": names(
            "content_filter_results content_filter_result native_finish_reason stop_reason"
            " token_ids matched_stop text"
        ),
        "chunk.choices.delta": _DELTA,
        "chunk.choices.message": _DELTA,
        "chunk.choices.delta.tool_calls": names("type extra_content"),
        "chunk.choices.message.tool_calls": names("type extra_content"),
        "chunk.x_groq": names("id error"),
        "progress": names("emoji"),
        "error": names("object type param status detail"),
    },
    inside={},
    types={},
    kept=names("finish_reason object index name tool status code"),
    ids=names("tool_call_id"),
    phrases=("https://", "http://", "[DONE]"),
    type_of=type_of,
)
