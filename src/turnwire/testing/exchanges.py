"""Turns that wait for their user, for a dialect's author to write in the frames of the wire.

An author writes what the agent sends before the answer and after it. The suite gives the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from turnwire.core.connect import ConnectRequest
from turnwire.testing.scripts import ANSWER, DONE, QUESTION, SCRIPTS, Script

_TEXTS: Final = SCRIPTS["text"].texts


class Exchange(Struct, frozen=True, kw_only=True):
    """One turn that asks, as the agent's frames."""

    asks: Sequence[bytes]
    """From the first frame to the question, which is open behind them."""
    goes_on: Sequence[bytes]
    """The frames behind the answer, to the end of the turn."""
    leaves: bool = False
    """Whether the agent closes the connection when it has asked: then the dialect opens another one
    with the answer, and `goes_on` comes there."""
    answer: str = ANSWER
    """The answer to a question, on a wire that does not take any text: the id of an option."""
    operation: Sequence[bytes] = ()
    """On a wire with an operation that answers, the frames on its connection: what makes it send
    the answer, and the confirmation."""
    late: Sequence[bytes] = ()
    """The same where the question is no longer open."""
    resumes: Callable[[ConnectRequest], Sequence[bytes]] | None = None
    """For a client with native approvals, whose response ends when it is asked: the frames of the
    next one, which is opened with the answer. None: the approval cannot be a native one."""


EXCHANGES: Final[Mapping[str, Script]] = {
    script.name: script
    for script in (
        Script(
            name="answered",
            meaning="sends the first text, asks the question (`q1`); with the answer, sends the "
            "other texts, and ends",
            texts=_TEXTS,
            question=QUESTION,
        ),
        Script(
            name="expired",
            meaning="as `answered`, but it takes the question back, since nobody answers in time",
            texts=_TEXTS,
            question=QUESTION,
        ),
        Script(
            name="approved",
            meaning="sends the first text, asks whether the tool may be called (`c1`); with a yes, "
            "the call returns; then as above",
            texts=_TEXTS,
            calls={"c1": DONE},
        ),
        Script(
            name="denied",
            meaning="as `approved`, but with a no: the call ends without the output",
            texts=_TEXTS,
        ),
    )
}
"""The turns that ask, by name."""

SIDE_BY_SIDE: Final = (("Rhubarb ", "is red."), ("Thistles ", "are purple."))
"""The texts of two turns of one session, whose streams receive the same frames."""
