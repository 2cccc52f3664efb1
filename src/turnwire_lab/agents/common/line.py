"""The client's end of a connection, for trying an agent without a gateway: in a test, or by hand.

It sends frames, receives frames and keeps them; it decides nothing.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from turnwire_lab.agents.common.frames import Json

CLOSE_S: Final = 1.0
USUAL: Final[Json] = {"channelType": "web", "channelId": "default", "queueMode": "followup"}
"""The fields of a prompt whose client names no channel."""


class Line:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.received: list[Json] = []

    async def say(self, **frame: object) -> None:
        await self.socket.send(json.dumps(frame))

    async def hear(self, kind: str, **fields: object) -> Json:
        """The next frame of that type with these fields; everything before it is kept too."""
        while True:
            frame: Json = json.loads(await self.socket.recv())
            self.received.append(frame)
            if frame["type"] == kind and self._fits(frame, fields):
                return frame

    def _fits(self, frame: Json, fields: Json) -> bool:
        return fields.items() <= frame.items()


@asynccontextmanager
async def connected(
    url: str, session: str, headers: Json, *, subprotocols: Sequence[Subprotocol] | None = None
) -> AsyncIterator[ClientConnection]:
    """A socket to the session behind a URL with `{session_id}` in it; `x_name` is `x-name`."""
    async with connect(
        url.format(session_id=session),
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
        subprotocols=subprotocols,
        close_timeout=CLOSE_S,
        max_size=None,
        # Reading never pauses: a full queue would hide the end of the connection.
        max_queue=None,
        proxy=None,
    ) as socket:
        yield socket
