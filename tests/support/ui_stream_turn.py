"""A turn on the `ui-stream` wire, and the client that reads it."""

from typing import Any, Final

from support import ag_ui_turn
from support.ag_ui_turn import plain, plain_event
from turnwire.core.requests import PromptRequest
from turnwire.dialects.ui_stream import UiStream
from turnwire.dialects.ui_stream.turn import TurnProtocol

__all__ = ["TURN", "Played", "plain", "plain_event", "protocol"]

TURN: Final = "run-1"
"""The id of the turn."""


class Played(ag_ui_turn.Played):
    """A turn whose agent sent these chunks, each in a read of its own, or all in one."""

    dialect = UiStream()


def protocol(*told: bytes, **asked: Any) -> TurnProtocol:
    """A protocol that received these chunks."""
    given = {"text": "hi", "prompt_id": TURN, "session_id": "s1", "client_message_id": "u1"}
    made = UiStream().prompt(PromptRequest(**{**given, **asked}))
    made.connection_opened(0)
    for frame in told:
        made.receive_frame(frame, 0)
    return made
