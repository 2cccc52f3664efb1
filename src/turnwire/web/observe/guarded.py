"""Keeps a turn from an exception of those who only watch it."""

from typing import Final

import structlog

from turnwire.core.turn.inputs import Input
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.output import Output

_log = structlog.get_logger("turnwire.observers")

FAILED: Final = "an observer failed, and sees no more of this stream"


class Guarded:
    """A `TurnObserver` that gets nothing more after its first exception, which is logged."""

    __slots__ = ("_name", "_observer", "_request_id")

    def __init__(self, observer: TurnObserver, request_id: str) -> None:
        self._observer: TurnObserver | None = observer
        self._name = type(observer).__name__
        self._request_id = request_id

    def on_input(self, turn_input: Input, now: float) -> None:
        if self._observer is not None:
            try:
                self._observer.on_input(turn_input, now)
            except Exception as bug:  # noqa: BLE001 (a dialect's schema may raise anything)
                self._leave_out(bug)

    def on_output(self, output: Output, now: float) -> None:
        if self._observer is not None:
            try:
                self._observer.on_output(output, now)
            except Exception as bug:  # noqa: BLE001 (as above)
                self._leave_out(bug)

    def _leave_out(self, bug: Exception) -> None:
        self._observer = None
        _log.error(FAILED, observer=self._name, request_id=self._request_id, exc_info=bug)
