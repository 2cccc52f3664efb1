"""The `openai` library alone."""

# Its library is in an environment of its own:
# mypy: disable-error-code="import-not-found"

from collections.abc import Callable
from functools import cache

from openai import AsyncOpenAI


@cache
def _client(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=url, api_key="a-key-of-nobody")


async def read(url: str, _wire: str, prompt: str, tell: Callable[[str], None]) -> None:
    """See `reading`."""
    stream = await _client(url).chat.completions.create(
        model="large",
        messages=[{"role": "user", "content": prompt}],
        stream=True,
        stream_options={"include_usage": True},
    )
    reason = None
    async for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                tell(choice.delta.content)
            reason = choice.finish_reason
    if reason != "stop":
        raise ValueError(f"no end: {reason}")
