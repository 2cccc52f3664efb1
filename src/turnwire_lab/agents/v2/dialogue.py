"""Skills that ask: choices, free text, several things, approvals."""

import asyncio
import re
from typing import Final

from turnwire_lab.agents.common.tool import ToolDenied, ToolFailed
from turnwire_lab.agents.v2.parts import Question
from turnwire_lab.agents.v2.turn import Turn

COLOURS: Final = ("red", "green", "blue")
MOST: Final = 6
"""Options that a prompt may name."""
SUM: Final = "6*7"


async def choose(turn: Turn, found: re.Match[str]) -> None:
    options = _named(found["about"])
    text = "Which one shall it be?" if options else "Which colour do you like?"
    await _ask(turn, turn.question(text, options or COLOURS))


async def ask_quickly(turn: Turn, found: re.Match[str]) -> None:
    options = _named(found["about"]) or ("yes", "no")
    await _ask(turn, turn.question("Quick: which one?", options, wait_s=turn.habits.quick_s))


async def ask_freely(turn: Turn, found: re.Match[str]) -> None:
    about = found["about"].strip(" .?!") or "this"
    await _ask(turn, turn.question(f"What do you think about {about}?"))


async def ask_two_things(turn: Turn, _found: re.Match[str]) -> None:
    colour = turn.question("Which colour do you like?", COLOURS)
    await _ask(turn, colour, turn.question("And what is your name?"))


async def approve(turn: Turn, found: re.Match[str]) -> None:
    await turn.say("I need your approval for this. ")
    await turn.say(await _compute(turn, (found["sum"] or SUM).strip()))


async def approve_two(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("I need your approval twice. ")
    results = await asyncio.gather(_compute(turn, SUM), _compute(turn, "7*8"))
    await turn.say("".join(results))


async def _ask(turn: Turn, *questions: Question) -> None:
    await turn.say("Let me ask you something. ")
    await turn.ask(*questions)
    for question in questions:
        if question.expired:
            await turn.say(f"Nobody answered {question.text!r} in time.\n")
        else:
            await turn.say(f"To {question.text!r} you said **{question.answer}**.\n")


async def _compute(turn: Turn, expression: str) -> str:
    """What came of it, in words."""
    question = f"Run the calculator on {expression}?"
    try:
        result = await turn.use("calculator", {"expression": expression}, approval=question)
    except ToolDenied as denied:
        return f"I did not work out {expression}: {str(denied).lower()}.\n"
    except ToolFailed as failure:
        return f"The calculator gave up: {failure}\n"
    return f"{expression} is **{result['value']}**.\n"


def _named(about: str) -> tuple[str, ...]:
    """`tea, coffee or water` as three options; none where there are not at least two."""
    words = re.split(r",|\bor\b", about.strip(" :.?!"))
    options = tuple(word.strip() for word in words if word.strip())[:MOST]
    return options if len(options) > 1 else ()
