"""What a model's answer says while it comes, in no provider's words.

The vocabulary is that of the AI SDK's `LanguageModelV4`, so that a mapping is a table. Blocks have
ids that are unique in one answer: text and reasoning from `0` on in the order of their beginnings;
a tool's input has the id of its call. A block that began ends, but in a stream that fails.

A stream ends with one `Finish`, or with one `Fault`, and nothing comes after either.
"""

from typing import Literal

from msgspec import Raw, Struct

from turnwire_agent.llm.faults import Fault

FinishReason = Literal["stop", "length", "content-filter", "tool-calls", "error", "other"]


class Begun(Struct, frozen=True):
    """The provider accepted the request, and names its answer."""

    response_id: str
    model: str
    """The model that answers, as the provider calls it: an alias is resolved."""


class TextStart(Struct, frozen=True):
    """A block of text begins."""

    id: str


class TextDelta(Struct, frozen=True):
    """More of a block of text. Never empty."""

    id: str
    text: str


class TextEnd(Struct, frozen=True):
    """A block of text is whole."""

    id: str


class ReasoningStart(Struct, frozen=True):
    """A block of reasoning begins. It may end with no text: what it holds may be encrypted."""

    id: str


class ReasoningDelta(Struct, frozen=True):
    """More of a block of reasoning. Never empty."""

    id: str
    text: str


class ReasoningEnd(Struct, frozen=True):
    """A block of reasoning is whole."""

    id: str


class ToolInputStart(Struct, frozen=True):
    """The model begins to write the input of a call."""

    id: str
    name: str


class ToolInputDelta(Struct, frozen=True):
    """More of the JSON text of an input. Never empty."""

    id: str
    text: str


class ToolInputEnd(Struct, frozen=True):
    """The input of a call is whole, as far as the provider says."""

    id: str


class ToolCall(Struct, frozen=True):
    """A call. Nobody runs it before the stream's `Finish` has come."""

    id: str
    name: str
    arguments: str
    """JSON text: `{}` if the provider sent none. It may not parse: then it is never run."""


class FileMade(Struct, frozen=True):
    """The model made a file, as a picture."""

    media_type: str
    data: bytes


class Source(Struct, frozen=True):
    """The model names where it has something from. An answer names each URL once."""

    url: str
    """Of `http:` or `https:`."""
    title: str = ""


class Skipped(Struct, frozen=True):
    """Something that this layer does not understand: kept in `Native` if it is a block."""

    what: str
    """The provider's word for it, of at most 64 characters."""


class Usage(Struct, frozen=True):
    """Tokens of one call. None is "the provider did not say", and never 0."""

    input: int | None = None
    """All of the prompt, what was read from a cache or written to it too."""
    cache_read: int | None = None
    cache_written: int | None = None
    output: int | None = None
    """All of the answer, its reasoning too."""
    reasoning: int | None = None


class Finish(Struct, frozen=True):
    """The answer is whole: the provider said so."""

    reason: FinishReason
    raw: str
    """The provider's own word, of at most 64 characters; empty if it gave none."""
    usage: Usage
    native: Raw
    """The JSON array of `Native.blocks`; `[]` if there is nothing to send back."""


Event = (
    Begun
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputEnd
    | ToolCall
    | FileMade
    | Source
    | Skipped
    | Finish
    | Fault
)
