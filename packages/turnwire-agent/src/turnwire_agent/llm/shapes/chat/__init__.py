"""Chat Completions, as OpenAI made it and many servers speak it.

A request is a POST of `messages`. An answer is a stream of chunks, each with the `delta` of one
choice: text, reasoning under one of several names, and fragments of calls by their `index`. A
choice's last chunk has a `finish_reason`, then one chunk without choices has the usage, then comes
`[DONE]`. A body that ends before the `finish_reason` and before `[DONE]` is cut.

A native answer is the assistant's message as it is sent back: an array with one object.
"""

from turnwire_agent.llm.shapes.chat.answer import FINISH_REASONS, decoder
from turnwire_agent.llm.shapes.chat.request import encode

__all__ = ["FINISH_REASONS", "decoder", "encode"]
