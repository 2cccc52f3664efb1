"""What a snapshot of a message adds to the frames before it.

Every change of a tool call and the end of a turn arrive as a snapshot of the whole message.
`Snapshots` finds the tool calls that changed, by `callId`, and the end. It never adds the text
of a snapshot to that of `chunk`, since R repeats and overwrites it (page 5.7).

`SnapshotMerger` restores the text as well, for a client that missed it. A snapshot has the
whole turn, but its text is reliable only as page 5.7 describes: R begins a text part after a
tool with all the text so far, and at the end writes the final text over every text part. A and
V keep the text parts separate.

Pages are sections of docs/wire/session-agent.md.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from turnwire.core import safe_json
from turnwire.core.bounds import PARTS_MAX
from turnwire.core.events import Event, Phase, Reason, TextDelta, ToolUpdate
from turnwire.core.ui_stream.tool_calls import CALLS_MAX
from turnwire.core.wire.lenient import finish_reason
from turnwire.dialects.session_agent.frames import Part, Snapshot

PHASES: Final = {phase.value: phase for phase in Phase}

_OPEN: Final = frozenset(phase for phase in Phase if not phase.is_over)


class Changes(Struct, frozen=True, kw_only=True):
    """What is new in a snapshot."""

    tools: Sequence[ToolUpdate] = ()
    """The calls whose phase or arguments changed."""
    tools_open: bool = False
    """Whether a call has no outcome yet."""
    finish: Reason | None = None
    error: str | None = None
    skipped_bytes: int = 0
    """The size of the unreadable parts, in bytes."""
    text: str = ""
    """The whole text of the message; at the end of the turn, the text after its last tool."""


class Snapshots:
    """Compares the snapshots of one turn. Keeps only the phase of every call."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Phase, bool]] = {}

    def changes(self, snapshot: Snapshot) -> Changes:
        parts, skipped_bytes = snapshot.parsed_parts
        calls = {
            part.call_id: (part, PHASES[part.status])
            for part in parts
            if part.type == "tool-call" and part.call_id and part.status in PHASES
        }
        states = {call_id: (phase, bool(part.args)) for call_id, (part, phase) in calls.items()}
        changed = [
            tool_update(*calls[call_id])
            for call_id, state in states.items()
            if self._calls.get(call_id) != state
        ]
        # Every snapshot has every call, so the last one is complete, even if there are too many
        # calls.
        self._calls = states if len(self._calls) > CALLS_MAX else self._calls | states
        finishes = [part.reason for part in parts if part.type == "finish"]
        # R sends the error after the finish part, V before it (page 9, trap 5).
        errors = [part.message for part in parts if part.type == "error"]
        return Changes(
            tools=changed,
            tools_open=any(phase in _OPEN for phase, _ in self._calls.values()),
            finish=finish_reason(finishes[-1]) if finishes else None,
            error=safe_json.error_message(errors[-1]) if errors else None,
            skipped_bytes=skipped_bytes,
            text=_text(snapshot, parts),
        )


class SnapshotMerger:
    """Merges the text of one turn with its tool calls, and remembers how many parts are merged."""

    def __init__(self, *, accumulates: bool) -> None:
        self._accumulates = accumulates
        """Whether a text part repeats the text before it (R)."""
        self._merged_count = 0

    def merge(
        self, snapshot: Snapshot, changes: Sequence[Event], *, whole: bool
    ) -> tuple[list[Event], bool]:
        """Return the changes of a snapshot, with the text between its tools.

        Not `whole`: only the text up to the last tool, since the text after it may continue
        where the snapshot stops. Returns the events, and whether they have the text: they do
        not if the parts of the snapshot do not match its content.
        """
        parts, _ = snapshot.parsed_parts
        is_over = any(part.type == "finish" for part in parts)
        shown = [part for part in parts if part.type in {"text", "tool-call"}]
        tool_indexes = [index for index, part in enumerate(shown) if part.type == "tool-call"]
        end = len(shown) if whole else (tool_indexes[-1] + 1 if tool_indexes else 0)
        texts = _separate_texts(shown, is_over=is_over) if self._accumulates else _texts(shown)
        # At the end of a turn, `content` is the text after the last tool. Before the end, the
        # indexes of parts equal those of the last snapshot only if no part was left out at the
        # beginning.
        has_all_parts = len(parts) < PARTS_MAX
        is_text_reliable = is_over or (
            has_all_parts and _matches_content(snapshot, texts[:end], whole=whole)
        )
        updates = {event.call_id: event for event in changes if isinstance(event, ToolUpdate)}
        merged: list[Event] = []
        for index, part in enumerate(shown):
            if part.type == "tool-call":
                update = updates.pop(part.call_id, None)
                merged += () if update is None else (update,)
            elif is_text_reliable and self._merged_count <= index < end and texts[index]:
                merged.append(TextDelta(texts[index]))
        self._merged_count = max(self._merged_count, end)
        return [
            *merged,
            *(event for event in changes if not isinstance(event, ToolUpdate)),
        ], is_text_reliable


def tool_update(part: Part, phase: Phase) -> ToolUpdate:
    return ToolUpdate(
        call_id=part.call_id,
        tool_name=part.tool_name or "tool",
        phase=phase,
        args=part.args or None,
        result=part.result or None,
        error=safe_json.error_message(part.error),
    )


def last_calls(snapshot: Snapshot) -> frozenset[str]:
    """The ids of the last calls: all calls after the last text that precedes a call."""
    calls: list[str] = []
    for part in reversed(snapshot.parsed_parts[0]):
        if part.type == "tool-call":
            calls.append(part.call_id)
        elif part.type == "text" and calls:
            break
    return frozenset(calls)


def _text(snapshot: Snapshot, parts: Sequence[Part]) -> str:
    content = safe_json.string(snapshot.content)
    if content:
        return content
    texts = [part.text for part in parts if part.type == "text"]
    return safe_json.string(texts[0]) or "" if len(texts) == 1 else ""


def _texts(parts: Sequence[Part]) -> list[str]:
    return [safe_json.string(part.text) or "" for part in parts]


def _separate_texts(parts: Sequence[Part], *, is_over: bool) -> list[str]:
    """The texts of R, each without the text of the parts before it."""
    texts = _texts(parts)
    text_indexes = [index for index, part in enumerate(parts) if part.type == "text"]
    if is_over and len(text_indexes) > 1 and len({texts[index] for index in text_indexes}) == 1:
        # The final text overwrote all of them. It came after the last tool; the other texts are
        # lost.
        for index in text_indexes[:-1]:
            texts[index] = ""
        return texts
    previous = ""
    for index in text_indexes:
        so_far = texts[index]
        texts[index] = so_far.removeprefix(previous)
        previous = so_far
    return texts


def _matches_content(snapshot: Snapshot, texts: Sequence[str], *, whole: bool) -> bool:
    """Whether the text parts match the content of the message."""
    if not bytes(snapshot.parts).startswith(b"["):
        return False  # sent for another reason than new text (page 4.2)
    content = safe_json.string(snapshot.content)
    text = "".join(texts)
    if not content:
        return True
    return content == text if whole else content.startswith(text)
