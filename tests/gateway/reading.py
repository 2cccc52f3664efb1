"""Requests of one session, as an app makes them: prompt, resume, stop, answer, history."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from gateway.clients import Chat, Json, Listens, ask, chunks, new_client
from gateway.tokens import bearer


class App:
    """One user of one session behind one gateway."""

    def __init__(
        self,
        gateway: Listens,
        *,
        session: str = "s1",
        user: str = "u1",
        role: str = "collaborator",
        **channel: str,
    ) -> None:
        self.headers = bearer(user, sessions={"*": role})
        self.channel = channel
        self._url = f"{gateway.url}/api/sessions/{session}"

    @asynccontextmanager
    async def prompt(self, text: str, on_disconnect: str | None = None) -> AsyncIterator[Chat]:
        """A turn that is read along; the connection closes with the block."""
        params = {} if on_disconnect is None else {"onDisconnect": on_disconnect}
        async with self._reading("POST", "chat", json=ask(text), params=params) as chat:
            yield chat

    @asynccontextmanager
    async def resume(self) -> AsyncIterator[Chat]:
        """The turn under way, read along in the same manner."""
        async with self._reading("GET", "chat/chat-1/stream") as chat:
            yield chat

    async def stop(self, turn_id: str | None = None) -> httpx.Response:
        return await self._call("POST", "stop", json={"turnId": turn_id} if turn_id else None)

    async def answer(self, question_id: str, answer: object) -> httpx.Response:
        return await self._call(
            "POST", "answer", json={"questionId": question_id, "answer": answer}
        )

    async def messages(self, **params: str) -> list[Json]:
        response = await self._call("GET", "messages", params=params)
        assert response.status_code == 200, response.text
        told: list[Json] = response.json()
        return told

    async def _call(
        self, method: str, route: str, params: dict[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        url = f"{self._url}/{route}"
        params = {**self.channel, **(params or {})}
        async with new_client() as client:
            return await client.request(method, url, headers=self.headers, params=params, **more)

    @asynccontextmanager
    async def _reading(
        self, method: str, route: str, params: dict[str, str] | None = None, **more: Any
    ) -> AsyncIterator[Chat]:
        url = f"{self._url}/{route}"
        params = {**self.channel, **(params or {})}
        async with (
            new_client() as client,
            client.stream(method, url, headers=self.headers, params=params, **more) as response,
        ):
            chat = Chat(response)
            try:
                yield chat
            finally:
                await chat.hang_up()


def turn_id(body: bytes) -> str:
    return str(chunks(body)[0]["messageId"])


async def question_id(chat: Chat) -> str:
    """Wait for the question of a stream."""
    await chat.sees("data-question")
    await chat.sees('"state":"open"}')
    return str(next(c["id"] for c in chunks(chat.body) if c["type"] == "data-question"))
