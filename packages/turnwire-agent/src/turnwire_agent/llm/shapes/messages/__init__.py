"""Messages, as Anthropic made it.

A request is a POST of `system` and of `messages`, whose roles take turns: results of tools are
blocks of the user's message, before what the user says. An answer is a stream of events that name
themselves in `type`: `message_start`; for each block, by its `index`, `content_block_start`,
`content_block_delta` and `content_block_stop`; `message_delta` with the `stop_reason` and the final
usage; `message_stop`. A body that ends before `message_stop` is cut.

A native answer is the array of its blocks, put together from their deltas. Thinking has a signature
in it, redacted thinking and blocks of the provider's own tools are opaque: all go back in order.
"""

from turnwire_agent.llm.shapes.messages.answer import FINISH_REASONS, decoder
from turnwire_agent.llm.shapes.messages.request import encode

__all__ = ["FINISH_REASONS", "decoder", "encode"]
