"""What the offline models say: the words of the prompt choose it, so it is the same each time.

A model is asked again after its tools ran. So an answer depends on the last prompt and on the
results that came after it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

PAUSE_S: Final = 0.02
"""Between two words."""
STORY_PAUSE_S: Final = 0.1
STORY_LINES: Final = 100
"""A long answer takes ten seconds, or as long as somebody listens."""


@dataclass(frozen=True, kw_only=True)
class Thought:
    text: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of a tool. `number` counts the calls of one conversation, and is part of its id.

    `pieces` are the JSON of the arguments as it is streamed; the first comes with the tool's name.
    """

    number: int
    tool: str
    arguments: dict[str, str]
    pieces: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"call_{self.number}"


Said: TypeAlias = str | Thought | Call


class ModelFailed(Exception):  # noqa: N818 (what a model's provider might say)
    """The model gives up in the middle of its answer."""


async def answer(prompt: str, results: Sequence[str], calls_so_far: int) -> AsyncIterator[Said]:
    """What the model says next: text in pieces, thoughts in pieces, calls.

    `results` are those of the calls since the prompt, `calls_so_far` counts the calls before them.
    """
    text = prompt.lower()
    if results:
        async for piece in _words("So: " + " and ".join(results) + "."):
            yield piece
    elif "make the turn fail" in text:
        async for piece in _words("I begin well, and then "):
            yield piece
        raise ModelFailed("the model is overloaded")
    elif found := re.search(r"\bstory(?: of (\d+) lines)?", text):
        for line in range(1, int(found[1] or STORY_LINES) + 1):
            yield f"Line {line} of the story. "
            await asyncio.sleep(STORY_PAUSE_S)
    elif calls := _calls(text, calls_so_far):
        async for piece in _words("Let me see. "):
            yield piece
        for call in calls:
            yield call
    else:
        if "think" in text:
            async for piece in _words("They want me to think. A river begins small. "):
                yield Thought(text=piece)
        async for piece in _words("Hello! I am a small agent, and no model is behind me."):
            yield piece


def _calls(text: str, calls_so_far: int) -> list[Call]:
    wanted: list[tuple[str, dict[str, str]]] = []
    if found := re.search(r"\d[\d\s.*/+-]*[*/+-]\s*\d+", text):
        wanted.append(("calculator", {"expression": found[0]}))
    if found := re.search(r"time is it in (\w+)", text):
        wanted.append(("clock", {"city": found[1].title()}))
    if "make the tool fail" in text:
        wanted.append(("calculator", {"expression": "1/0"}))
    wanted += [("delete_file", {"path": path}) for path in re.findall(r"delete (\S+)", text)]
    return [
        Call(
            number=calls_so_far + place,
            tool=tool,
            arguments=arguments,
            pieces=_pieces(json.dumps(arguments), text),
        )
        for place, (tool, arguments) in enumerate(wanted, 1)
    ]


def _pieces(arguments: str, prompt: str) -> tuple[str, ...]:
    """As most models stream them, or as some do."""
    half = len(arguments) // 2
    match re.search(r"call at once|call torn", prompt):
        case None:
            return "", arguments[:half], arguments[half:]
        case found if found[0] == "call at once":
            return (arguments,)
        case _:
            return arguments[:half], arguments[half:]


async def _words(text: str) -> AsyncIterator[str]:
    for word in re.findall(r"\S+\s*", text):
        yield word
        await asyncio.sleep(PAUSE_S)
