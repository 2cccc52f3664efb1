"""Calls that an agent only invents to ask for an approval, which it also asks for by an interrupt.

Such a call is held back to the end of its run. If the run ends with an interrupt, it was the same
question in another spelling. Otherwise it is a call like any other.
"""

from collections.abc import Sequence
from typing import Final

from turnwire.dialects.ag_ui import frames
from turnwire.dialects.ag_ui.frames import RunEvent

NAMES: Final = frozenset({"confirm_changes", "adk_request_confirmation"})
"""The names of such calls."""

HELD_MAX: Final = 256
"""Most events that are held back."""


_OF_A_CALL: Final = (frames.CallArgs, frames.CallEnd, frames.CallResult)


class Confirmations:
    """The calls that are held back. `pass_on` returns the events that count now."""

    def __init__(self) -> None:
        self._held: list[RunEvent] = []
        self._ids: dict[str, None] = {}  # an empty set takes three times as much memory

    def pass_on(self, frame: RunEvent) -> Sequence[RunEvent]:
        if isinstance(frame, frames.CallStart) and frame.tool_call_name in NAMES:
            self._ids[frame.tool_call_id] = None
        elif not isinstance(frame, _OF_A_CALL) or frame.tool_call_id not in self._ids:
            return (frame,)
        elif isinstance(frame, frames.CallResult):
            return (*self.end(), frame)
        self._held.append(frame)
        return self.end() if len(self._held) > HELD_MAX else ()

    def end(self) -> Sequence[RunEvent]:
        """Return what was held back."""
        held, self._held = self._held, []
        self._ids.clear()
        return held
