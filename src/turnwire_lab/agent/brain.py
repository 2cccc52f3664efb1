"""What to answer to which prompt: a few patterns in order, no model, no dice.

The first skill whose pattern is found in the prompt answers it. A new one is one function and one
line of `SKILLS`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final

from turnwire_lab.agent import dialogue, files, story
from turnwire_lab.agent.frames import Prompt
from turnwire_lab.agent.reckoning import (
    ARITHMETIC,
    CALCULATE,
    SEARCH,
    TIME,
    break_tool,
    calculate,
    compute,
    pattern,
    tell_time,
)
from turnwire_lab.agent.tool import ToolFailed
from turnwire_lab.agent.turn import Turn, TurnFailed
from turnwire_lab.agent.wording import counted, in_words

Skill = Callable[[Turn, re.Match[str]], Awaitable[None]]

FLOOD_DEFAULT: Final = 5000
FLOOD_MOST: Final = 100_000
SLOW_DELTAS: Final = 50
COUNTED: Final = 60
READ: Final = 500
"""Characters of a prompt that decide what it asks for."""
ATTACHMENTS: Final = 64

TRY: Final = (
    "- `what is 12*7?` runs a calculator\n"
    "- `what time is it in Tokyo?` looks at a clock\n"
    "- `search for keepalive` looks through this project's pages\n"
    "- `divide 1 by 0` shows a tool that fails, `make the turn fail` a turn that does\n"
    "- `think about rivers` thinks aloud first, `tell me a long story` leaves time to reload\n"
    "- `ask me: tea or coffee?`, `ask free text`, `ask two things` and `ask quickly`\n"
    "  need an answer\n"
    "- `approve 12*7` and `approve two things` need your approval\n"
    "- `send me a file`, `send me a picture` and `cite a source` give you something, and\n"
    "  `describe these files` looks at what you attach\n"
    "- `be slow`, `hang`, `flood 5000` and `say nothing` try a client's patience\n"
)


def refusal(prompt: Prompt) -> str | None:
    """Why a prompt is not taken at all, told before any turn begins."""
    if not prompt.content.strip() and not prompt.attachments:
        return "Missing content or attachments"
    if len(prompt.attachments) > ATTACHMENTS:
        return f"A prompt has at most {ATTACHMENTS} attachments."
    if re.search(r"\brefuse (this|my|the) prompt\b", prompt.content, re.IGNORECASE):
        return "The agent was told to refuse this prompt."
    return None


async def answer(turn: Turn) -> None:
    """Answer the turn's prompt; `TurnFailed` if it is to end in an error."""
    for looked_for, skill in SKILLS:
        # Only the beginning: a pattern may need quadratic time, and a prompt may be very long.
        if found := looked_for.search(turn.prompt.content[:READ]):
            await skill(turn, found)
            return
    await chat(turn)


async def say_nothing(_turn: Turn, _found: re.Match[str]) -> None:
    """An empty turn: it begins, and it ends."""


