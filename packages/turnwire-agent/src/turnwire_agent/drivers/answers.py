"""Where the answers of the loop come from: a provider over HTTP, or somebody else's agent."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from turnwire_agent.llm.call.stream import DEFAULTS, CallSettings, stream
from turnwire_agent.llm.credentials.port import Credential
from turnwire_agent.llm.events import Event
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.prepare import Prepared
from turnwire_agent.session.events import CallBegun, CallEnded

Show = Callable[[CallBegun | CallEnded], Awaitable[None]]
"""Shows people a tool that whoever answers runs by itself. The loop has nothing to do with it."""


class Answers(Protocol):
    """Gives one answer at a time."""

    def stream(
        self, asked: AskModel, prepared: Prepared, show: Show
    ) -> AsyncGenerator[Event, None]:
        """Answer. The last event is a `Finish` or a `Fault`; whoever stops reading closes it."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderAnswers:
    """A provider's model, over HTTP."""

    credential: Credential
    calls: CallSettings = DEFAULTS

    def stream(
        self, asked: AskModel, prepared: Prepared, _show: Show
    ) -> AsyncGenerator[Event, None]:
        return stream(
            asked.model, prepared.request, self.credential, self.calls, made_ids=asked.made_ids
        )
