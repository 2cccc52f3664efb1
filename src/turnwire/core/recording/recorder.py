"""Record a stream as text lines that `core.recording.replay` can replay.

A `Recording` observes a turn; `Recording.lines()` writes it. The first line holds the request and
the limits of the stream:

    #! stream {"dialect":"…","promptId":"p1","text":"Hi", …}

Then come the frames, one a line, each below the time when it arrived (`#! at 1.25`, in seconds),
and the other inputs of the turn (`#! tick`, `#! drain`). Below each input, comment lines (`# …`)
say what the turn wrote to the client and to the agent.
"""

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from turnwire.core.recording.input_lines import BREAKS, REPLIED, encode, reply_json
from turnwire.core.recording.operator_fields import OperatorFields
from turnwire.core.recording.recorded_answers import RecordedAnswers, answers_of
from turnwire.core.recording.redact import Redactor
from turnwire.core.recording.secret_mask import SecretMask
from turnwire.core.requests import (
    DEFAULT_CHANNEL,
    AgentSession,
    Channel,
    DialectOptions,
    PromptRequest,
    ResumeRequest,
    StateMode,
)
from turnwire.core.turn.inputs import Frames, Input, Replied, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.ui_stream.output import DEFAULTS, StreamOptions

STREAM: Final = b"#! stream "
MISSING: Final = b"#! missing "
"""Begins a line that says which part of the stream is not in the recording. For people."""

_TO_AGENT_BYTES_MAX: Final = 4_096
"""Longest frame to the agent that is recorded; of a longer one only its length."""

_ENTRY_BYTES: Final = 64
"""About how many bytes an entry takes in addition to its frame."""

_NEVER: Final = 1e300
"""Replaces infinity, which JSON does not have."""


class BadHeaderError(ValueError):
    """The first line of a recording cannot be read."""


