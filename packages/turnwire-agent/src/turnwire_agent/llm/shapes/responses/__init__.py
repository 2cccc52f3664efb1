"""Responses, as OpenAI made it.

A request is a POST of `input`, a flat list of items: messages, calls, outputs of calls, reasoning.
Nothing is stored at the provider (`store: false`), so its encrypted reasoning is asked for and goes
back. An answer is a stream of typed events about the items of its output; text, reasoning and the
arguments of calls come in pieces, and the last event (`response.completed`, `.incomplete` or
`.failed`) has the whole response. A body that ends before that is cut.

Servers of other makes leave out `output_index` and `content_index`: an item is known by its id.
Some give it another id in each event: it is known by its place, too.

A native answer is the items of `response.output`, of which the last event's are the ones to keep:
encrypted reasoning is encrypted anew in each event. Reasoning that nothing follows, as of an answer
that was too long, is refused, and does not go back.
"""

from turnwire_agent.llm.shapes.responses.answer import INCOMPLETE, decoder
from turnwire_agent.llm.shapes.responses.request import encode

__all__ = ["INCOMPLETE", "decoder", "encode"]
