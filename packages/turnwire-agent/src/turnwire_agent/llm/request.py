"""What a model is asked."""

from typing import Any, Literal

from msgspec import Struct

from turnwire_agent.llm.transcript import Transcript

Effort = Literal["none", "low", "medium", "high"]


class ToolSpec(Struct, frozen=True):
    """A tool as the model sees it."""

    name: str
    """Fits the rule of the shape already: `turnwire_agent.tools.names` makes it so."""
    description: str
    schema: dict[str, Any]
    """JSON Schema of an object, made acceptable for the shape already."""
    strict: bool = False


class OneTool(Struct, frozen=True):
    """The model must call this tool."""

    name: str


class Request(Struct, frozen=True, kw_only=True):
    """One call of a model. What is None is left to the provider."""

    transcript: Transcript
    """It is valid: each call has its result in the message after it."""
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | OneTool = "auto"
    parallel_tools: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    effort: Effort | None = None
    """How much the model may think."""
    answer_schema: dict[str, Any] | None = None
    """JSON Schema that the answer must fit."""