class Header(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The request, the options and the limits of a recorded stream."""

    dialect: str
    mode: Literal["prompt", "resume"]
    text: str = ""
    prompt_id: str | None = None
    user_id: str = ""
    channel_type: str = DEFAULT_CHANNEL.type
    channel_id: str = DEFAULT_CHANNEL.id
    client_message_id: str | None = None
    init_s: float = 0.0
    taken_id: str | None = None
    event_lines: bool = True
    usage: bool = False
    state: StateMode = StateMode.OFF
    answers: RecordedAnswers | None = None
    """What a request brought that went on with a turn of an agent that keeps nothing."""
    agent_session: str | None = None
    """The agent's session that was kept for the channel."""
    has_earlier: bool = False
    apart: bool = False
    """Whether other processes may also have had streams of the session."""
    limits: Limits
    """In a written header, `expires_at` counts from the first input, in seconds."""

    def prompt_request(self) -> PromptRequest:
        return PromptRequest(
            text=self.text,
            prompt_id=self.prompt_id or "",
            client_message_id=self.client_message_id,
            channel=Channel(self.channel_type, self.channel_id),
            user_id=self.user_id,
            options=DialectOptions(state=self.state),
            agent_session=AgentSession(known=self.agent_session),
            has_earlier=self.has_earlier,
        )

    def resume_request(self) -> ResumeRequest:
        request = ResumeRequest(
            user_id=self.user_id,
            channel=Channel(self.channel_type, self.channel_id),
            init_s=self.init_s,
            prompt_id=self.prompt_id,
            options=DialectOptions(state=self.state),
        )
        return request if self.answers is None else self.answers.continue_with(request)

    def redacted(self, redactor: Redactor) -> "Header":
        """Return a redacted copy: without texts, and without ids of people."""
        return msgspec.structs.replace(
            self,
            text=redactor.text(self.text),
            user_id=self.user_id and redactor.name(self.user_id),
            channel_type=redactor.word(self.channel_type),
            channel_id=redactor.name(self.channel_id),
            client_message_id=_redacted_id(self.client_message_id, redactor),
            taken_id=_redacted_id(self.taken_id, redactor),
            agent_session=_redacted_id(self.agent_session, redactor),
            answers=None if self.answers is None else self.answers.redacted(redactor),
        )


def header(
    request: PromptRequest | ResumeRequest,
    *,
    dialect: str,
    limits: Limits,
    options: StreamOptions = DEFAULTS,
    apart: bool = False,
) -> Header:
    """Return the header of the stream of a request."""
    prompt = request if isinstance(request, PromptRequest) else None
    resume = request if isinstance(request, ResumeRequest) else None
    return Header(
        dialect=dialect,
        mode="resume" if prompt is None else "prompt",
        text="" if prompt is None else prompt.text,
        prompt_id=request.prompt_id,
        user_id=request.user_id,
        channel_type=request.channel.type,
        channel_id=request.channel.id,
        client_message_id=None if prompt is None else prompt.client_message_id,
        init_s=0.0 if resume is None else resume.init_s,
        taken_id=options.taken_id,
        event_lines=options.event_lines,
        usage=options.usage,
        state=request.options.state,
        answers=None if resume is None else answers_of(resume),
        agent_session=request.agent_session.known,
        has_earlier=prompt is not None and prompt.has_earlier,
        apart=apart,
        limits=limits,
    )


def _redacted_id(value: str | None, redactor: Redactor) -> str | None:
    return None if value is None else redactor.machine_id(value)


_decode = msgspec.json.Decoder(Header).decode


def find_header(lines: Iterable[bytes]) -> Header | None:
    """Return the header of a recording; None if the gateway did not write the recording.

    Raises:
        BadHeaderError: the header line cannot be decoded.

    """
    line = next((line for line in lines if line.startswith(STREAM)), None)
    try:
        return None if line is None else _decode(line[len(STREAM) :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadHeaderError(f"its `#! stream` line cannot be read: {exc}") from exc


def missing(lines: Iterable[bytes]) -> list[str]:
    """Return the texts of the `#! missing` lines of a recording."""
    return [
        line[len(MISSING) :].decode(errors="replace") for line in lines if line.startswith(MISSING)
    ]


class _Sent(Struct, frozen=True):
    """A frame to the agent. Of a long one, only the length is kept."""

    frame: bytes
    length: int


class _Written(Struct, frozen=True):
    """Bytes to the client. Only their length is kept: they may exceed the whole recording."""

    length: int


_Item: TypeAlias = bytes | Input | _Sent | _Written
"""What happened. `bytes` are a frame of the agent."""

_Entry: TypeAlias = tuple[_Item, float]
"""What happened, and the time in seconds."""


def _frame_of(item: _Item) -> bytes:
    """The frame or the answer that an entry keeps; empty for none."""
    if isinstance(item, bytes):
        return item
    if isinstance(item, Replied):
        return bytes(item.reply.answer)
    return item.frame if isinstance(item, _Sent) else b""


class Recording:
    """A `TurnObserver` that keeps the first and the last inputs and outputs of one stream.

    Both together take up to `most_bytes`, half of them each.
    """

    def __init__(self, header: Header, most_bytes: int) -> None:
        self._header = header
        self._half = most_bytes // 2
        self._first: list[_Entry] = []
        self._last: deque[_Entry] = deque()
        self._first_bytes = self._last_bytes = 0
        self._began_at: float | None = None
        self._lost_frames = self._lost_bytes = 0

    def on_input(self, turn_input: Input, now: float) -> None:
        if self._began_at is None:
            self._began_at = now
        if not isinstance(turn_input, Frames):
            self._add(turn_input, now)
            return
        for frame in turn_input.frames:
            self._add(frame, now)

    def on_output(self, output: Output, now: float) -> None:
        for frame in output.to_agent:
            kept = frame if len(frame) <= _TO_AGENT_BYTES_MAX else b""
            self._add(_Sent(kept, len(frame)), now)
        if output.to_client:
            self._add(_Written(len(output.to_client)), now)

    def _add(self, item: _Item, now: float) -> None:
        size = len(_frame_of(item)) + _ENTRY_BYTES
        if not self._last and self._first_bytes + size <= self._half:
            self._first.append((item, now))
            self._first_bytes += size
            return
        self._last.append((item, now))
        self._last_bytes += size
        while self._last_bytes > self._half:
            dropped, _ = self._last.popleft()
            self._last_bytes -= len(_frame_of(dropped)) + _ENTRY_BYTES
            if isinstance(dropped, bytes):
                self._lost_frames += 1
                self._lost_bytes += len(dropped)

    def lines(
        self,
        *,
        redactor: Redactor | None,
        notes: Collection[str] = (),
        lacks: Collection[str] = (),
        secrets: Collection[bytes] = (),
        operator_fields: OperatorFields | None = None,
    ) -> Iterator[bytes]:
        """Yield the recording line by line, without line ends.

        `redactor` redacts the header and the frames; None: all texts stay as they are.
        `notes` are written as comments, for people.
        `lacks` says which parts of the stream the recording does not hold, for people.
        `secrets` are masked in the header and in the frames.
        `operator_fields` are blotted in the frames to the agent, tokens among them everywhere.
        """
        operator_fields = operator_fields or OperatorFields({})
        mask = SecretMask([*secrets, *operator_fields.tokens]).mask
        header = msgspec.json.encode(self._final_header(redactor)).translate(BREAKS)
        yield STREAM + mask(header)
        yield from (f"# {note}".encode() for note in notes)
        yield from (MISSING + lack.encode() for lack in lacks)
        last_time = "0.000000"
        for entry in self._entries():
            if entry is None:
                yield MISSING + f"{self._lost_frames} frames, {self._lost_bytes} bytes".encode()
                continue
            item, now = entry
            if isinstance(item, _Written):
                yield f"# wrote {item.length} bytes".encode()
                continue
            if isinstance(item, _Sent):
                frame = mask(_redacted(operator_fields.blot(item.frame), redactor))
                yield _sent_line(frame, item.length)
                continue
            if (time := self._time(item, now)) != last_time:
                yield b"#! at " + time.encode()
                last_time = time
            if isinstance(item, bytes):
                yield from encode(Frames((mask(_redacted(item, redactor)),)))
            elif isinstance(item, Replied):
                yield REPLIED + mask(_redacted_reply(item, redactor))
            else:
                yield from encode(item)

    def _entries(self) -> Iterator[_Entry | None]:
        """Yield all entries; None stands for those that were dropped between first and last."""
        yield from self._first
        if self._lost_frames:
            yield None
        yield from self._last

    def _time(self, item: bytes | Input, now: float) -> str:
        """The time of an input in seconds since the begin of the recording."""
        assert self._began_at is not None
        # Rounding may make a tick come before its deadline, and a replayed tick does nothing then.
        extra = 1e-6 if isinstance(item, Tick) else 0.0
        return f"{now - self._began_at + extra:.6f}"

    def _final_header(self, redactor: Redactor | None) -> Header:
        """The header as it is written: with a relative `expires_at`, and redacted."""
        header, limits = self._header, self._header.limits
        until = limits.expires_at - (self._began_at or 0.0)
        limits = msgspec.structs.replace(limits, expires_at=until if until < math.inf else _NEVER)
        header = msgspec.structs.replace(header, limits=limits)
        return header if redactor is None else header.redacted(redactor)


def _redacted(frame: bytes, redactor: Redactor | None) -> bytes:
    return frame if redactor is None else redactor.frame(frame)


def _redacted_reply(replied: Replied, redactor: Redactor | None) -> bytes:
    """Return a reply as JSON. Redacted, it names no subject: that of a redacted call is another."""
    if redactor is None:
        return reply_json(replied)
    reply = msgspec.structs.replace(replied.reply, subject=None)
    return redactor.frame(reply_json(msgspec.structs.replace(replied, reply=reply)))


def _sent_line(frame: bytes, length: int) -> bytes:
    """The comment line of a frame to the agent."""
    return b"# told " + (frame.translate(BREAKS) or f"{length} bytes".encode())
