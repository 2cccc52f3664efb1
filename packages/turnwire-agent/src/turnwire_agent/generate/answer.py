"""The answer of a call as a stream of server-sent events, as long as its client listens."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from starlette.types import Receive, Scope, Send

from turnwire_agent.generate.parts import Part, written

KEEPALIVE_S: Final = 15.0
KEEPALIVE: Final = b": keepalive\n\n"
"""A comment, which no client shows: what stands between keeps the connection open."""
SEND_S: Final = 60.0
"""A client that takes nothing for so long is gone."""
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Answer:
    """An ASGI response.

    Args:
        parts: Closed at once when the client goes.
        ended: Hears whether the client was told all.
        keepalive_s: The longest silence.
        send_s: See `SEND_S`.
    """

    def __init__(
        self,
        parts: AsyncGenerator[Part, None],
        ended: Callable[[bool], None],
        *,
        keepalive_s: float = KEEPALIVE_S,
        send_s: float = SEND_S,
    ) -> None:
        self._parts = parts
        self._ended = ended
        self._keepalive_s = keepalive_s
        self._send_s = send_s
        self._sent = 0

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        telling = asyncio.create_task(self._tell(send))
        tasks = {
            telling,
            asyncio.create_task(self._keep_alive(send)),
            asyncio.create_task(_until_gone(receive)),
        }
        whole = False
        async with aclosing(self._parts):
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                whole = telling.done() and not telling.exception()
            finally:
                for task in tasks:
                    task.cancel()
                # Nothing reads the parts any more when they are closed.
                outcomes = await asyncio.gather(*tasks, return_exceptions=True)
                self._ended(whole)
        for outcome in outcomes:
            if isinstance(outcome, Exception) and not isinstance(outcome, OSError):
                raise outcome

    async def _tell(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async for part in self._parts:
            self._sent += 1
            async with asyncio.timeout(self._send_s):
                await send(_body(written(part)))
        await send(_body(b"", more=False))

    async def _keep_alive(self, send: Send) -> None:
        sent = -1
        while True:
            if sent == self._sent:
                await send(_body(KEEPALIVE))
            sent = self._sent
            await asyncio.sleep(self._keepalive_s)


def _body(body: bytes, *, more: bool = True) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
