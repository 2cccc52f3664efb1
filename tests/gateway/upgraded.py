"""An agent behind a line that changes what it says: the same product, one version later."""

import asyncio
import json
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from gateway.frames import Json
from gateway.waiting import closed

Change = Callable[[Json], Sequence[Json]]


class Upgraded:
    """`async with Upgraded(agent.url, change) as later:` says at `later.url` what that agent says.

    `change` makes of each of its frames what is said instead.
    """

    def __init__(self, url: str, change: Change) -> None:
        self._url = url
        self.change = change

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}/{{session_id}}"

    async def __aenter__(self) -> Self:
        self._server: Server = await serve(
            self._converse, "127.0.0.1", 0, select_subprotocol=_first, close_timeout=0.2
        )
        self._port: int = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()
        await closed(self._port)

    async def _converse(self, front: ServerConnection) -> None:
        assert front.request is not None
        session = front.request.path.strip("/")
        token = front.request.headers["authorization"]
        url = self._url.format(session_id=session)
        async with connect(
            url,
            additional_headers={"authorization": token},
            subprotocols=[front.subprotocol] if front.subprotocol else None,
            close_timeout=0.2,
            proxy=None,
        ) as back:
            there = asyncio.create_task(_pass(front, back))
            try:
                async for said in back:
                    for frame in self.change(json.loads(said)):
                        await front.send(json.dumps(frame))
            except ConnectionClosed:
                pass
            finally:
                there.cancel()
                await asyncio.wait([there])


def _first(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return offered[0] if offered else None


async def _pass(front: ServerConnection, back: ClientConnection) -> None:
    try:
        async for said in front:
            await back.send(said)
    finally:
        await back.close()
