"""A gateway's end of the `v2` wire, for trying an agent without a gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.line import USUAL, Line, connected


class GatewayLine(Line):
    async def ask(self, content: str, prompt_id: str = "p1", **more: object) -> None:
        """Send a prompt as the gateway does; fields by name are added or replaced."""
        prompt = {"type": "prompt", "content": content, "promptId": prompt_id}
        await self.say(**(prompt | USUAL | more))

    async def turn(self, content: str, prompt_id: str = "p1", **more: object) -> list[Json]:
        """Ask, and return the frames of the whole turn."""
        await self.ask(content, prompt_id, **more)
        created = await self.hear("message.create")
        start = len(self.received) - 1
        await self.hear("complete", turnId=created["turnId"])
        return self.received[start:]


@asynccontextmanager
async def line(url: str, session: str = "s1", **headers: str) -> AsyncIterator[GatewayLine]:
    """A line to the session behind a URL with `{session_id}` in it; `x_name=` is a header."""
    async with connected(url, session, headers) as socket:
        yield GatewayLine(socket)


def kinds(frames: list[Json]) -> list[str]:
    """The types in order, snapshots left out, a run of one type named once."""
    types = [frame["type"] for frame in frames if frame["type"] != "message.updated"]
    return [kind for kind, before in zip(types, [None, *types], strict=False) if kind != before]


def text(frames: list[Json], kind: str = "message.part.text-delta", key: str = "delta") -> str:
    """What the deltas of one spelling add up to."""
    return "".join(frame[key] for frame in frames if frame["type"] == kind)
