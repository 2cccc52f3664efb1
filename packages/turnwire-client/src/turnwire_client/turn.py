"""One turn over all of its connections: bytes in, new events out. No I/O, no clock.

    turn = Turn(limits)
    turn.connect()                 # before each response
    events = turn.feed(data)       # what came of it
    events = turn.cut()            # it ended, or broke
    turn.end is not None           # the last event was yielded

A stream says how its turn ended (`error`, `abort`, `finish`, or two of them), and is over with
`[DONE]`, or with its body. The end is held back until then, so that it is one event, and the
gateway knows that its client has all of the turn.
"""

from collections.abc import Iterable, Iterator

from msgspec import structs

from turnwire_client import chunks
from turnwire_client.chunks import DONE, Chunk, is_approval, read_chunk, read_question
from turnwire_client.errors import MalformedError
from turnwire_client.event_stream import KEEPALIVE, EventStream
from turnwire_client.events import (
    Abort,
    Data,
    End,
    Error,
    Event,
    Finish,
    Restart,
    ToolApprovalRequest,
    ToolOutputAvailable,
    ToolOutputError,
)
from turnwire_client.limits import Limits
from turnwire_client.message import ASKED, Building, UIMessage, chunks_of, shown_at
from turnwire_client.seen import Diverged, Seen


class OtherTurn(Exception):  # noqa: N818 (a finding; nothing is wrong)
    """The stream is that of another turn: ours is over."""


