"""The results of calls: what a client is shown of them, and the mark of a failure that comes late.

A result may say nothing of its failure: then a mark follows it, in an event of its own that names
the result's message, or a snapshot follows that says so. So each result is held for a moment
(`HELD_S`), until another event shows that no mark comes.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import KEPT_BYTES_MAX, MANY, HandedOn, Word, keep
from turnwire.core.events import Event, FilePart
from turnwire.core.wire import json_text, lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui.content.calls import Calls
from turnwire.dialects.ag_ui.frames import EncryptedValue

HELD_S: Final = 0.1
"""How long a result waits for the mark of its failure, in seconds."""

HELD_MAX: Final = 64
"""Most results that are held at once."""

FAILED_MAX: Final = 256
"""Most calls that are known as failed before their result comes."""


TOOL_FAILED: Final = "Tool execution failed"


class Outcome(Struct, frozen=True):
    """What a call brought: an output with files, and its text if it turns out to be an error."""

    output: Raw
    files: tuple[Event, ...]
    text: str | None


class Held(Struct, frozen=True):
    """A result that waits for the mark of its failure."""

    call_id: str
    message_id: str
    content: Raw
    outcome: Outcome


class HeldResults:
    """The results that wait, in their order: those that came one right after the other."""

    __slots__ = ("_bytes", "_failed", "by_call")

    def __init__(self) -> None:
        self.by_call: dict[str, Held] = {}
        self._failed: dict[str, None] = {}
        """Calls that are known to have failed, before or after their result."""
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        return len(self.by_call) >= HELD_MAX or self._bytes > KEPT_BYTES_MAX

    def add(self, held: Held) -> None:
        self.by_call[held.call_id] = held
        self._bytes += len(held.content)

    def has_failed(self, call_id: str) -> None:
        """A call failed, whose result may be still to come."""
        keep(self._failed, call_id, None, FAILED_MAX)

    @property
    def wait_for_no_mark(self) -> bool:
        """Whether each result is known as a failure."""
        return self.by_call.keys() <= self._failed.keys()

    def mark(self, frame: EncryptedValue) -> bool:
        """Note the failure that an event marks. False: it is no mark of a result that waits."""
        marked = [
            call_id
            for call_id, held in self.by_call.items()
            if marked_failure(frame, held.message_id)
        ]
        for call_id in marked:
            self.has_failed(call_id)
        return bool(marked)

    def release(self) -> Sequence[tuple[Held, bool]]:
        """Return the results, each with whether it is a failure. None is held any more."""
        released = [(each, each.call_id in self._failed) for each in self.by_call.values()]
        for each, _ in released:
            self._failed.pop(each.call_id, None)
        self.by_call, self._bytes = {}, 0
        return released


class _Source(Struct, frozen=True, rename="camel"):
    type: Word
    value: HandedOn
    mime_type: HandedOn = ""


class _Part(Struct, frozen=True):
    type: Word
    text: HandedOn = ""
    source: _Source | None = None


class _Mark(Struct, frozen=True):
    outcome: Literal["failed", "denied", "retried"]


class _Marks(Struct, frozen=True):
    pydantic_ai: _Mark


_decode_parts = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_decode_part = msgspec.json.Decoder(_Part).decode
_decode_marks = msgspec.json.Decoder(_Marks).decode


def outcome_of(content: Raw, frame_stats: FrameStats) -> Outcome:
    """What a result has: a text, or a list of parts with texts and files."""
    parts = lenient.field(_decode_parts, content)
    if parts is None:
        output = json_text.structured(content)
        return Outcome(output, (), safe_json.string(output) or safe_json.string(content))
    texts: list[str] = []
    files: list[Event] = []
    for part in lenient.each(_decode_part, parts):
        if part.type == "text":
            texts.append(part.text)
        elif (file := _file(part)) is not None:
            files.append(file)
        else:
            frame_stats.count_left_out("part of a result", 1)
    text = "".join(texts)
    return Outcome(json_text.structured(Raw(msgspec.json.encode(text))), tuple(files), text or None)


def events_of(
    calls: Calls,
    call_id: str,
    outcome: Outcome,
    *,
    is_failure: bool,
    error: str | None = None,
) -> list[Event]:
    """What the client is told of the outcome of a call."""
    if is_failure:
        return calls.result(call_id, None, error=error or outcome.text or TOOL_FAILED)
    return [*outcome.files, *calls.result(call_id, outcome.output)]


def marked_failure(frame: EncryptedValue, message_id: str) -> bool:
    """Whether an event says that the result of this message is a failure, or that it was denied."""
    if safe_json.short_string(frame.entity_id) != message_id:
        return False
    value = safe_json.string(frame.encrypted_value)
    if safe_json.string(frame.subtype) != "message" or value is None:
        return False
    try:
        _decode_marks(value)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False
    return True


def _file(part: _Part) -> FilePart | None:
    """The file of a part; None if its content is not told, as of a file at a provider."""
    source = part.source
    if source is None:
        return None
    match source.type, source.mime_type:
        case "url", mime:
            return FilePart(source.value, mime or "application/octet-stream")
        case "data", mime if mime:
            return FilePart(f"data:{mime};base64,{source.value}", mime)
        case _:
            return None
