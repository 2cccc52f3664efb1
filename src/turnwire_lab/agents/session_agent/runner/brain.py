"""Which skill answers which prompt."""

from typing import Final

from turnwire_lab.agents.common import skills
from turnwire_lab.agents.common.skills import (
    ARITHMETIC,
    CALCULATE,
    SEARCH,
    TIME,
    Skills,
    break_tool,
    calculate,
    count,
    dawdle,
    greet,
    pattern,
    say_nothing,
    tell_time,
)
from turnwire_lab.agents.session_agent.runner import faults, tooling
from turnwire_lab.agents.session_agent.runner.turn import Turn

TRY: Final = (
    "- `what is 12*7?` runs a calculator, `what time is it in Tokyo?` looks at a clock\n"
    "- `ask me`, `ask me two things` and `approve` need you\n"
    "- `make the tool fail`, `make the turn fail`, `fail over` and `lose the runner` go wrong\n"
    "- `be slow`, `hang`, `flood 5000` and `say nothing` try a client's patience\n"
    "- `hibernate` and `terminate` are what they say\n"
)


async def answer(turn: Turn) -> None:
    if not await skills.answer(turn, turn.row.content, SKILLS):
        files = turn.row.files
        kinds = ", ".join(f"`{part['mimeType']}`" for part in files)
        about = f"I was given {len(files)} of your files: {kinds}." if files else ""
        await greet(turn, turn.row.content, about, TRY)


# Order matters: the longer a trigger, the earlier it is looked for.
SKILLS: Final[Skills[Turn]] = (
    (pattern(r"\bcount from one\b"), count),  # "and say nothing else"
    (pattern(r"\bsay nothing\b"), say_nothing),
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
    (pattern(r"\bbe slow\b"), dawdle),
    (TIME, tell_time),
    (SEARCH, tooling.look_up),
    (CALCULATE, calculate),
    (ARITHMETIC, calculate),
)
