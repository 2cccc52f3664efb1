"""A turn as a model tells it: steps, a lost attempt, an input as it grows, an end that is short."""

import re

import msgspec

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import ToolFailed
from turnwire_lab.agents.v2.turn import Turn

_SUM = "6*7"


async def lose_attempt(turn: Turn, _found: re.Match[str]) -> None:
    """The second call of the model is cut off in the middle of an input, and made again."""
    turn.begin_step()
    await turn.say("I work it out twice. ")
    await _compute(turn, _SUM)
    since = turn.begin_step()
    await turn.say("The line to the model will break while I say ")
    await turn.write_input("calculator", '{"expression": "6 * ')
    turn.retract(since)
    turn.begin_step()
    await turn.say("Here is what stands: the first attempt was taken back. ")
    await _compute(turn, _SUM)
    turn.begin_step()
    await turn.say("That is all.\n")
    turn.finish_reason = "stop"


async def write_input(turn: Turn, found: re.Match[str]) -> None:
    """A call whose input grows before the eyes of the user."""
    await turn.say("I write the query word by word. ")
    args: Json = {"query": found["query"].strip(" .?!")}
    call = await turn.write_input("search", msgspec.json.encode(args).decode())
    try:
        result = await turn.use("search", args, call=call)
    except ToolFailed as failure:
        await turn.say(f"It did not help: {failure}\n")
    else:
        await turn.say(f"Looked through {result['pages']} pages.\n")


async def take_steps(turn: Turn, _found: re.Match[str]) -> None:
    """Two calls of the model without a tool between them."""
    turn.begin_step()
    await turn.say("This is what the first call said. ")
    turn.begin_step()
    await turn.say("And this is the second.\n")


async def stop_short(turn: Turn, found: re.Match[str]) -> None:
    """The model has no more tokens, or no more calls."""
    await turn.say("I would tell you the end of it, but ")
    turn.finish_reason = "max-steps" if found["steps"] else "length"


async def _compute(turn: Turn, expression: str) -> None:
    result = await turn.use("calculator", {"expression": expression})
    await turn.say(f"{expression} is **{result['value']}**. ")