async def fail(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("I will try, but it will not ")
    raise TurnFailed("The agent was told to fail this turn.")


async def hang_up(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("Hanging up on everybody in the middle of a ")
    turn.hang_up()


async def hang(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("I will say this much, and then nothing until somebody stops me. ")
    await asyncio.get_running_loop().create_future()


async def flood(turn: Turn, found: re.Match[str]) -> None:
    count = min(int(found["count"] or found["deltas"] or FLOOD_DEFAULT), FLOOD_MOST)
    for number in range(count):
        turn.say_delta(f"{number} ")
        await turn.pause(0)
    if found["hang"]:
        await asyncio.get_running_loop().create_future()


async def dawdle(turn: Turn, _found: re.Match[str]) -> None:
    for number in range(SLOW_DELTAS):
        turn.say_delta(f"{number + 1} of {SLOW_DELTAS}, no hurry. ")
        await turn.pause(turn.habits.slow_s)


async def count(turn: Turn, _found: re.Match[str]) -> None:
    """Six seconds of small deltas, which is what the doctor asks for."""
    for number in range(1, COUNTED + 1):
        turn.say_delta(f"{in_words(number)}\n")
        await turn.pause(turn.habits.slow_s / 2)


async def tell_story(turn: Turn, _found: re.Match[str]) -> None:
    for chapter in story.chapters():
        await turn.say(chapter)


async def think(turn: Turn, found: re.Match[str]) -> None:
    topic = found["topic"].strip() or "nothing in particular"
    await turn.think(f"I am asked to think about {topic}. I have no mind, so I will be brief. ")
    await turn.think("Counting its words is the best I can do.")
    await turn.say(f"I thought about {topic}: {counted(len(topic.split()), 'word')}.\n")


async def divide(turn: Turn, found: re.Match[str]) -> None:
    await compute(turn, f"{found['a']}/{found['b']}")


async def look_up(turn: Turn, found: re.Match[str]) -> None:
    query = found["query"].strip(" .?!")
    await turn.say(f"Searching this project's pages for {query!r}. ")
    try:
        result = await turn.use("search", {"query": query})
    except ToolFailed as failure:
        await turn.say(f"No luck: {failure}\n")
        return
    if not result["hits"]:
        await turn.say(f"Nothing found in {counted(result['pages'], 'page')}.\n")
        return
    await turn.say("I found:\n\n")
    for hit in result["hits"]:
        await turn.say(f"- **{hit['heading']}** (`{hit['page']}`): {hit['excerpt']}\n")


async def chat(turn: Turn) -> None:
    said = " ".join(turn.prompt.content.split())
    await turn.say("Hello! I am a small agent without a model behind me. ")
    if said:
        await turn.say(f"You said:\n\n> {said}\n\n")
    if turn.prompt.attachments:
        await turn.say(f"With it came {files.described(turn.prompt.attachments)}.\n\n")
    await turn.say(f"Things to try:\n\n{TRY}")


# Order matters: "make the tool fail" before anything that looks for a word in it.
SKILLS: Final[tuple[tuple[re.Pattern[str], Skill], ...]] = (
    (pattern(r"\bcount from one\b"), count),  # "and say nothing else"
    (pattern(r"\bsay nothing\b"), say_nothing),
    (pattern(r"\bmake the turn fail\b"), fail),
    (pattern(r"\bmake the tool fail\b"), break_tool),
    (pattern(r"\bhang up\b"), hang_up),
    (pattern(r"^\W*hang\b"), hang),
    (
        pattern(
            r"\bflood(\s+(?P<count>\d{1,9}))?(?P<hang>\s+and hang\b)?"
            r"|\bsay (?P<deltas>\d{1,9}) deltas"
        ),
        flood,
    ),
    (pattern(r"\bbe slow\b"), dawdle),
    (pattern(r"\btell me a long story\b"), tell_story),
    (pattern(r"\bask (?:me )?two things\b"), dialogue.ask_two_things),
    (pattern(r"\bask (?:me )?quickly\b(?P<about>.*)"), dialogue.ask_quickly),
    (pattern(r"\bask (?:me )?free(?:ly| text)?\b(?: about)?(?P<about>.*)"), dialogue.ask_freely),
    (pattern(r"\bask me\b(?P<about>.*)"), dialogue.choose),
    (pattern(r"\bapprove two things\b"), dialogue.approve_two),
    (pattern(r"\bapprove\b(?:[^-+(\d]*(?P<sum>[-+(\d][-+*/%().\d ]*\d\)*))?"), dialogue.approve),
    (pattern(r"\bsend me a (?P<kind>file|picture)\b"), files.send_file),
    (pattern(r"\bcite (?:a source|(?P<two>two sources))\b"), files.cite),
    (
        pattern(r"\b(?:describe|look at) (?:my|these|this|the) (?:files?|pictures?)\b"),
        files.describe,
    ),
    (pattern(r"^\W*think\b(\s+(about|of|hard about))?(?P<topic>.*)"), think),
    (TIME, tell_time),
    (SEARCH, look_up),
    (pattern(r"\bdivide (?P<a>[\d.]+) by (?P<b>[\d.]+)"), divide),
    (CALCULATE, calculate),
    (ARITHMETIC, calculate),
)
