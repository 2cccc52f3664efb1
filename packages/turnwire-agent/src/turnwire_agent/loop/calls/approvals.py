"""What a person's answer to a question of approval means."""

import msgspec
from msgspec import UNSET, Raw, UnsetType

from turnwire_agent.loop import words

_YES = frozenset({"approve", "approved", "allow", "yes"})
_NO = frozenset({"", "deny", "denied", "reject", "rejected", "no"})


def approved(answer: Raw | UnsetType) -> bool:
    """Whether a person allows the call. Only a plain yes is one, however a gateway spells it."""
    match _value(answer):
        case bool(yes) | {"approved": bool(yes)}:
            return yes
        case str(text):
            return text.strip().lower() in _YES
        case _:
            return False


def refusal(answer: Raw | UnsetType) -> str:
    """Say to the model why its call is not run. Unset: nobody answered."""
    if answer is UNSET:
        return words.EXPIRED
    match _value(answer):
        case {"reason": str(reason)}:
            pass
        case str(text) if text.strip().lower() not in _NO:
            reason = text
        case _:
            reason = ""
    reason = reason.strip()[: words.REASON_MAX]
    return f"{words.DENIED} The reason: {reason}" if reason else words.DENIED


def _value(answer: Raw | UnsetType) -> object:
    try:
        return None if answer is UNSET else msgspec.json.decode(answer)
    except msgspec.DecodeError:
        return None
