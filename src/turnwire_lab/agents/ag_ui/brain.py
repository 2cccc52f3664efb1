"""Which skill answers which prompt, and the skills of the `ag-ui` agent."""

import asyncio
import re
from typing import Final

from turnwire_lab.agents.ag_ui.turn import Turn
from turnwire_lab.agents.common import skills
from turnwire_lab.agents.common.skills import (
    ARITHMETIC,
    CALCULATE,
    SEARCH,
    TIME,
    Skills,
    TurnFailed,
    break_tool,
    calculate,
    count,
    dawdle,
    greet,
    pattern,
    say_nothing,
    say_numbers,
    search_pages,
    tell_time,
)
from turnwire_lab.agents.common.wording import counted

FLOOD_DEFAULT: Final = 5000
STORY_LINES: Final = 200

PROMPTS: Final = (
    ("what is 12*7?", "runs a calculator"),
    ("search for keepalive", "looks through the project's pages"),
    ("think about rivers", "thinks aloud first"),
    ("approve 12*7", "needs your approval"),
    ("tell me a long story", "leaves time to reload, or to stop"),
    ("make the tool fail", "a tool that gives up"),
    ("make the turn fail", "an answer that breaks off"),
)
"""What to try, and what comes of it."""
TRY: Final = (
    "- `what is 12*7?` runs a calculator\n"
    "- `what time is it in Tokyo?` looks at a clock\n"
    "- `search for keepalive` looks through this project's pages\n"
    "- `make the tool fail` and `make the turn fail` show how that looks\n"
    "- `think about rivers` thinks aloud first, `tell me a long story` leaves time to reload\n"
    "- `approve 12*7` and `approve two things` need your approval\n"
    "- `be slow`, `hang`, `flood 5000` and `say nothing` try a client's patience\n"
)


async def answer(turn: Turn, prompt: str) -> None:
    """Answer a prompt; `TurnFailed` if the run is to end in an error."""
    if not await skills.answer(turn, prompt, SKILLS):
        await greet(turn, prompt, "", TRY)


async def fail(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("I will try, but it will not ")
    raise TurnFailed("The agent was told to fail this turn.")


async def hang(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("I will say this much, and then nothing until somebody stops me. ")
    await asyncio.get_running_loop().create_future()


async def flood(turn: Turn, found: re.Match[str]) -> None:
    await say_numbers(turn, found, FLOOD_DEFAULT, 0)


async def tell_story(turn: Turn, _found: re.Match[str]) -> None:
    for line in range(1, STORY_LINES + 1):
        await turn.say(f"On evening {line} the traveller came to another house, and went on.\n")


async def think(turn: Turn, found: re.Match[str]) -> None:
    topic = found["topic"].strip() or "nothing in particular"
    await turn.think(f"I am asked to think about {topic}. I have no mind, so I will be brief. ")
    await turn.say(f"I thought about {topic}: {counted(len(topic.split()), 'word')}.\n")


async def look_up(turn: Turn, found: re.Match[str]) -> None:
    result = await search_pages(turn, found["query"])
    if result is not None:
        await turn.say(f"I found {counted(len(result['hits']), 'place')}.\n")


async def approve(turn: Turn, found: re.Match[str]) -> None:
    await turn.say("That needs your approval. ")
    await turn.use_approved("calculator", {"expression": (found["sum"] or "6*7").strip()})


async def approve_two(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("Both need your approval. ")
    await turn.use_approved("calculator", {"expression": "6*7"})
    await turn.use_approved("clock", {"place": "Tokyo"})


# Order matters: "make the tool fail" before anything that looks for a word in it.
SKILLS: Final[Skills[Turn]] = (
    (pattern(r"\bcount from one\b"), count),
    (pattern(r"\bsay nothing\b"), say_nothing),
    (pattern(r"\bmake the turn fail\b"), fail),
    (pattern(r"\bmake the tool fail\b"), break_tool),
    (pattern(r"^\W*hang\b"), hang),
    (pattern(r"\bflood(\s+(?P<count>\d{1,9}))?|\bsay (?P<deltas>\d{1,9}) deltas"), flood),
    (pattern(r"\bbe slow\b"), dawdle),
    (pattern(r"\btell me a long story\b"), tell_story),
    (pattern(r"\bapprove two things\b"), approve_two),
    (pattern(r"\bapprove\b(?:[^-+(\d]*(?P<sum>[-+(\d][-+*/%().\d ]*\d\)*))?"), approve),
    (pattern(r"^\W*think\b(\s+(about|of|hard about))?(?P<topic>.*)"), think),
    (TIME, tell_time),
    (SEARCH, look_up),
    (CALCULATE, calculate),
    (ARITHMETIC, calculate),
)
