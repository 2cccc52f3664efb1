"""The UI message stream of one turn, as a `core.output.OutputProtocol`: events in, SSE out."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Final

from msgspec import Struct

from turnwire.core.approvals import ApprovalIssuer, with_id
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import Event, Question, ReplayStarted, TextDelta, TurnStarted
from turnwire.core.ui_stream import sse
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.numbering import Numbered
from turnwire.core.ui_stream.translator import Translator

HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"x-vercel-ai-ui-message-stream", b"v1"),
)
"""The response headers of a UI message stream."""


class StreamOptions(Struct, frozen=True, kw_only=True):
    """What the settings, the client and its request change in the stream of one turn."""

    event_lines: bool = True
    """Whether records have an `event:` line."""
    usage: bool = False
    """Whether the metadata of `finish` has the agent's token counts."""
    taken_id: str | None = None
    """The id of the user's message: a client overwrites it if the answer has the same id."""
    client_copy: ClientCopy | None = None
    """What the client has of a continued message."""
    approvals: ApprovalIssuer | None = None
    """Issues the ids of approval requests; None: the gateway has no key to sign them."""
    resets: bool = False
    """Whether the client knows `reset-step`."""
    skip: int | None = None
    """How many chunks a client has that counts its chunks; None: it does not count them."""

    @property
    def is_native(self) -> bool:
        """Whether the client supports approvals. A request for an approval ends its stream."""
        return self.approvals is not None and self.approvals.native


DEFAULTS: Final = StreamOptions()


class UIMessageStream:
    """One UI message, from its first record to `data: [DONE]`."""

    __slots__ = (
        "_approvals",
        "_event_lines",
        "_lane",
        "_record",
        "_translator",
        "_turn_id",
        "can_pause",
    )

    headers: ClassVar[Sequence[tuple[bytes, bytes]]] = HEADERS
    keepalive: ClassVar[bytes] = sse.KEEPALIVE

    def __init__(self, options: StreamOptions = DEFAULTS) -> None:
        self._approvals = approvals = options.approvals
        self.can_pause = approvals is not None and approvals.native
        self._event_lines = options.event_lines
        self._record: Callable[[Chunk], bytes] = (
            sse.record if options.event_lines else partial(sse.record, event_line=False)
        )
        if options.skip is None:
            self._translator = Translator(
                usage=options.usage,
                native=options.is_native,
                resets=options.resets,
                taken_id=options.taken_id,
                client_copy=options.client_copy,
            )
        else:
            self._translator = Numbered(
                skip=options.skip, usage=options.usage, taken_id=options.taken_id
            )
        self._turn_id: str | None = None
        self._lane: bytes | None = None
        """The bytes before the delta in the next record, while text deltas may take the short lane;
        None while they may not."""

    @property
    def has_fixed_steps(self) -> bool:
        return self._translator.has_fixed_steps

    @property
    def has_short_texts(self) -> bool:
        return self._translator.has_fixed_steps  # then each word is a chunk of its own

    @property
    def is_waiting(self) -> bool:
        return self._translator.waits_for_approval

    @property
    def contradicted_chars(self) -> int:
        return self._translator.sent_text.contradicted_chars

    def feed(self, event: Event, _now: float) -> bytes:
        self._lane = None
        if self._approvals is not None and isinstance(event, (TurnStarted, ReplayStarted)):
            self._turn_id = event.turn_id
        return b"".join(map(self._record, self._translator.feed(event)))

    def ask(self, question: Question, now: float, *, is_over: bool) -> bytes:
        """Return an approval request if the client supports it, else a question."""
        self._lane = None
        if self._approvals is None:
            return self._records(self._translator.feed(question))
        approval = question.approval
        approval_id = self._approvals.approval_id(self._turn_id, question, now)
        question = with_id(question, approval_id)
        can_request = self.can_pause and self._turn_id is not None
        if not can_request or approval is None or approval_id is None:
            chunks = self._translator.feed(question)
        elif is_over:
            chunks = self._translator.feed_closed_request(question, approval)
        else:
            chunks = self._translator.request(question, approval, approval_id)
        return self._records(chunks)

    def feed_texts(self, texts: Sequence[str], now: float) -> bytes:
        """Return the records of text deltas in a row.

        The short lane: while a text block is open, all deltas are written at once, at a third of
        the cost of `feed`. Both give the same bytes (tests/core/turn/test_lanes.py).
        """
        if self._lane is None:  # the first delta may open a block
            return self._open_lane(texts, now)
        try:
            records = sse.deltas(self._lane, texts)
        except UnicodeEncodeError:  # half of a surrogate pair
            return b"".join([self.feed(TextDelta(text), now) for text in texts])
        self._translator.sent_text.add("".join(texts))
        return records

    def _open_lane(self, texts: Sequence[str], now: float) -> bytes:
        first, rest = self.feed(TextDelta(texts[0]), now), texts[1:]
        block = self._translator.text_block
        if block is not None:
            self._lane = sse.delta_prefix(block, event_line=self._event_lines)
            return first + self.feed_texts(rest, now) if rest else first
        return first + b"".join([self.feed(TextDelta(text), now) for text in rest])

    def pause(self) -> bytes:
        return self._records(self._translator.pause())

    def fail(self, text: str) -> bytes:
        self._lane = None
        return self._records(self._translator.fail(text))

    def _records(self, chunks: list[Chunk]) -> bytes:
        return b"".join(map(self._record, chunks))
