"""A model that has no memory: what it answers follows from what it is sent. So it is the same for
a process that asks again."""

import asyncio
import json
from typing import Any

from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, Connection, ScriptedServer
from runtime.llm.streams import sse

WORDS = tuple(f"word{number} " for number in range(6))


def answer(messages: list[dict[str, Any]]) -> list[Any]:
    """The chunks of an answer: by the last prompt, and how many results came after it."""
    last = max(place for place, each in enumerate(messages) if each["role"] == "user")
    prompt = str(messages[last]["content"])
    if isinstance(messages[last]["content"], list):
        prompt = messages[last]["content"][0]["text"]
    wanted = prompt.split()[1:] if prompt.startswith("use ") else []
    done = sum(each["role"] == "tool" for each in messages[last:])
    if done < len(wanted):
        group = wanted[done].split("+")
        inputs = [
            chunk(
                tool_calls=[
                    {
                        "index": place,
                        "id": f"c{done}-{place}",
                        "function": {"name": name, "arguments": json.dumps({"what": f"x{done}"})},
                    }
                ]
            )
            for place, name in enumerate(group)
        ]
        return [chunk(content=f"Step {done}. "), *inputs, chunk("tool_calls")]
    return [
        chunk(reasoning_content="Hm. "),
        *(chunk(content=word) for word in WORDS),
        chunk("stop"),
    ]


async def _script(connection: Connection, body: bytes) -> None:
    await connection.send(STREAM_HEAD)
    for each in [*answer(json.loads(body)["messages"]), "[DONE]"]:
        await connection.send(sse(each))
        await asyncio.sleep(0.001)


class Provider(ScriptedServer):
    """Answers all requests, also several at a time."""

    def __init__(self) -> None:
        async def script(connection: Connection) -> bool:
            await _script(connection, self.asked[-1].body)
            return False

        super().__init__([script])
