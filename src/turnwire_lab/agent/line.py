"""A gateway's end of the line, for trying an agent without a gateway: in a test, or by hand.

It says frames, hears frames and keeps them; it decides nothing.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect

from turnwire_lab.agent.frames import Json

CLOSE_S = 1.0


class Line:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[Json] = []

    async def say(self, **frame: object) -> None:
        await self.socket.send(json.dumps(frame))

    async def ask(self, content: str, prompt_id: str = "p1", **more: object) -> None:
        """Say a prompt as the gateway does; fields by name are added or replaced."""
        channel = {"channelType": "web", "channelId": "default", "queueMode": "followup"}
        prompt = {"type": "prompt", "content": content, "promptId": prompt_id}
        await self.say(**(prompt | channel | more))

    async def hear(self, kind: str, **fields: object) -> Json:
        """The next frame of that type with these fields; everything before it is kept too."""
        while True:
            frame: Json = json.loads(await self.socket.recv())
            self.heard.append(frame)
            if frame["type"] == kind and fields.items() <= frame.items():
                return frame

    async def turn(self, content: str, prompt_id: str = "p1", **more: object) -> list[Json]:
        """Ask, and return the frames of the whole turn."""
        await self.ask(content, prompt_id, **more)
        created = await self.hear("message.create")
        start = len(self.heard) - 1
        await self.hear("complete", turnId=created["turnId"])
        return self.heard[start:]


@asynccontextmanager
async def line(url: str, session: str = "s1", **headers: str) -> AsyncIterator[Line]:
    """A line to the session behind a URL with `{session_id}` in it; `x_name=` is a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with connect(
        url.format(session_id=session),
        additional_headers=named,
        close_timeout=CLOSE_S,
        max_size=None,
        # Reading never pauses, or the end of the line would hide behind frames nobody wants.
        max_queue=None,
        proxy=None,
    ) as socket:
        yield Line(socket)


def kinds(frames: list[Json]) -> list[str]:
    """The types in order, snapshots left out, a run of one type told once."""
    types = [frame["type"] for frame in frames if frame["type"] != "message.updated"]
    return [kind for kind, before in zip(types, [None, *types], strict=False) if kind != before]


def text(frames: list[Json], kind: str = "message.part.text-delta", key: str = "delta") -> str:
    """What the deltas of one spelling add up to."""
    return "".join(frame[key] for frame in frames if frame["type"] == kind)
