"""Skills that fail, and turns with unusual frames: each is a trap of the wire."""

import re
from typing import Final

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.skills import FLOOD_MOST, TurnFailed, say_numbers
from turnwire_lab.agents.session_agent.runner.turn import PromptFailed, Turn

FLOOD_DEFAULT: Final = 500
WHY: Final = "The agent was told to fail."


async def fail(turn: Turn, found: re.Match[str]) -> None:
    await turn.say("I will try, but it will not ")
    if found["loudly"]:
        turn.reports.error(turn.row, WHY)
    raise TurnFailed(WHY)


async def fail_at_once(_turn: Turn, found: re.Match[str]) -> None:
    """An `error` and a completion, and no turn (§5.4)."""
    raise PromptFailed({"name": "ProviderError", "message": WHY} if found["object"] else WHY)


async def fail_and_stall(turn: Turn, _found: re.Match[str]) -> None:
    """An `error` whose completion has to be forced (§5.10)."""
    turn.reports.error(turn.row, WHY)
    await turn.pause(turn.habits.safety_s)
    raise PromptFailed(None)


async def fail_in_silence(_turn: Turn, _found: re.Match[str]) -> None:
    """Only the end has the error, and R loses the end (§5.4)."""
    raise TurnFailed(WHY)


async def hang(turn: Turn, found: re.Match[str]) -> None:
    if found["silently"] is None:
        await turn.say("I will say this much, and then nothing until somebody stops me. ")
    if found["tool"]:
        call_id = turn.open_call("bash")
        turn.run_call(call_id, {"command": "sleep"})
    await turn.silence()


async def hold(turn: Turn, _found: re.Match[str]) -> None:
    """Say something, and wait until a test calls `release`."""
    await turn.say("Holding. ")
    await turn.hold()
    await turn.say("And on.\n")


async def flood(turn: Turn, found: re.Match[str]) -> None:
    await say_numbers(turn, found, FLOOD_DEFAULT)


async def fail_over(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("The first model says this much. ")
    turn.fail_over()
    await turn.say("The second model says the rest.\n")


async def lose_runner(turn: Turn, _found: re.Match[str]) -> None:
    """The runner works on a prompt again once it is back, in a turn of its own."""
    if turn.row.attempts > 1:
        await turn.say("The second runner answers.\n")
        return
    await turn.say("The first runner is about to be lost. ")
    turn.reports.lose_runner()
    await turn.silence()


async def hibernate(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("Good night.\n")
    turn.afterwards.append(turn.reports.hibernate)


async def die(turn: Turn, found: re.Match[str]) -> None:
    await turn.say("This is the end. ")
    turn.reports.die("archived" if found["archive"] else "terminated")
    await turn.silence()


async def hang_up(turn: Turn, _found: re.Match[str]) -> None:
    await turn.say("Hanging up on everybody in the middle of a ")
    turn.reports.hang_up()
    await turn.say("sentence.\n")


async def flood_audit(turn: Turn, found: re.Match[str]) -> None:
    for number in range(min(int(found["count"] or FLOOD_DEFAULT), FLOOD_MOST)):
        turn.reports.note("agent.tool_call", f"row {number}")
    await turn.say("The audit log is longer now.\n")


async def leave_tool_open(turn: Turn, _found: re.Match[str]) -> None:
    """A tool that is still running at the end, and one that no frame named before (§5.6)."""
    await turn.say("One tool will not come back. ")
    call_id = turn.open_call("bash")
    turn.run_call(call_id, {"command": "make"})
    await turn.pause()
    turn.leave_call("webfetch")
    await turn.say("I am done without it.\n")


async def speak_at_the_end(turn: Turn, found: re.Match[str]) -> None:
    """Text that only the last snapshot has (§5.7)."""
    if found["tool"]:
        await turn.use("calculator", {"expression": "6*7"})
    turn.final_text = "All of this was told at the end.\n"


async def speak_on_at_the_end(turn: Turn, _found: re.Match[str]) -> None:
    """The last snapshot goes on where the deltas stopped (§5.7)."""
    await turn.say("The beginning is streamed, ")
    turn.final_text = "The beginning is streamed, the rest is not.\n"


async def cancel_itself(turn: Turn, _found: re.Match[str]) -> None:
    """A restart for new settings: the only way to an end that is `canceled` (§1)."""
    await turn.say("My settings have changed. ")
    turn.reason = "canceled"


async def complete_early(turn: Turn, _found: re.Match[str]) -> None:
    """A prompt that was given twice is completed while it is worked on (§5.6)."""
    await turn.say("This is said before, ")
    turn.reports.complete(turn.row)
    await turn.say("and this after the completion.\n")


async def wait_for_event(turn: Turn, _found: re.Match[str]) -> None:
    """A tool whose first state is its last (§5.8)."""
    await turn.say("I will wait. ")
    turn.close_call(turn.leave_call("wait_for_event"), "completed", result="waiting")


async def make_noise(turn: Turn, _found: re.Match[str]) -> None:
    """Everything that is no turn: other entries, in all their shapes, and other frames (§4.5)."""
    reports = turn.reports
    reports.tell_entry(
        "system", "A picture", {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    )
    reports.tell_entry("system", "", {"type": "session-break"})
    reports.tell_entry("system", "", None)
    reports.tell_entry("assistant", "Said in another session", {"forwarded": True})
    for frame in _NOISE:
        reports.tell(frame)
    reports.tell({"type": "message.updated", "data": {"id": turn.row.id, "parts": []}})
    if turn.row.user_id is not None:
        reports.tell_user(turn.row.user_id, {"type": "toast", "title": "Ding"})
    await turn.say("That was noisy.\n")


_NOISE: Final[tuple[Json, ...]] = (
    {"type": "title", "title": "A new title"},
    {"type": "git-state", "data": {"branch": "main", "commitCount": 3}},
    {"type": "child-session", "childSessionId": "c1", "title": "A child"},
    {
        "type": "integration-auth-required",
        "services": [
            {"service": "mail", "displayName": "Mail", "reason": "expired", "message": "Log in"}
        ],
    },
    {"type": "error", "error": "The sandbox complains"},
)
