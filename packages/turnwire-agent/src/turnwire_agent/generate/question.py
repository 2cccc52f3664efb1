"""The body of `POST /v1/generate`: what a model is asked, as JSON.

It is `turnwire_agent.llm.request.Request` in its own words, but for two things: the model is a name
that the server gave it, and tools have the names and schemas that their program knows, which become
those of the wire here. Native blocks are a string of JSON, so that no client changes their bytes.
"""

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from turnwire_agent.llm.request import Effort, OneTool
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Native,
    Reasoning,
    Results,
    Text,
    Transcript,
    User,
)


class BadQuestionError(ValueError):
    """A body that is no question. The text says where, and holds nothing of it."""


class AskedTool(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool as its program knows it."""

    name: str
    schema: dict[str, Any]
    description: str = ""


class SentNative(Struct, frozen=True, forbid_unknown_fields=True):
    """A `Native` with its blocks as a string."""

    shape: str
    provider: str
    model: str
    blocks: str


class SentAssistant(Struct, frozen=True, tag="assistant", forbid_unknown_fields=True):
    """An `Assistant` with such native blocks."""

    parts: tuple[Text | Reasoning | Call | Image | File, ...]
    native: SentNative | None = None


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request."""

    model: str
    transcript: tuple[User | SentAssistant | Results, ...]
    instructions: str = ""
    tools: tuple[AskedTool, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | OneTool = "auto"
    parallel_tools: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    effort: Effort | None = None
    answer_schema: dict[str, Any] | None = None

    def neutral(self) -> Transcript:
        """The transcript.

        Raises:
            BadQuestionError: Native blocks are no JSON array of objects.
        """
        return tuple(
            _assistant(message) if isinstance(message, SentAssistant) else message
            for message in self.transcript
        )


# Made once: a `Struct` that two threads read for the first time at once ends the process.
_question = msgspec.json.Decoder(Question).decode


def question(body: bytes) -> Question:
    """Read a body.

    Raises:
        BadQuestionError: It is none. The text names the field.
    """
    try:
        return _question(body)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise BadQuestionError(_where(error)) from None
    except UnicodeDecodeError:
        raise BadQuestionError("the body is no UTF-8") from None
    except RecursionError:
        raise BadQuestionError("the body is too deep") from None


def _where(error: msgspec.MsgspecError) -> str:
    """The place of an error. What was found there may be a prompt, and is left out."""
    if isinstance(error, msgspec.ValidationError):
        _, at, place = str(error).rpartition(" - at `")
        return f"the body has a wrong value at {place.rstrip('`')}" if at else "the body is wrong"
    return "the body is no JSON"


def _assistant(message: SentAssistant) -> Assistant:
    sent = message.native
    if sent is None:
        return Assistant(message.parts)
    blocks = sent.blocks.encode("utf-8", "replace")
    try:
        msgspec.json.decode(blocks, type=list[dict[str, Any]])
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError):
        raise BadQuestionError("native blocks are no JSON array of objects") from None
    return Assistant(message.parts, Native(sent.shape, sent.provider, sent.model, Raw(blocks)))
