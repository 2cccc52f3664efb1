"""How a prompt finds its answer, and the answers that both agents give.

A skill is a function that answers a turn. The first skill whose pattern is found in the prompt
answers it: no model, no dice.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import ToolFailed
from turnwire_lab.agents.common.wording import in_words

READ: Final = 500
"""Characters of a prompt that decide what it asks for."""
SLOW_DELTAS: Final = 50
COUNTED: Final = 60
FLOOD_MOST: Final = 100_000


class TurnFailed(Exception):  # noqa: N818 - a verdict of a skill, not a fault of the program
    """The skill gave up on this turn, which ends in an error; clients get its text."""


class Habits(Protocol):
    @property
    def slow_s(self) -> float: ...


class Turn(Protocol):
    """What a skill has in its hands while it answers."""

    @property
    def habits(self) -> Habits: ...
    async def say(self, text: str) -> None: ...
    def say_delta(self, piece: str) -> None: ...
    async def pause(self, pause_s: float | None = None) -> None: ...
    async def use(self, tool_name: str, args: Json) -> Any: ...


TurnT = TypeVar("TurnT")
Skill: TypeAlias = Callable[[TurnT, re.Match[str]], Awaitable[None]]
Skills: TypeAlias = Sequence[tuple[re.Pattern[str], Skill[TurnT]]]


async def answer(turn: TurnT, prompt: str, skills: Skills[TurnT]) -> bool:
    """Let the first skill that fits answer. Returns whether there was one."""
    for looked_for, skill in skills:
        # Only the beginning: a pattern may need quadratic time, and a prompt may be very long.
        if found := looked_for.search(prompt[:READ]):
            await skill(turn, found)
            return True
    return False


async def greet(turn: Turn, prompt: str, files: str, things_to_try: str) -> None:
    """The answer to a prompt that no skill fits. `files` is a sentence about them, or nothing."""
    words = " ".join(prompt.split())
    await turn.say("Hello! I am a small agent without a model behind me. ")
    if words:
        await turn.say(f"You said:\n\n> {words}\n\n")
    if files:
        await turn.say(f"{files}\n\n")
    await turn.say(f"Things to try:\n\n{things_to_try}")


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


TIME: Final = pattern(r"\bwhat(?:'s| is)? (?:the )?time\b(.*?\bin (?P<place>[^?!]+))?")
SEARCH: Final = pattern(r"\bsearch (?:the docs )?for (?P<query>.+)")
CALCULATE: Final = pattern(r"\b(?:calculate|compute)\b(?P<expression>[^?=]+)")
ARITHMETIC: Final = pattern(
    r"^\s*(?:what(?:'s| is)|how much is)?\s*"
    r"(?P<expression>[-+(.\d][-+*/%().\d\s]*[-+*/%][-+*/%().\d\s]*[\d)])"
    r"\s*(?:please)?[\s=?.!]*$"
)


async def say_nothing(_turn: object, _found: re.Match[str]) -> None:
    """An empty turn: it begins, and it ends."""


async def say_numbers(
    turn: Turn, found: re.Match[str], otherwise: int, pause_s: float | None = None
) -> None:
    """As many deltas as the prompt names, else `otherwise` many."""
    for number in range(min(int(found["count"] or found["deltas"] or otherwise), FLOOD_MOST)):
        turn.say_delta(f"{number} ")
        await turn.pause(pause_s)


async def dawdle(turn: Turn, _found: re.Match[str]) -> None:
    for number in range(SLOW_DELTAS):
        turn.say_delta(f"{number + 1} of {SLOW_DELTAS}, no hurry. ")
        await turn.pause(turn.habits.slow_s)


async def count(turn: Turn, _found: re.Match[str]) -> None:
    """Six seconds of small deltas, which is what the doctor asks for."""
    for number in range(1, COUNTED + 1):
        turn.say_delta(f"{in_words(number)}\n")
        await turn.pause(turn.habits.slow_s / 2)


async def break_tool(turn: Turn, _found: re.Match[str]) -> None:
    await compute(turn, "1/0")


async def calculate(turn: Turn, found: re.Match[str]) -> None:
    await compute(turn, found["expression"].strip())


async def compute(turn: Turn, expression: str) -> None:
    await turn.say("Let me work that out. ")
    try:
        result = await turn.use("calculator", {"expression": expression})
    except ToolFailed as failure:
        await turn.say(f"The calculator gave up: {failure}\n")
    else:
        await turn.say(f"{expression} is **{result['value']}**.\n")


async def tell_time(turn: Turn, found: re.Match[str]) -> None:
    place = (found["place"] or "UTC").strip(" .?!") or "UTC"
    await turn.say("I will look at the clock. ")
    try:
        result = await turn.use("clock", {"place": place})
    except ToolFailed as failure:
        await turn.say(f"It did not help: {failure}\n")
    else:
        await turn.say(f"In {place} it is **{result['time']}** on {result['day']}.\n")


async def search_pages(turn: Turn, query: str) -> Json | None:
    """The result of the search; None if it failed. The turn says so."""
    query = query.strip(" .?!")
    await turn.say(f"Searching this project's pages for {query!r}. ")
    try:
        found: Json = await turn.use("search", {"query": query})
    except ToolFailed as failure:
        await turn.say(f"No luck: {failure}\n")
        return None
    return found
