"""A turn on the `openai-chat` wire: one request, and the events of its response.

Read this module first, then `progress`. `TurnProtocol` decides where the turn begins and ends. All
events of the response are ours. Nothing on this wire says that a tool waits for its user, so a turn
asks no questions.

    STARTING --first chunk--> RUNNING --finish_reason, and then [DONE], the end, or END_S--> OVER
        |                        |
        +------- an error -------+--> OVER. The end without a finish_reason: interrupted

Behind calls, their tools run: only [DONE] is the end then, and the end of the body is a cut. What
comes behind them begins another part of the answer, with a reason of its own.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, OneConnection
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Event, Reason, TextDelta, TurnFinished, TurnStarted
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.outcome import Outcome
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_shape import FrameShape
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_chat import commands, reasons
from turnwire.dialects.openai_chat.frames import (
    DONE,
    Chunk,
    Failure,
    Read,
    ToolProgress,
    decode,
    decoder,
    error_of,
    is_set,
)
from turnwire.dialects.openai_chat.progress import Progress

END_S: Final = 2.0
"""How long the usage and the end may come after the reason for which the answer ended, in seconds.
Some servers send no more, and keep the connection."""

FILTERED: Final = "The answer was withheld by a content filter"
UNRUN: Final = "call that nobody ran"
"""What the log counts where a model is taken for an agent."""

_DEPTH: Final = 6
"""How deep the values of a frame are that are decoded into objects."""


class _Stage(enum.Enum):
    STARTING = enum.auto()
    RUNNING = enum.auto()
    OVER = enum.auto()


_STARTING, _RUNNING, _OVER = _Stage  # an enum's attributes are slow


class TurnProtocol(OneConnection):
    """One turn, without I/O."""

    accepted = True
    queued = False
    has_other_watchers = False

    def __init__(self, request: PromptRequest) -> None:
        self.frame_stats = FrameStats()
        self.deadline = NEVER
        self._request: PromptRequest | None = request
        self._turn_id = request.prompt_id
        self._stage = _STARTING
        self._progress = Progress(request.prompt_id, self.frame_stats)
        self._shape = FrameShape()

    # The connection.

    def connect_request(self) -> ConnectRequest:
        request, self._request = self._request, None
        assert request is not None, "asked for twice"
        return commands.completion(request)

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> Decoded | None:
        progress = self._progress
        return None if progress.finish_reason is None or progress.goes_on else self._finish()

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.NONE if self._stage is _OVER else AbortScope.OURS

    def abort(self) -> Sequence[bytes]:
        """Return no frames: to abort is to close the connection."""
        return ()

    def client_detached(self) -> None:
        """Do nothing: a turn has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Do nothing: an abort stops our turn alone."""

    # The events.

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, _DEPTH)

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        # Deltas come first, because they come by the hundred thousand. None is plain
        # behind the end.
        if self._progress.is_plain and (text := self._shape.text(raw)) is not None:
            return text
        if raw.startswith(DONE):
            return self._done(now)
        frame = decoder.read(raw, self.frame_stats)
        if frame is None:
            return None
        if type(frame) is Chunk and (text := self._progress.plain_text(frame)) is not None:
            self._shape.learn(raw, text, self._plain_text)
            return text
        if self._stage is _OVER:
            self.frame_stats.foreign += 1
            return None
        try:
            return self._take(frame, now)
        except (RecursionError, ValueError):
            # Nested too deeply, although the frame could be decoded, or another type of value.
            self.frame_stats.count_malformed(raw)
            return None

    def _plain_text(self, raw: bytes) -> str | None:
        """The text of a frame in strict JSON that is a text delta and nothing else."""
        try:
            frame = decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return None
        return self._progress.plain_text(frame) if type(frame) is Chunk else None

    def tick(self, now: float) -> Decoded:
        if now < self.deadline:
            return Decoded()
        if self._progress.finish_reason is None:
            return self._over([], Reason.ERROR, error=Outcome.INTERRUPTED.text)
        return self._finish()

    def _take(self, frame: Read, now: float) -> Decoded | str | None:
        progress = self._progress
        before = progress.finish_reason, progress.usage
        match frame:
            case Chunk():
                new = progress.take(frame)
                failed = self._failure(frame)
                if failed is not None or progress.finish_reason == reasons.ERROR:
                    return self._failed(self._begun(new), failed or Raw())
            case ToolProgress():
                new = progress.tool_progress(frame)
            case Failure(error, message, code):
                if is_set(error):
                    return self._failed([], error)
                self.frame_stats.error_code = safe_json.short_string(code)
                return self._failed([], message)
            case _:
                assert_never(frame)
        self._await_end(now, is_new=bool(new))
        new = self._begun(new)
        if len(new) == 1 and isinstance(new[0], TextDelta):
            return new[0].text
        if new:
            return Decoded(new)
        after = progress.finish_reason, progress.usage
        return None if progress.finish_reason is None or after == before else ALIVE

    def _begun(self, new: list[Event]) -> list[Event]:
        """The events, behind the beginning of the turn if it is not there."""
        if self._stage is not _STARTING:
            return new
        self._stage = _RUNNING
        return [TurnStarted(self._turn_id), *new]

    def _await_end(self, now: float, *, is_new: bool) -> None:
        """Wait no longer than `END_S` for the end, once the answer is over.

        An agent that calls tools goes on behind the reason for which its model ended.
        """
        reason = self._progress.finish_reason
        if reason is None or self._progress.goes_on:
            self.deadline = NEVER
        elif is_new or self.deadline == NEVER:
            self.deadline = now + END_S

    def _done(self, now: float) -> Decoded | None:
        """The last event came. Without a reason before it, something cut the answer."""
        if self._stage is _OVER:
            return None
        if self._progress.finish_reason is None:
            self.deadline = now + END_S
            self._progress.is_plain = False  # a text that comes all the same puts the end off
            return None
        return self._finish()

    def _failure(self, chunk: Chunk) -> Raw | None:
        """The error of a chunk. Beside a reason for an answer that is cut short, it is no other."""
        error = error_of(chunk)
        given = [reasons.read(choice.finish_reason) for choice in chunk.choices or ()]
        if error is None or not any(map(reasons.is_cut_short, given)):
            return error
        self.frame_stats.error_code = _code(error) or self.frame_stats.error_code
        self.frame_stats.count_left_out("error of an answer that is cut short", len(error))
        return None

    def _failed(self, new: list[Event], error: Raw) -> Decoded:
        """The turn failed. Nothing that follows counts, however the body ends."""
        code = _code(error)
        self.frame_stats.error_code = code or self.frame_stats.error_code
        return self._over(new, Reason.ERROR, error=safe_json.error_message(error))

    def _finish(self) -> Decoded:
        """The answer is whole, or as long as it may be."""
        progress = self._progress
        cut_short = reasons.cut_short(progress.finish_reason or "")
        if progress.calls.are_unrun:
            self.frame_stats.count_left_out(UNRUN, 0)
            cut_short = cut_short or "tool-calls"
        if progress.has_refusal:
            cut_short = "refusal"
        elif cut_short == "content-filter" and not progress.has_text:
            return self._over(progress.calls.settle(), Reason.ERROR, error=FILTERED)
        return self._over(progress.calls.settle(), Reason.END_TURN, cut_short=cut_short)

    def _over(
        self,
        new: Sequence[Event],
        reason: Reason,
        *,
        error: str | None = None,
        cut_short: str | None = None,
    ) -> Decoded:
        self._stage, self.deadline = _OVER, NEVER
        progress = self._progress
        end = TurnFinished(reason=reason, error=error, usage=progress.usage, cut_short=cut_short)
        return Decoded([*new, *progress.finish(), end])


class _Error(msgspec.Struct, frozen=True):
    code: Raw = Raw()
    type: Raw = Raw()


_decode_error = msgspec.json.Decoder(_Error).decode


def _code(error: Raw) -> str | None:
    """The agent's code for an error, for the log."""
    if len(error) > LONG_BYTES:
        return None
    try:
        decoded = _decode_error(error)
    except msgspec.DecodeError:
        return None
    for field in (decoded.code, decoded.type):
        if is_set(field):
            return safe_json.short_string(field) or bytes(field).decode()[:64]
    return None
