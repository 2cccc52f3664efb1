"""The fields of a chunk of Chat Completions that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import Row

ROWS: Final = (
    Row("chunk", "id object created model system_fingerprint service_tier moderation", "nothing"),
    Row("chunk.choices", "index", "`choice`, if it is not the first one"),
    Row("chunk.choices", "logprobs", "`logprobs`"),
    Row("chunk.choices.delta.tool_calls", "type", "nothing: each type has a field of its own"),
)
