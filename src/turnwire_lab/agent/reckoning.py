"""What the brain of either agent says when it is to compute or to look at a clock."""

import re
from typing import Any, Final, Protocol

from turnwire_lab.agent.frames import Json
from turnwire_lab.agent.tool import ToolFailed


class Turn(Protocol):
    async def say(self, text: str) -> None: ...
    async def use(self, tool_name: str, args: Json) -> Any: ...


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
