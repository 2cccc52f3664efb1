"""A model that has no memory: what it answers follows from what it is sent. So it is the same for
a process that asks again."""

import asyncio
import json
from typing import Any

from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, Connection, ScriptedServer
from runtime.llm.streams import sse

WORDS = tuple(f"word{number} " for number in range(6))
STAY = "stay"
"""A prompt whose answer does not end."""


def wanted_by(prompt: str) -> list[str]:
    """The tools that are called for a prompt: those of each step, joined by `+`."""
    return prompt.split()[1:] if prompt.startswith("use ") else []


def prompt_of(messages: list[dict[str, Any]]) -> tuple[int, str]:
    """The last prompt, and where it is."""
    last = max(place for place, each in enumerate(messages) if each["role"] == "user")
    content = messages[last]["content"]
    return last, content if isinstance(content, str) else content[0]["text"]


def answer(messages: list[dict[str, Any]]) -> list[Any]:
    """The chunks of an answer: by the last prompt, and how many results came after it."""
    last, prompt = prompt_of(messages)
    wanted = wanted_by(prompt)
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
    messages = json.loads(body)["messages"]
    stays = prompt_of(messages)[1] == STAY
    await connection.send(STREAM_HEAD)
    for each in [*answer(messages)[: -1 if stays else None], *([] if stays else ["[DONE]"])]:
        await connection.send(sse(each))
        await asyncio.sleep(0.001)
    if stays:
        await connection.until_gone()


class Provider(ScriptedServer):
    """Answers all requests, also several at a time."""

    def __init__(self) -> None:
        async def script(connection: Connection) -> bool:
            await _script(connection, self.asked[-1].body)
            return False

        super().__init__([script])
