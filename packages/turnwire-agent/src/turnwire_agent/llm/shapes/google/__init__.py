"""`streamGenerateContent`, as Google's models speak it.

A request is a POST of `contents`, each with a role and its parts. An answer is a stream of chunks
that have the same form: each has the next parts of one candidate. A call comes whole, often without
an id; what the model thought is text with `thought: true`. The last chunk's candidate has a
`finishReason`; there is no other terminator, so the answer is whole when the body ends after one.

A native answer is the parts of the model's content. A `thoughtSignature` belongs to the very part
it came with, though that be an empty one; all parts of an answer go back in one content. A call of
another model has none: the provider has a word to say so, and refuses the first call without it.
"""

from turnwire_agent.llm.shapes.google.answer import FINISH_REASONS, decoder
from turnwire_agent.llm.shapes.google.request import encode

__all__ = ["FINISH_REASONS", "decoder", "encode"]
