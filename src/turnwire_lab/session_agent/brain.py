"""What to answer to which prompt: a few patterns in order, no model, no dice.

The first skill whose pattern is found in the prompt answers it.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from turnwire_lab.agent.reckoning import (
    ARITHMETIC,
    CALCULATE,
    SEARCH,
    TIME,
    break_tool,
    calculate,
    pattern,
    tell_time,
)
from turnwire_lab.session_agent import faults, tooling
from turnwire_lab.session_agent.turn import Turn

Skill = Callable[[Turn, re.Match[str]], Awaitable[None]]

READ: Final = 500
"""Characters of a prompt that decide what it asks for."""

TRY: Final = (
    "- `what is 12*7?` runs a calculator, `what time is it in Tokyo?` looks at a clock\n"
    "- `ask me`, `ask me two things` and `approve` need you\n"
    "- `make the tool fail`, `make the turn fail`, `fail over` and `lose the runner` go wrong\n"
    "- `be slow`, `hang`, `flood 5000` and `say nothing` try a client's patience\n"
    "- `hibernate` and `terminate` are what they say\n"
)


async def answer(turn: Turn) -> None:
    for looked_for, skill in SKILLS:
        # Only the beginning: a pattern may need quadratic time, and a prompt may be very long.
        if found := looked_for.search(turn.row.content[:READ]):
            await skill(turn, found)
            return
    await chat(turn)


async def chat(turn: Turn) -> None:
    said = " ".join(turn.row.content.split())
    await turn.say("Hello! I am a small agent without a model behind me. ")
    if said:
        await turn.say(f"You said:\n\n> {said}\n\n")
    if files := turn.row.files:
        kinds = ", ".join(f"`{part['mimeType']}`" for part in files)
        await turn.say(f"I was given {len(files)} of your files: {kinds}.\n\n")
    await turn.say(f"Things to try:\n\n{TRY}")


# Order matters: the longer a trigger, the earlier it is looked for.
SKILLS: Final[tuple[tuple[re.Pattern[str], Skill], ...]] = (
    (pattern(r"\bcount from one\b"), faults.count),  # "and say nothing else"
    (pattern(r"\bsay nothing\b"), faults.say_nothing),
    (pattern(r"\bmake the tool fail\b"), break_tool),
    (pattern(r"\bmake the turn fail\b(?P<loudly> loudly)?"), faults.fail),
    (pattern(r"\bfail at once\b(?P<object> with an object)?"), faults.fail_at_once),
    (pattern(r"\bfail and stall\b"), faults.fail_and_stall),
    (pattern(r"\bfail in silence\b"), faults.fail_in_silence),
    (pattern(r"\bfail over\b"), faults.fail_over),
    (pattern(r"\blose the runner\b"), faults.lose_runner),
    (pattern(r"\bhibernate\b"), faults.hibernate),
    (pattern(r"\bterminate\b|\b(?P<archive>archive)\b"), faults.die),
    (pattern(r"\bflood the audit log(?: with (?P<count>\d{1,9}))?"), faults.flood_audit),
    (pattern(r"\bstuck tool\b"), faults.leave_tool_open),
    (pattern(r"\btwo tools\b"), tooling.use_two),
    (pattern(r"(?P<tool>\btool, then )?\bspeak at the end\b"), faults.speak_at_the_end),
    (pattern(r"\bspeak on at the end\b"), faults.speak_on_at_the_end),
    (pattern(r"\bchange your settings\b"), faults.cancel_itself),
    (pattern(r"\bcomplete early\b"), faults.complete_early),
    (pattern(r"\bwait for an event\b"), faults.wait_for_event),
    (pattern(r"\bmake noise\b"), faults.make_noise),
    (pattern(r"\bhang up\b"), faults.hang_up),
    (pattern(r"^\W*hang\b(?P<silently> silently)?(?P<tool> in a tool)?"), faults.hang),
    (pattern(r"^\W*hold\b"), faults.hold),
    (pattern(r"\bask me\b(?P<two> two things)?"), tooling.ask),
    (pattern(r"\bapprove\b(?P<fail> and fail)?"), tooling.approve),
    (pattern(r"\bflood(\s+(?P<count>\d{1,9}))?|\bsay (?P<deltas>\d{1,9}) deltas"), faults.flood),
    (pattern(r"\bbe slow\b"), faults.dawdle),
    (TIME, tell_time),
    (SEARCH, tooling.look_up),
    (CALCULATE, calculate),
    (ARITHMETIC, calculate),
)
