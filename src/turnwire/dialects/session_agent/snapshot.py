"""A snapshot of our message: what is new in it since the last one.

Every tool transition and the end of a turn are told by the whole message, so
tools are diffed by `callId`. Its text is never added to that of `chunk`: R
repeats and overwrites it (page 5.7).
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Raw, Struct

from turnwire.core import harmless
from turnwire.core.events import Phase, Reason, ToolUpdate
from turnwire.core.tools import CALLS_MAX
from turnwire.dialects.session_agent.parts import Part
from turnwire.dialects.session_agent.wire import Snapshot

PHASES: Final = {phase.value: phase for phase in Phase}
_OPEN: Final = frozenset({Phase.PENDING, Phase.RUNNING})


class News(Struct, frozen=True, kw_only=True):
    """What a snapshot told."""

    tools: Sequence[ToolUpdate] = ()
    """The calls that moved on."""
    tools_open: bool = False
    """Whether a call has no outcome yet."""
    finish: Reason | None = None
    error: str | None = None
    left_out: int = 0
    """Bytes of parts that cannot be read."""
    text: str = ""
    """All that the message says it said; at the end, what it said after its last tool."""


class Snapshots:
    """The snapshots of one turn. Of each only the phase of every call is kept."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[Phase, bool]] = {}

    def news(self, snapshot: Snapshot) -> News:
        parts, left_out = snapshot.taken_apart
        calls = {
            part.call_id: (part, PHASES[part.status])
            for part in parts
            if part.type == "tool-call" and part.call_id and part.status in PHASES
        }
        told = {call_id: (phase, bool(part.args)) for call_id, (part, phase) in calls.items()}
        moved = [
            update(*calls[call_id])
            for call_id, state in told.items()
            if self._told.get(call_id) != state
        ]
        # Every snapshot has every call, so the last one says it all, should there be too many.
        self._told = told if len(self._told) > CALLS_MAX else self._told | told
        finishes = [part.reason for part in parts if part.type == "finish"]
        # R says the error after the finish, V before it (page 9, trap 5).
        errors = [part.message for part in parts if part.type == "error"]
        return News(
            tools=moved,
            tools_open=any(phase in _OPEN for phase, _ in self._told.values()),
            finish=_reason(finishes[-1]) if finishes else None,
            error=harmless.words(errors[-1]) if errors else None,
            left_out=left_out,
            text=_text(snapshot, parts),
        )


def _text(snapshot: Snapshot, parts: Sequence[Part]) -> str:
    content = harmless.string(snapshot.content)
    if content:
        return content
    texts = [part.text for part in parts if part.type == "text"]
    return harmless.string(texts[0]) or "" if len(texts) == 1 else ""


def _reason(raw: Raw) -> Reason:
    try:
        return Reason(harmless.string(raw))
    except ValueError:
        return Reason.END_TURN  # it ended, whatever the word


def update(part: Part, phase: Phase) -> ToolUpdate:
    return ToolUpdate(
        call_id=part.call_id,
        tool_name=part.tool_name or "tool",
        phase=phase,
        args=part.args or None,
        result=part.result or None,
        error=harmless.words(part.error),
    )
