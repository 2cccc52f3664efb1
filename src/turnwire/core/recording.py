"""A stream as it went, in the lines that `core.replay` takes.

The first line says what was asked and which numbers it lived by:

    #! stream {"dialect":"v2","promptId":"p1","text":"Hi", …}

Then come the frames, one a line, each under the time it came at (`#! at 1.25`, in seconds), and
what else happened (`#! tick`, `#! drain`). What the turn did about it stands below in notes.
"""

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from turnwire.core.act import Act
from turnwire.core.blotting import Blotter
from turnwire.core.dialect import Ask, Look
from turnwire.core.limits import Limits
from turnwire.core.overheard import Input
from turnwire.core.redact import Redactor

STREAM: Final = b"#! stream "
MISSING: Final = b"#! missing "
"""What of the stream is not in the recording, for people."""
FRAME: Final = b"#! frame "
"""A frame that would be taken for something else, as a JSON string."""

_TOLD_MAX: Final = 4_096
"""Longest frame to the agent that is written out."""

_ENTRY_BYTES: Final = 64
"""What an entry takes beside its frame, about."""

_NEVER: Final = 1e300
"""In place of the infinity that JSON does not have."""


class BadHeaderError(ValueError):
    """The first line of a recording cannot be read."""


class Header(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a stream began with."""

    dialect: str
    mode: Literal["prompt", "resume"]
    text: str = ""
    prompt_id: str | None = None
    user_id: str = ""
    channel_type: str = "web"
    channel_id: str = "default"
    client_message_id: str | None = None
    init_s: float = 0.0
    taken_id: str | None = None
    event_lines: bool = True
    usage: bool = False
    apart: bool = False
    """Whether other processes may have had streams of the session."""
    limits: Limits

    def ask(self) -> Ask:
        return Ask(
            text=self.text,
            prompt_id=self.prompt_id or "",
            client_message_id=self.client_message_id,
            channel_type=self.channel_type,
            channel_id=self.channel_id,
            user_id=self.user_id,
        )

    def look(self) -> Look:
        return Look(
            user_id=self.user_id,
            channel_type=self.channel_type,
            channel_id=self.channel_id,
            init_s=self.init_s,
            prompt_id=self.prompt_id,
        )

    def redacted(self, redactor: Redactor) -> "Header":
        """The same, with nobody's words in it."""
        return msgspec.structs.replace(
            self,
            text=redactor.text(self.text),
            user_id=self.user_id and redactor.name(self.user_id),
            channel_type=redactor.word(self.channel_type),
            channel_id=redactor.name(self.channel_id),
            client_message_id=_other_id(self.client_message_id, redactor),
            taken_id=_other_id(self.taken_id, redactor),
        )


def header(
    asked: Ask | Look,
    *,
    dialect: str,
    limits: Limits,
    taken_id: str | None = None,
    event_lines: bool = True,
    usage: bool = False,
    apart: bool = False,
) -> Header:
    """The header of a stream that was asked for so."""
    ask = asked if isinstance(asked, Ask) else None
    look = asked if isinstance(asked, Look) else None
    return Header(
        dialect=dialect,
        mode="resume" if ask is None else "prompt",
        text="" if ask is None else ask.text,
        prompt_id=asked.prompt_id,
        user_id=asked.user_id,
        channel_type=asked.channel_type,
        channel_id=asked.channel_id,
        client_message_id=None if ask is None else ask.client_message_id,
        init_s=0.0 if look is None else look.init_s,
        taken_id=taken_id,
        event_lines=event_lines,
        usage=usage,
        apart=apart,
        limits=limits,
    )


def _other_id(given: str | None, redactor: Redactor) -> str | None:
    return None if given is None else redactor.machine_id(given)


_decode = msgspec.json.Decoder(Header).decode


def find_header(lines: Iterable[bytes]) -> Header | None:
    """The header of a recording that has one.

    Raises:
        BadHeaderError: it cannot be read.

    """
    line = next((line for line in lines if line.startswith(STREAM)), None)
    try:
        return None if line is None else _decode(line[len(STREAM) :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadHeaderError(f"its `#! stream` line cannot be read: {exc}") from exc


def missing(lines: Iterable[bytes]) -> list[str]:
    """What a recording says that it lacks."""
    return [
        line[len(MISSING) :].decode(errors="replace") for line in lines if line.startswith(MISSING)
    ]


_Entry: TypeAlias = tuple[Input | None, float, bytes, int]
"""What happened, or None for what was done; when, a frame, a count."""


class Recording:
    """The first and the last of what happened to one stream, up to so many bytes (`Ear`)."""

    def __init__(self, header: Header, most_bytes: int) -> None:
        self._header = header
        self._half = most_bytes // 2
        self._first: list[_Entry] = []
        self._last: deque[_Entry] = deque()
        self._first_bytes = self._last_bytes = 0
        self._began_at: float | None = None
        self._lost_frames = self._lost_bytes = 0

    def heard(self, what: Input, now: float, frames: Sequence[bytes], count: int) -> None:
        if self._began_at is None:
            self._began_at = now
        if what is not Input.FRAMES:
            self._add((what, now, b"", count))
            return
        for frame in frames:
            self._add((what, now, frame, 0))

    def did(self, act: Act, now: float) -> None:
        # The act itself is not kept: what it writes may be longer than all that is recorded.
        for told in act.tell:
            self._add((None, now, told if len(told) <= _TOLD_MAX else b"", len(told)))
        if act.write:
            self._add((None, now, b"", -len(act.write)))

    def _add(self, entry: _Entry) -> None:
        size = len(entry[2]) + _ENTRY_BYTES
        if not self._last and self._first_bytes + size <= self._half:
            self._first.append(entry)
            self._first_bytes += size
            return
        self._last.append(entry)
        self._last_bytes += size
        while self._last_bytes > self._half:
            lost = self._last.popleft()
            self._last_bytes -= len(lost[2]) + _ENTRY_BYTES
            if lost[0] is Input.FRAMES:
                self._lost_frames += 1
                self._lost_bytes += len(lost[2])

    def lines(
        self,
        *,
        redactor: Redactor | None,
        notes: Collection[str] = (),
        lacks: Collection[str] = (),
        secrets: Collection[bytes] = (),
    ) -> Iterator[bytes]:
        """The recording, line by line; without a redactor with all that was said in it.

        `notes` and `lacks` are told to people; `secrets` are blotted out of frames.
        """
        blot = Blotter(secrets).blot
        yield STREAM + blot(msgspec.json.encode(self._told_header(redactor)))
        yield from (f"# {note}".encode() for note in notes)
        yield from (MISSING + lack.encode() for lack in lacks)
        told_at = "0.000000"
        for entry in self._entries():
            if entry is None:
                yield MISSING + f"{self._lost_frames} frames, {self._lost_bytes} bytes".encode()
                continue
            what, now, frame, count = entry
            if what is None:
                yield _done(blot(_shown(frame, redactor)), count)
                continue
            if (at := self._at(what, now)) != told_at:
                yield b"#! at " + at.encode()
                told_at = at
            if what is Input.FRAMES:
                yield _line(blot(_shown(frame, redactor)))
            elif what in {Input.HELD, Input.PROGRESSED}:
                yield f"#! {what.value} {count}".encode()
            else:
                yield f"#! {what.value}".encode()

    def _entries(self) -> Iterator[_Entry | None]:
        """All there are; None stands for those that are lost."""
        yield from self._first
        if self._lost_frames:
            yield None
        yield from self._last

    def _at(self, what: Input, now: float) -> str:
        assert self._began_at is not None
        # A timer that rounding made too early would do nothing.
        later = 1e-6 if what is Input.TICK else 0.0
        return f"{now - self._began_at + later:.6f}"

    def _told_header(self, redactor: Redactor | None) -> Header:
        header, limits = self._header, self._header.limits
        until = limits.expires_at - (self._began_at or 0.0)
        limits = msgspec.structs.replace(limits, expires_at=until if until < math.inf else _NEVER)
        header = msgspec.structs.replace(header, limits=limits)
        return header if redactor is None else header.redacted(redactor)


def _shown(frame: bytes, redactor: Redactor | None) -> bytes:
    return frame if redactor is None else redactor.frame(frame)


_BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")


def _line(frame: bytes) -> bytes:
    """A frame on a line of its own. JSON has raw line breaks between its tokens alone."""
    if frame.startswith(b"{"):
        return frame.translate(_BREAKS)
    return FRAME + msgspec.json.encode(frame.decode())


def _done(told: bytes, count: int) -> bytes:
    if count < 0:
        return f"# wrote {-count} bytes".encode()
    return b"# told " + (told.translate(_BREAKS) or f"{count} bytes".encode())
