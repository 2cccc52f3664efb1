"""Both clients behind one set of calls: the sync one works in threads."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, TypeAlias

from gateway.tokens import token
from turnwire_client import (
    AsyncChat,
    AsyncClient,
    Chat,
    Client,
    Event,
    Limits,
    Receipt,
    TextDelta,
    ToolApprovalRequest,
    UIMessage,
)

Kind = Literal["sync", "async"]
QUICK: Final = Limits(waits_s=(0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6))


class ThreadedChat:
    """The sync chat, each of whose calls is made in a thread."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    @property
    def message(self) -> UIMessage:
        return self._chat.message

    def send(self, prompt: str, **more: Any) -> AsyncGenerator[Event, None]:
        return _threaded(self._chat.send(prompt, **more))

    def resume(self) -> AsyncGenerator[Event, None]:
        return _threaded(self._chat.resume())

    async def stop(self, turn_id: str | None = None) -> Receipt:
        return await asyncio.to_thread(self._chat.stop, turn_id)

    async def answer(self, question_id: str, answer: object) -> None:
        await asyncio.to_thread(self._chat.answer, question_id, answer)

    async def approve(self, approval: ToolApprovalRequest, *, reason: str | None = None) -> None:
        await asyncio.to_thread(self._chat.approve, approval, reason=reason)

    async def deny(self, approval: ToolApprovalRequest, *, reason: str | None = None) -> None:
        await asyncio.to_thread(self._chat.deny, approval, reason=reason)

    async def history(self, **more: Any) -> list[UIMessage]:
        return await asyncio.to_thread(self._chat.history, **more)


AnyChat: TypeAlias = ThreadedChat | AsyncChat


async def _threaded(events: Generator[Event, None, None]) -> AsyncGenerator[Event, None]:
    try:
        while (event := await asyncio.to_thread(next, events, None)) is not None:
            yield event
    finally:
        await asyncio.to_thread(events.close)


@asynccontextmanager
async def chatting(
    kind: Kind, url: str, *, session: str = "s1", limits: Limits = QUICK, **more: Any
) -> AsyncIterator[AnyChat]:
    """A chat of a client of this kind, which is closed with the block."""
    given = {"token": token(), **more}
    if kind == "sync":
        with Client(url, limits=limits) as client:
            yield ThreadedChat(client.chat(session, **given))
    else:
        async with AsyncClient(url, limits=limits) as async_client:
            yield async_client.chat(session, **given)


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextDelta))


def outline(events: Sequence[Event]) -> list[str]:
    """The names of the events; deltas in a row count once, as they may come in any pieces."""
    names = [type(event).__name__ for event in events]
    return [
        name
        for number, name in enumerate(names)
        if not (name.endswith("Delta") and number and names[number - 1] == name)
    ]
