"""How a turn can end. Every way has a name here."""

from enum import Enum, auto
from typing import Final

from turnwire_lab.client.errors import ClientError, NothingAsked, Refused, TurnError, Unreachable

_WHAT_TO_DO: Final = {
    401: "the token was not accepted; pass a fresh one with --token or TURNWIRE_LAB_TOKEN",
    404: "there is no such session, or it is not yours to prompt",
    429: "too many streams are open for this user",
    503: "the gateway cannot take more right now",
}


class Ending(Enum):
    FINISHED = auto()
    FAILED = auto()
    """The stream had an `error`, from the agent or the gateway."""
    ABORTED = auto()
    STOPPED = auto()
    """By the person who asked."""
    REFUSED = auto()
    """There was no stream; the words are the reason."""
    BROKEN = auto()


def ending_of(error: ClientError) -> tuple[Ending, str]:
    """What an error of the client means for the turn, and in words."""
    match error:
        case Refused():
            return Ending.REFUSED, refusal(error)
        case Unreachable() | NothingAsked():
            return Ending.REFUSED, str(error)
        case TurnError():
            return Ending.FAILED, str(error)
        case _:
            return Ending.BROKEN, str(error)


def refusal(refused: Refused) -> str:
    """What the gateway refused, and what can be done about it."""
    words = [str(refused)]
    if hint := _WHAT_TO_DO.get(refused.status):
        words.append(f"({hint})")
    if refused.retry_after is not None:
        words.append(f"- try again in {refused.retry_after} s")
    return " ".join(words)
