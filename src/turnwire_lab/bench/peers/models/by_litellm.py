"""litellm, before a server that speaks as OpenAI does."""

# Its library is in an environment of its own:
# mypy: disable-error-code="import-not-found"

from collections.abc import Callable

import litellm


async def read(url: str, _wire: str, prompt: str, tell: Callable[[str], None]) -> None:
    """See `reading`."""
    stream = await litellm.acompletion(
        model="openai/large",
        api_base=url,
        api_key="a-key-of-nobody",
        messages=[{"role": "user", "content": prompt}],
        stream=True,
    )
    reason = None
    async for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                tell(choice.delta.content)
            reason = choice.finish_reason or reason
    if reason != "stop":
        raise ValueError(f"no end: {reason}")
