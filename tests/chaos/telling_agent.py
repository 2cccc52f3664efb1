"""An AG-UI agent whose every turn says something else, in pieces, and what it said."""

import asyncio
import json
from random import Random
from typing import Any

from gateway.http_agent import Asked, HttpAgent


class TellingAgent(HttpAgent):
    """`texts` has the whole texts of the turns of each prompt, from their first pieces on."""

    def __init__(self, dice: Random, *, pieces: int, pause_s: float) -> None:
        super().__init__(self._tell)
        self.texts: dict[str, list[str]] = {}
        self._dice = dice
        self._pieces = pieces
        self._pause_s = pause_s

    async def _tell(self, asked: Asked) -> None:
        request = json.loads(asked.body)
        prompt = request["messages"][-1]["content"]
        turns = self.texts.setdefault(prompt, [])
        words = [f"{prompt}:{len(turns)}:{number} " for number in range(self._pieces)]
        turns.append("".join(words))
        ids = {name: request[name] for name in ("threadId", "runId")}
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
