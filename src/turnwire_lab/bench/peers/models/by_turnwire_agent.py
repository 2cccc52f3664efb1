"""The runtime's own call of a model."""

from collections.abc import Callable
from contextlib import aclosing
from functools import cache

from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.port import Granted
from turnwire_agent.llm.events import Finish, TextDelta
from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import Text, User


class _Key:
    """A credential that is ready."""

    async def headers(self) -> Granted:
        return Granted({"authorization": "Bearer a-key-of-nobody"}, "1")

    async def refused(self, version: str) -> bool:
        raise AssertionError(version)


@cache
def _settings() -> CallSettings:
    return CallSettings(client=http_client())


async def read(url: str, wire: ShapeName, prompt: str, tell: Callable[[str], None]) -> None:
    """See `reading`."""
    model = Model(provider="local", name="large", shape=wire, base_url=url)
    request = Request(transcript=(User((Text(prompt),)),))
    event = None
    async with aclosing(stream(model, request, _Key(), _settings())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                tell(event.text)
    if not isinstance(event, Finish):
        raise TypeError(f"no finish: {event}")
