"""The transcript of a session as messages of pydantic-ai.

Messages that an agent of pydantic-ai gave are kept as they are. What is of others is written anew:
prompts of turns that were stopped, results, answers of another model.
"""

from collections.abc import Sequence
from typing import Any, Final

from pydantic_ai import DeferredToolResults, messages
from pydantic_ai.exceptions import ToolFailed
from pydantic_core import ValidationError

from turnwire_agent.llm.shapes.result_text import result_text
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Message,
    Outcome,
    Result,
    Results,
    Text,
    Transcript,
    User,
)

PROVIDER: Final = "pydantic-ai"
MESSAGES: Final = messages.ModelMessagesTypeAdapter
_OUTCOMES: Final[dict[Outcome, Any]] = {
    "done": "success",
    "failed": "failed",
    "denied": "denied",
    "canceled": "interrupted",
    "unknown": "interrupted",
}


def history_of(
    transcript: Transcript,
) -> tuple[list[Any], DeferredToolResults | None, Any]:
    """Return what a run begins with: the messages before, results that it waits for, its prompt."""
    history: list[Any] = []
    results, prompt = None, None
    before: Message | None = None
    for place, message in enumerate(transcript):
        is_last = place == len(transcript) - 1
        match message:
            case User(parts=parts) if is_last:
                prompt = _content(parts)
            case User(parts=parts):
                history.append(messages.ModelRequest([messages.UserPromptPart(_content(parts))]))
            case Results(results=each) if is_last:
                results = DeferredToolResults(calls={one.call_id: _result(one) for one in each})
            case Results(results=each):
                history.append(messages.ModelRequest([_returned(one) for one in each]))
            case Assistant():
                stored = _stored(message)
                if stored is not None and isinstance(before, User | Results):
                    # The messages of a run begin with what it was asked or given.
                    history.pop()
                history += _written(message) if stored is None else stored
        before = message
    return history, results, prompt


def _stored(message: Assistant) -> list[Any] | None:
    """The messages of an answer as its agent gave them; None if they are not there."""
    if message.native is None or message.native.provider != PROVIDER:
        return None
    try:
        stored = MESSAGES.validate_json(bytes(message.native.blocks))
    except ValidationError:  # of another version of pydantic-ai
        return None
    return stored if stored and isinstance(stored[0], messages.ModelRequest) else None


def _written(message: Assistant) -> list[Any]:
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append(messages.TextPart(part.text))
        elif isinstance(part, Call):
            parts.append(messages.ToolCallPart(part.name, part.arguments, part.id))
    return [messages.ModelResponse(parts)] if parts else []


def _content(parts: Sequence[Text | Image | File]) -> Any:
    """A prompt for pydantic-ai."""
    content = [_part(part) for part in parts]
    return content[0] if len(content) == 1 and isinstance(content[0], str) else content


def _part(part: Text | Image | File) -> Any:
    if isinstance(part, Text):
        return part.text
    if part.data:
        return messages.BinaryContent(part.data, media_type=part.media_type)
    return (
        messages.ImageUrl(part.url) if isinstance(part, Image) else messages.DocumentUrl(part.url)
    )


def _value(result: Result) -> Any:
    """What a tool returned, as pydantic-ai takes it: a text, or texts and pictures."""
    others = [_part(part) for part in result.content if not isinstance(part, Text)]
    text = result_text(result)
    return [text, *others] if others else text


def _result(result: Result) -> Any:
    """A result that a run waits for."""
    value = _value(result)
    return ToolFailed(value) if result.outcome == "failed" and isinstance(value, str) else value


def _returned(result: Result) -> messages.ToolReturnPart:
    return messages.ToolReturnPart(
        result.name, _value(result), result.call_id, outcome=_OUTCOMES[result.outcome]
    )
