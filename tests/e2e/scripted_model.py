"""A model that is played, behind Chat Completions: it writes a call, after its result an answer.

What it says follows from what it is sent, so that a process that asks again hears the same.
"""

import asyncio
import json
from typing import Any, Final

from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, Connection, ScriptedServer
from runtime.llm.streams import sse

WORD: Final = "journal"
INPUT: Final = tuple(f'{{"word": "{WORD}"}}')
"""A letter at a time, so that a browser sees it grow."""
LETTER_S: Final = 0.1
BEFORE: Final = "I will read all pages. "
ANSWER: Final = "Now I have read them all, from the first to the last."


def _called(arguments: str, **more: str) -> dict[str, Any]:
    call = {"index": 0, "function": {"arguments": arguments, **more}}
    return call | ({"id": "call-1", "type": "function"} if more else {})


class ScriptedModel(ScriptedServer):
    """`async with ScriptedModel() as model:` answers at `model.url`, as often as it is asked."""

    def __init__(self) -> None:
        super().__init__([self._complete])

    async def _complete(self, connection: Connection) -> bool:
        messages = json.loads(self.asked[-1].body)["messages"]
        await connection.send(STREAM_HEAD)
        if messages[-1]["role"] == "tool":
            chunks = [*(chunk(content=f"{word} ") for word in ANSWER.split()), chunk("stop")]
        else:
            chunks = [
                chunk(content=BEFORE),
                chunk(tool_calls=[_called("", name="survey")]),
                *(chunk(tool_calls=[_called(letter)]) for letter in INPUT),
                chunk("tool_calls"),
            ]
        for each in chunks:
            await connection.send(sse(each))
            await asyncio.sleep(LETTER_S)
        await connection.send(sse("[DONE]"))
        return False
