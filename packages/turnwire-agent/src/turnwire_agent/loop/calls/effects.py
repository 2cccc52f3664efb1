"""What the journal knows of the effects of tools. Those of `safe` ones it need not know.

An effect stands under the identity of its call, also where the tool makes a key of its own: several
calls may have that one, and it is for their receiver to do them once.
"""

from urllib.parse import quote

from msgspec.structs import replace

from turnwire_agent.journal.port import Effect
from turnwire_agent.loop.calls.checked_input import input_hash
from turnwire_agent.session.events import CallBegun, CallEnded


def key(session_id: str, turn_id: str, call_id: str) -> str:
    """Name a call among all calls: the same in each run, and in every process."""
    return "/".join(quote(each, safe=":") for each in (session_id, turn_id, call_id))


def intent(session_id: str, begun: CallBegun) -> tuple[Effect, ...]:
    """Return what is written with the intent of a call."""
    if begun.effect == "safe":
        return ()
    call = key(session_id, begun.turn_id, begun.call_id)
    return (Effect(call, call, input_hash(begun.input), "intent"),)


def left_open(session_id: str, begun: CallBegun) -> tuple[Effect, ...]:
    """Return what is written of a call whose outcome nobody will know: its turn was stopped.

    A call without a key is of a tool that others run: of its effect nothing is kept.
    """
    if not begun.key:
        return ()
    return tuple(replace(each, state="unknown") for each in intent(session_id, begun))


def settled(session_id: str, begun: CallBegun, ended: CallEnded) -> tuple[Effect, ...]:
    """Return what is written with the outcome of a call that began."""
    if begun.effect == "safe":
        return ()
    call = key(session_id, begun.turn_id, begun.call_id)
    hashed = input_hash(begun.input)
    if ended.outcome in {"unknown", "canceled"}:
        return (Effect(call, call, hashed, "unknown"),)
    return (Effect(call, call, hashed, "done", bytes(ended.value or b"")),)
