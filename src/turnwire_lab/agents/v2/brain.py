"""Which skill answers which prompt, and the skills of the `v2` agent.

A new one is one function and one line of `SKILLS`.
"""

import asyncio
import re
from typing import Final

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
    compute,
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
from turnwire_lab.agents.v2 import dialogue, files, model, story
from turnwire_lab.agents.v2.frames import Prompt
from turnwire_lab.agents.v2.turn import Turn

FLOOD_DEFAULT: Final = 5000
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
    "- `lose an attempt`, `write a query about resume`, `take two steps` and `stop short` show\n"
    "  what a turn of a model is made of\n"
    "- `send me a file`, `send me a picture` and `cite a source` give you something, and\n"
    "  `describe these files` looks at what you attach\n"
    "- `be slow`, `hang`, `flood 5000` and `say nothing` try a client's patience\n"
)


def refusal(prompt: Prompt) -> str | None:
    """Why a prompt is refused before a turn begins; None: it is taken."""
    if not prompt.content.strip() and not prompt.attachments:
        return "Missing content or attachments"
    if len(prompt.attachments) > ATTACHMENTS:
        return f"A prompt has at most {ATTACHMENTS} attachments."
    if re.search(r"\brefuse (this|my|the) prompt\b", prompt.content, re.IGNORECASE):
        return "The agent was told to refuse this prompt."
    return None


async def answer(turn: Turn) -> None:
    """Answer the turn's prompt; `TurnFailed` if it is to end in an error."""
    if not await skills.answer(turn, turn.prompt.content, SKILLS):
        attached = turn.prompt.attachments
        about = f"With it came {files.described(attached)}." if attached else ""
        await greet(turn, turn.prompt.content, about, TRY)


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
    await say_numbers(turn, found, FLOOD_DEFAULT, 0)
    if found["hang"]:
        await asyncio.get_running_loop().create_future()


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
    result = await search_pages(turn, found["query"])
    if result is None:
        return
    if not result["hits"]:
        await turn.say(f"Nothing found in {counted(result['pages'], 'page')}.\n")
        return
    await turn.say("I found:\n\n")
    for hit in result["hits"]:
        await turn.say(f"- **{hit['heading']}** (`{hit['page']}`): {hit['excerpt']}\n")


# Order matters: "make the tool fail" before anything that looks for a word in it.
SKILLS: Final[Skills[Turn]] = (
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
    (pattern(r"\blose an attempt\b"), model.lose_attempt),
    (pattern(r"\bwrite a query about (?P<query>.+)"), model.write_input),
    (pattern(r"\btake two steps\b"), model.take_steps),
    (pattern(r"\bstop short\b(?P<steps> after too many steps)?"), model.stop_short),
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
