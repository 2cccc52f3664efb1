"""Commands hidden in prompts (V, §3): the only reply is a system entry, and there is no turn."""

import re
from typing import Final

from turnwire_lab.agents.session_agent.handlers.aborting import abort, delete_queued
from turnwire_lab.agents.session_agent.handlers.lifecycle import find_runner, lose_runner
from turnwire_lab.agents.session_agent.state.channel import NOWHERE, Channel
from turnwire_lab.agents.session_agent.state.state import State

_COMMAND: Final = re.compile(r"/(status|sessions|clear|stop|refresh|help)")


def swallow(state: State, content: str, channel: Channel, by: str) -> bool:
    """Whether the prompt was a command, which is then done with."""
    found = _COMMAND.fullmatch(content)
    if found is None:
        return False
    match found[1]:
        case "status":
            reply = f"Session {state.id} is {state.status}."
        case "sessions":
            reply = f"You have one session: {state.id}."
        case "clear":
            reply = f"Cleared {delete_queued(state, by)} queued prompts."
        case "stop":
            abort(state, NOWHERE, by)
            delete_queued(state, by)
            reply = "Stopped."
        case "refresh":
            lose_runner(state)
            find_runner(state)
            reply = "The sandbox was restarted."
        case _:
            reply = "Commands: /status /sessions /clear /stop /refresh /help"
    state.tell_entry("system", reply, parts=None, channel=channel)
    return True
