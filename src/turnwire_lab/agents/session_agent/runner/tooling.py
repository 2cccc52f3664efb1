"""Skills that use the tools: they search, use two at once, ask and wait for approval."""

import re

from turnwire_lab.agents.common.skills import search_pages
from turnwire_lab.agents.session_agent.handlers.questions import EXPIRED, FAILED
from turnwire_lab.agents.session_agent.runner.turn import Turn


async def look_up(turn: Turn, found: re.Match[str]) -> None:
    result = await search_pages(turn, found["query"])
    if result is not None:
        lines = [f"- **{hit['heading']}** (`{hit['page']}`)\n" for hit in result["hits"]]
        await turn.say("I found:\n\n" + "".join(lines) if lines else "Nothing found.\n")


async def use_two(turn: Turn, _found: re.Match[str]) -> None:
    """Two tools at once, the second done before the first."""
    one, two = turn.open_call("bash"), turn.open_call("grep")
    await turn.pause()
    turn.run_call(one, {"command": "ls"})
    turn.run_call(two, {"pattern": "x"})
    await turn.pause()
    turn.close_call(two, "completed", args={"pattern": "x"}, result="x")
    turn.close_call(one, "error", args={"command": "ls"}, error="No such file")
    await turn.say("Both tools are done.\n")


async def ask(turn: Turn, found: re.Match[str]) -> None:
    if found["two"]:
        answers = await turn.ask_all(("Which color?", ("red", "blue")), ("How many?", ()))
    else:
        answers = [await turn.ask("Proceed?", "yes", "no")]
    if EXPIRED in answers:
        await turn.say("Nobody answered in time.\n")
    else:
        await turn.say(f"You said: {', '.join(str(answer) for answer in answers)}.\n")


async def approve(turn: Turn, found: re.Match[str]) -> None:
    """A tool that needs an approval; R knows only questions."""
    params = {"to": "ann@users.example"} | ({"fails": True} if found["fail"] else {})
    if turn.habits.revision == "R":
        given = await turn.ask("May I send the mail?", "Allow", "Deny")
        await turn.say("Sent.\n" if given == "Allow" else "Not sent.\n")
        return
    await turn.say("I will send a mail. ")
    call_id = turn.open_call("gmail:send")
    turn.run_call(call_id, params)
    given = await turn.ask_approval("gmail:send", params)
    if given in {"cancel", EXPIRED, FAILED}:
        turn.close_call(call_id, "error", args=params, error=f"Not done: {given}")
        await turn.say("Not sent.\n")
    else:
        turn.close_call(call_id, "completed", args=params, result="sent")
        await turn.say("Sent.\n")
