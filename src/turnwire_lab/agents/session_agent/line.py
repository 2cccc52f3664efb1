"""A client's end of the `session-agent` wire, for trying the agent without a gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from websockets.typing import Subprotocol

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.line import USUAL, Line, connected

OFFERED: Final = (Subprotocol("valet"), Subprotocol("agent-ops"))


class ClientLine(Line):
    async def prompt(self, content: str, **more: object) -> None:
        """Send a prompt on the usual channel; None leaves a field out."""
        fields = {"type": "prompt", "content": content, **USUAL, **more}
        await self.say(**{name: value for name, value in fields.items() if value is not None})

    async def status(self, **data: object) -> Json:
        return await self.hear("status", data=data)

    async def bind(self) -> str:
        """The id of the next turn that begins."""
        frame = await self.hear("message", data={"role": "assistant", "content": "", "parts": []})
        return str(frame["data"]["id"])

    async def finish(self, turn_id: str) -> Json:
        """The snapshot in which that turn ends."""
        while True:
            turn: Json = (await self.hear("message.updated", data={"id": turn_id}))["data"]
            if any(part["type"] == "finish" for part in turn["parts"]):
                return turn

    async def settle(self) -> list[Json]:
        """All frames up to now: the answer to a ping comes after them."""
        await self.say(type="ping")
        await self.hear("pong")
        return self.received

    def _fits(self, frame: Json, fields: Json) -> bool:
        return _holds(frame, fields)


@asynccontextmanager
async def client(
    url: str, user: str = "ann", session: str = "s1", **headers: str
) -> AsyncIterator[ClientLine]:
    """A line of that user. The token is the user's name."""
    identity = {"authorization": f"Bearer {user}", **headers}
    async with connected(url, session, identity, subprotocols=OFFERED) as socket:
        yield ClientLine(socket)


def outline(frames: list[Json]) -> list[str]:
    """Each frame in a word or two, chunks that follow each other once."""
    words = [_word(frame) for frame in frames]
    pairs = zip(words, ["", *words], strict=False)
    return [word for word, before in pairs if word != before or word != "chunk"]


def text(frames: list[Json], turn_id: str) -> str:
    """What the deltas of one turn add up to."""
    chunks = (f for f in frames if f["type"] == "chunk" and f["messageId"] == turn_id)
    return "".join(frame["content"] for frame in chunks)


def _word(frame: Json) -> str:
    match frame:
        case {"type": "message", "data": {"role": role}}:
            return f"message {role}"
        case {"type": "message.updated", "data": {"parts": [*parts]}} if any(
            part["type"] == "finish" for part in parts
        ):
            return "message.updated finish"
        case {"type": "status", "data": data}:
            return f"status {next(iter(data))}"
        case {"type": "agentStatus", "status": status}:
            return f"agentStatus {status}"
        case {"type": "audit_log", "entry": {"eventType": event}}:
            return f"audit_log {event}"
        case _:
            return str(frame["type"])


def _holds(frame: Any, fields: Any) -> bool:
    if not isinstance(fields, dict) or not isinstance(frame, dict):
        return bool(frame == fields)
    return all(name in frame and _holds(frame[name], value) for name, value in fields.items())
