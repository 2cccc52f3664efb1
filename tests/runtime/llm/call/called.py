"""A call of a model on a scripted server, with a clock, a random number and waits of our own."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from runtime.llm.scripted_server import ScriptedServer
from runtime.llm.streams import sse
from turnwire_agent.llm.call.http import Client
from turnwire_agent.llm.call.limits import Limits
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.call.wire_tap import Tap
from turnwire_agent.llm.credentials.port import CredentialError, Granted
from turnwire_agent.llm.events import Event, Finish, TextDelta
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import Text, User

KEY = "canary-key-0123456789"
PROMPT = "canary-prompt-0123456789"
NOW = 1_795_647_600.0
"""Wed, 25 Nov 2026 23:00:00 GMT."""
REQUEST = Request(transcript=(User((Text(PROMPT),)),))


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "a1", "model": "tiny-1", "choices": [choice]}


ANSWER = sse(chunk(role="assistant", content="Hel"), chunk(content="lo"), chunk("stop"), "[DONE]")


def model(url: str) -> Model:
    return Model(provider="local", name="tiny", shape="chat", base_url=url)


class Key:
    """A credential whose keys are given. It counts what it hears."""

    def __init__(self, *keys: str | CredentialError) -> None:
        self._keys = list(keys or (KEY,))
        self.refusals: list[str] = []
        self.asked = 0

    async def headers(self) -> Granted:
        self.asked += 1
        if isinstance(key := self._keys[0], CredentialError):
            raise key
        return Granted({"authorization": f"Bearer {key}"}, key[-4:])

    async def refused(self, version: str) -> bool:
        self.refusals.append(version)
        if len(self._keys) == 1:
            return False
        del self._keys[0]
        if isinstance(key := self._keys[0], CredentialError):
            raise key
        return True


@dataclass
class Caller:
    """Calls a server, and keeps what it waited."""

    waits: list[float] = field(default_factory=list)
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    tap: Tap | None = None
    client: Client | None = None

    @property
    def settings(self) -> CallSettings:
        return CallSettings(
            client=self.client,
            limits=self.limits,
            tap=self.tap,
            clock=lambda: NOW,
            random=lambda: 0.5,
            sleep=self._wait,
        )

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)

    async def call(self, url: str, credential: Key | None = None) -> list[Event]:
        events = stream(model(url), REQUEST, credential or Key(), self.settings)
        async with aclosing(events):
            return [event async for event in events]

    async def ask(self, server: ScriptedServer, credential: Key | None = None) -> list[Event]:
        return await self.call(server.url, credential)


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def fault(events: list[Event]) -> Fault:
    """The last event; there is no other fault and no finish."""
    assert isinstance(events[-1], Fault), events
    assert not any(isinstance(event, Fault | Finish) for event in events[:-1])
    return events[-1]
