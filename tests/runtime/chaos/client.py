"""A client of one session, that comes back whenever its socket breaks, wherever that is."""

import asyncio
import time

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from runtime.chaos.replicas import Replicas
from runtime.host.hosted import Frame, Socket
from runtime.kill.heard import is_over, open_questions, running_parts, turns
from runtime.kill.promises import client_of, content

BROKEN = (ConnectionClosed, InvalidHandshake, InvalidMessage, OSError, TimeoutError)
SILENCE_S = 5.0
"""After so long a client looks whether its socket is still good."""
PATIENCE_S = 120.0


class Client:
    """Asks one thing after another, and follows each turn to its end."""

    def __init__(self, replicas: Replicas, session: str) -> None:
        self._replicas = replicas
        self.session = session
        self.seen: dict[str, list[Frame]] = {}
        """What it has of each turn whose end it heard, by prompt id."""
        self.gaps: list[float] = []
        """Seconds from each broken socket to the next frame of the turn."""
        self._lost_at: float | None = None

    async def turn(self, content: str, prompt_id: str) -> None:
        """Ask, come back as often as need be, and answer who asks.

        Raises:
            TimeoutError: the turn does not end.

        """
        self._lost_at = None
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    async with self._replicas.any().socket(self.session) as socket:
                        if prompt_id not in turns(socket.seen[0]):
                            await socket.ask(content, prompt_id)
                        await self._follow(socket, prompt_id)
                        self._keep(socket.seen, prompt_id)
                        return
                except BROKEN:
                    self._lost_at = self._lost_at or time.monotonic()
                    await asyncio.sleep(0.05)

    async def init(self) -> Frame:
        """Where the session stands, as a new socket is told it."""
        while True:
            try:
                async with self._replicas.any().socket(self.session) as socket:
                    return socket.seen[0]
            except BROKEN:
                await asyncio.sleep(0.05)

    async def _follow(self, socket: Socket, prompt_id: str) -> None:
        answered: set[str] = set()
        while not is_over(socket.seen, prompt_id):
            for question in open_questions(socket.seen):
                if question not in answered:
                    answered.add(question)
                    await socket.send("answer", questionId=question, answer=True)
            async with asyncio.timeout(SILENCE_S):
                frame = await socket.next()
            if self._lost_at is not None and "turnId" in frame:
                self.gaps.append(time.monotonic() - self._lost_at)
                self._lost_at = None

    def _keep(self, frames: list[Frame], prompt_id: str) -> None:
        created = [each for each in frames if each.get("promptId") == prompt_id]
        turn_id = created[-1].get("turnId") if created else None
        running = str(running_parts(frames[0])) + str(frames[1:])
        if turn_id is None or "erase" in running:
            return  # it came too late, or the response of a gateway ends in the middle
        client = client_of(frames, prompt_id, str(turn_id))
        if client is not None:
            self.seen[prompt_id] = content(client.parts)
