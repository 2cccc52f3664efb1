"""A host on loopback, with a driver that does as it is told, and a gateway's end of its sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from turnwire_agent.access.access import Access
from turnwire_agent.access.listening import listener
from turnwire_agent.host.driver import Driver, Ended, Parked, Turn
from turnwire_agent.host.replica import Replica
from turnwire_agent.host.server import HostServer
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Journal
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.v2.frames import Frames

QUICK = HostSettings(lease_s=0.6, stop_s=0.3, retry_s=0.05)
"""Leases that end soon: whatever waits for one, waits for a moment."""

Frame = dict[str, Any]

Opening = Callable[[], Journal]
"""Makes the journal of one more replica."""


@dataclass
class Scripted:
    """A driver whose answer is a function."""

    answer: Callable[[Turn], Awaitable[Ended | Parked]]

    async def turn(self, turn: Turn) -> Ended | Parked:
        return await self.answer(turn)


async def echo(turn: Turn) -> Ended:
    """Repeat the prompt, word by word."""
    for word in turn.prompt.content.split(" "):
        turn.add(TextAdded(word + " "))
        await asyncio.sleep(0)
    return Ended()


class Socket:
    """A gateway's end of one socket."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.seen: list[Frame] = []

    async def next(self) -> Frame:
        frame: Frame = json.loads(await self.connection.recv())
        self.seen.append(frame)
        return frame

    async def until(self, kind: str, **fields: object) -> Frame:
        """The next frame of a type, with these fields."""
        while True:
            frame = await self.next()
            if frame["type"] == kind and fields.items() <= frame.items():
                return frame

    async def send(self, kind: str, **fields: object) -> None:
        await self.connection.send(json.dumps({"type": kind, **fields}))

    async def ask(self, content: str, prompt_id: str = "p1", **fields: object) -> None:
        """Send a prompt as the gateway does."""
        usual = {"channelType": "web", "channelId": "default", "queueMode": "followup"}
        await self.send("prompt", **(usual | {"content": content, "promptId": prompt_id} | fields))

    async def turn(self, content: str, prompt_id: str = "p1", **fields: object) -> list[Frame]:
        """Ask, and return the frames of the whole turn."""
        await self.ask(content, prompt_id, **fields)
        return await self.rest(prompt_id)

    async def rest(self, prompt_id: str = "p1") -> list[Frame]:
        """All frames up to the end of a turn."""
        start = len(self.seen)
        await self.until("complete", promptId=prompt_id)
        return self.seen[start:]


def words(frames: list[Frame]) -> str:
    """The text of some frames."""
    return "".join(each["delta"] for each in frames if each["type"] == "message.part.text-delta")


@dataclass
class Hosted:
    """One replica."""

    port: int
    replica: Replica

    @asynccontextmanager
    async def socket(self, session: str = "s1", **headers: str) -> AsyncIterator[Socket]:
        """Open a socket, and read its `init`."""
        url = f"ws://127.0.0.1:{self.port}/api/sessions/{session}/ws?role=client"
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        async with connect(
            url, additional_headers=fields, compression=None, max_size=None, proxy=None
        ) as connection:
            socket = Socket(connection)
            await socket.next()
            yield socket


@asynccontextmanager
async def hosted(
    driver: Driver,
    journal: Journal | None = None,
    settings: HostSettings = QUICK,
    frames: Frames | None = None,
) -> AsyncIterator[Hosted]:
    """Serve a driver."""
    listening, loopback = listener("127.0.0.1:0", has_token=False)
    replica = Replica(journal or MemoryJournal(), driver, frames or Frames(), settings)
    access = Access(loopback=loopback, tokens=None)
    async with HostServer(replica, listening, access, settings):
        yield Hosted(listening.getsockname()[1], replica)
