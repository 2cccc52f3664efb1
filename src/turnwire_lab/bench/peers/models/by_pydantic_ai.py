"""pydantic-ai's own way to call a model without an agent."""

# Its library is in an environment of its own:
# mypy: disable-error-code="import-not-found"

from collections.abc import Callable
from functools import cache

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelRequest,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


@cache
def _model(url: str) -> OpenAIChatModel:
    provider = OpenAIProvider(base_url=url, api_key="a-key-of-nobody")
    return OpenAIChatModel("large", provider=provider)


async def read(url: str, _wire: str, prompt: str, tell: Callable[[str], None]) -> None:
    """See `reading`."""
    question = [ModelRequest.user_text_prompt(prompt)]
    async with model_request_stream(_model(url), question) as stream:
        async for event in stream:
            if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                tell(event.delta.content_delta)
            elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                tell(event.part.content)
        reason = stream.get().finish_reason
    if reason != "stop":
        raise ValueError(f"no end: {reason}")