class Turn:
    """What one reader has of one turn."""

    def __init__(self, limits: Limits, *, is_native: bool = False) -> None:
        """`is_native`: approvals come natively, and not as questions."""
        self._limits = limits
        self._is_native = is_native
        self._seen = Seen()
        self._stream = EventStream(limits)
        self._building = Building()
        self._former = UIMessage("", "assistant")
        """The message as of the last connection, until this one has as much."""
        self._is_behind = False
        self._has_brought = False
        """Whether this connection has brought anything of the turn."""
        self._verdict: End | None = None
        """How the turn ended, as this stream says."""
        self.message_id: str | None = None
        """The id of the answer; None before its `start`."""
        self.end: End | None = None
        self._pause: Finish | None = None
        """How a response ended whose turn waits for approvals."""
        self._shown: dict[str, bytes] = {}
        """What the calls that wait for an approval showed when it was yielded last."""

    @property
    def is_asking(self) -> bool:
        """Whether the response has ended, and the turn waits for native approvals."""
        return self._pause is not None

    @property
    def message(self) -> UIMessage:
        """The answer as far as it was yielded."""
        return self._former if self._is_behind else self._building.message

    @property
    def news(self) -> int:
        """Grows with each event."""
        return self._seen.news

    def connect(self) -> None:
        """Begin to read another response. It brings the turn from its start."""
        self._former, self._is_behind = self.message, self._seen.news > 0
        self._stream, self._building, self._verdict = EventStream(self._limits), Building(), None
        self._has_brought = False
        self._pause = None
        self._seen.rewind()

    def go_on(self, responses: UIMessage, *, is_answered: bool) -> None:
        """Begin to read the response to decisions: it brings what comes behind them.

        `is_answered`: the gateway took them, or refused them. Who asks again asks something else.
        """
        if is_answered:
            for part in responses.parts:
                self._shown.pop(part.get("toolCallId", ""), None)
        self._stream, self._verdict, self._pause = EventStream(self._limits), None, None
        self._building.respond(responses)
        self._seen.go_on()

    def leave(self) -> list[Event]:
        """Nobody decides now: the events end here, and the turn waits."""
        assert self._pause is not None
        self.end = self._pause
        return [self.end]

    def feed(self, data: bytes) -> Iterator[Event]:
        """Read bytes of the response.

        Raises:
            OtherTurn: the response has another turn.
            MalformedError: it is no UI message stream, or is larger than a bound.

        """
        for item in self._stream.feed(data):
            if self.end is not None:
                return
            if item == KEEPALIVE:
                if self._has_brought:  # a response begins with one
                    yield from self._events(self._seen.caught_up())
            elif item == DONE:
                yield from self.cut()
            elif (chunk := read_chunk(item)) is not None:
                yield from self._take(chunk)

    def cut(self) -> list[Event]:
        """Note that the response ended, or broke. What it said of the turn's end counts."""
        if self.end is not None or self._verdict is None:
            return []
        return self._finish(self._verdict)

    def take_message(self, message: UIMessage, end: End) -> list[Event]:
        """Take the rest of the answer from the history, and its end.

        Raises:
            MalformedError: the message has a part without its fields.

        """
        self.connect()
        try:
            all_chunks = [chunks.Start(message.id), *self._chunks_of(message)]
        except (KeyError, TypeError, AttributeError):
            raise MalformedError("a message of the history has a part without its fields") from None
        found = [event for chunk in all_chunks for event in self._take(chunk)]
        return found + self._finish(end)

    def _chunks_of(self, message: UIMessage) -> Iterator[Chunk]:
        for chunk in chunks_of(message):
            # The history has each approval as a question.
            if not (self._is_native and isinstance(chunk, Data) and is_approval(chunk)):
                yield chunk

    def _take(self, chunk: Chunk) -> list[Event]:
        match chunk:
            case chunks.Start(message_id) if message_id is not None:
                if self.message_id not in {None, message_id}:
                    raise OtherTurn
                self.message_id = message_id
            case Abort() | Error():
                self._verdict = chunk
                return []
            case Finish() if self._verdict is not None:
                metadata = self._verdict.message_metadata or chunk.message_metadata
                self._verdict = structs.replace(self._verdict, message_metadata=metadata)
                return []
            case Finish():
                self._verdict = chunk
                return []
            case _:
                self._has_brought = True
        self._building.take(chunk)
        try:
            new = self._seen.new(chunk)
        except Diverged:
            return self._restart()
        if isinstance(chunk, chunks.ResetStep):
            return self._anew(Seen()) if new else []
        return self._events(new)

    def _restart(self) -> list[Event]:
        """Forget what was yielded: the message has other words."""
        self._seen = Seen(self._seen.news)
        return self._anew(self._seen)

    def _anew(self, seen: Seen) -> list[Event]:
        """Yield all of the message anew, as far as this connection has it. `seen` notes it."""
        self._is_behind = False
        known = chunks_of(self._building.message, is_whole=not self._building.is_in_step)
        new = [each for chunk in known for each in seen.new(chunk)]
        return [Restart(self.message_id), *self._events(new)]

    def _finish(self, end: End) -> list[Event]:
        found = self._events(self._seen.caught_up())
        has_less = self._seen.has_more_text or self._seen.has_more_resets
        if has_less and isinstance(end, Finish):
            found = self._restart()
        if isinstance(end, Finish) and self._building.is_asking:
            self._building.take(end)
            self._pause, self._is_behind = end, False
            return [*found, *self._not_shown()]
        self._building.take(end)
        # An error may be the gateway's own, and cut the repetition short.
        self._is_behind = self._is_behind and self._seen.has_more_text
        self.end = end
        return [*found, end]

    def _events(self, new: Iterable[Chunk]) -> list[Event]:
        found = [self._event(chunk) for chunk in new]
        if found:
            self._is_behind = False
        return found

    def _not_shown(self) -> Iterator[Event]:
        """The approvals that the turn waits for, and that were not yielded as they are now."""
        for part in self._building.message.parts:
            if part.get("state") == ASKED:
                call_id: str = part["toolCallId"]
                if self._shown.get(call_id) != shown_at(part):
                    yield self._request(part["approval"]["id"], call_id)

    def _request(self, approval_id: str, call_id: str) -> ToolApprovalRequest:
        call = self._building.call(call_id)
        self._shown[call_id] = shown_at(call)
        return ToolApprovalRequest(
            approval_id,
            approval_id,
            call_id,
            call["type"].removeprefix("tool-") or None,
            call.get("input"),
            "",
            is_native=True,
            message_id=self.message_id,
        )

    def _event(self, chunk: Chunk) -> Event:
        if isinstance(chunk, Data):
            return read_question(chunk) or chunk
        if isinstance(chunk, chunks.ApprovalRequest):
            return self._request(chunk.approval_id, chunk.tool_call_id)
        if isinstance(chunk, ToolOutputAvailable | ToolOutputError):
            self._shown.pop(chunk.tool_call_id, None)
        assert not isinstance(
            chunk,
            chunks.Start
            | chunks.ResetStep
            | chunks.TextStart
            | chunks.TextEnd
            | chunks.ReasoningStart
            | chunks.ReasoningEnd,
        )
        return chunk
