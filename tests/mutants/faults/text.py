"""Text that is lost, or told again."""

from typing import Final

from mutants.fault import Fault, Function
from turnwire.core.told import Told


def everything_is_missing(_missing: Function) -> Function:
    def wrong(_self: Told, final_text: str) -> str:
        return final_text

    return wrong


FAULTS: Final = (
    Fault(
        "a repeated final text is told again",
        "turnwire.core.told:Told.missing",
        everything_is_missing,
    ),
)
