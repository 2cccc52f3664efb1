"""An AG-UI agent whose every turn says something else, in pieces, and what it said."""

import asyncio
import json
from random import Random
from typing import Any

from gateway.http_agent import Asked, HttpAgent


class TellingAgent(HttpAgent):
    """`texts` has the whole text of each session's turn, from its first piece on."""

    def __init__(self, dice: Random, *, pieces: int, pause_s: float) -> None:
        super().__init__(self._tell)
        self.texts: dict[str, str] = {}
        self._dice = dice
        self._pieces = pieces
        self._pause_s = pause_s

    async def _tell(self, asked: Asked) -> None:
        session = asked.line.split()[1].rpartition("/")[2]
        words = [f"{session}:{number} " for number in range(self._pieces)]
        self.texts[session] = "".join(words)
        ids = {name: json.loads(asked.body)[name] for name in ("threadId", "runId")}
        await asked.say(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        await _say(asked, {"type": "RUN_STARTED", **ids})
        await _say(asked, {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"})
        for word in words:
            await _say(asked, {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": word})
            await asyncio.sleep(self._dice.uniform(0, 2 * self._pause_s))
        await _say(asked, {"type": "TEXT_MESSAGE_END", "messageId": "m1"})
        await _say(asked, {"type": "RUN_FINISHED", **ids})
        asked.close()


async def _say(asked: Asked, event: dict[str, Any]) -> None:
    await asked.say(f"data: {json.dumps(event)}\n\n".encode())
