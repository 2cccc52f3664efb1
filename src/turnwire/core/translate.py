"""Events to chunks: the translator.

Rule 1: every decision about which chunks go out, and in what order, is made
here (and in `tools`, `questions`, `media` and `told`, which it owns) and nowhere else.

Rule 2: no I/O, no clock, no log, no wire format. The same events give the same
chunks, so that a recorded turn can be replayed on any machine.

    WAITING --TurnStarted | Question--> STREAMING --TurnFinished | fail | pause--> CLOSED
       |                                                                             ^
       +--------------------------- TurnFinished | fail ----------------------------+

A turn that goes on for a client that has its beginning is told from `TurnContinued`
on like any other, and nothing is sent that the client has: so the state is the same.

Whatever the events, the chunks keep six promises, checked against a strict
client model in tests/core/test_promises.py:

    P1  `start` is first (but for a transient status), `finish` last, nothing after it
    P2  a block is opened once, closed once, and only written in between
    P3  a tool output follows that tool's input, and comes at most once
    P4  the text sent is the text received, in order, once
    P5  no tool call is left without an outcome
    P6  the stream never ends without `finish`: a silent end looks like success
"""

import enum
from typing import ClassVar, assert_never

from msgspec import UNSET, Raw

from turnwire.core import chunks, events, harmless, media
from turnwire.core.events import Phase, Reason
from turnwire.core.known import Known, Left, What
from turnwire.core.questions import Questions
from turnwire.core.told import Told
from turnwire.core.tools import NO_RESULT, Calls

CANCELED = "Canceled"
TURN_FAILED = "Turn failed"


class State(enum.Enum):
    WAITING = enum.auto()
    STREAMING = enum.auto()
    CLOSED = enum.auto()


_WAITING, _STREAMING, _CLOSED = State  # an enum's attributes are slow


class _Kind(enum.Enum):
    """A kind of block. The value is the letter of its ids: `<turnId>:t0`, `<turnId>:r0`."""

    TEXT = "t"
    REASONING = "r"


_TEXT, _REASONING = _Kind
_NO_BLOCKS = dict.fromkeys(_Kind, 0)


class _Block:
    """The open block. `half` is half of a surrogate pair that waits for the other."""

    __slots__ = ("half", "id", "kind")

    def __init__(self, kind: _Kind, block_id: str) -> None:
        self.kind = kind
        self.id = block_id
        self.half = ""


class Translator:
    """One UI message, from `start` to `finish`.

    `usage` puts the agent's token counts into the metadata of `finish`.
    `taken_id` is the id of the user's message: a client overwrites that message
    if the answer comes under the same id. `known` is what the client has of the message
    that a continued turn goes on in.
    """

    steady: ClassVar[bool] = False
    """Whether the steps follow from the order of the parts alone, not from when a call ended."""

    _known = Known()
    """What most clients have: nothing. One for all of them."""

    def __init__(
        self,
        *,
        usage: bool = False,
        taken_id: str | None = None,
        known: Known | None = None,
    ) -> None:
        self.state = _WAITING
        self.told = Told()
        self.calls = Calls()
        self.questions = Questions()
        self._usage = usage
        self._taken_id = taken_id
        if known is not None:
            self._known = known
        self._left: Left | None = None
        """Of a turn that goes on: how much of it is told again before there is news."""
        self._is_known = False
        """Whether the client has all that is told now."""
        self._missed: dict[str, chunks.Chunk] = {}
        """But for this: how calls and questions ended that it has open, each by its id."""
        self._inputs: dict[str, chunks.Chunk] | None = None
        """And the inputs of calls that it has without one. They go before: P3."""
        self._in_step = False
        self._turn_id = "turn"
        self._blocks = _NO_BLOCKS.copy()
        self._block: _Block | None = None

    @property
    def text_block(self) -> str | None:
        """The id of the open text block, if the next delta may simply be appended to it."""
        block = self._block
        if block is None or block.kind is not _TEXT or block.half:
            return None
        return block.id

    def feed(self, event: events.Event) -> list[chunks.Chunk]:
        """Translate one event. Returns the chunks to send now, possibly none."""
        told = self._translated(event)
        if not self._is_known:
            return told
        self._miss(told)
        return []

    def _miss(self, told: list[chunks.Chunk]) -> None:
        for chunk in told:
            match chunk:
                case (
                    chunks.ToolOutputAvailable(its_id)
                    | chunks.ToolOutputError(its_id)
                    | chunks.DataQuestion(its_id)
                ) if its_id in self._known.pending:
                    self._missed[its_id] = chunk
                case chunks.ToolInputAvailable(its_id) if its_id in self._known.blank:
                    if self._inputs is None:
                        self._inputs = {}
                    self._inputs[its_id] = chunk
                case _:
                    pass

    def request(
        self, question: events.Question, approval: events.Approval, approval_id: str
    ) -> list[chunks.Chunk]:
        """Request an approval at its tool's card; tell a question where there can be none."""
        if self.questions.is_full or not (
            self.calls.is_over(approval.call_id) or self._shows(approval)
        ):
            return self.feed(question)
        told = self._card(approval)
        call_id = self.calls.open_id(approval.call_id)
        if call_id is None:
            told += self.questions.ask(question)
        else:
            told += self.questions.request(question.question_id, approval_id, call_id)
        return [] if self._is_known else told

    def requested(self, question: events.Question, approval: events.Approval) -> list[chunks.Chunk]:
        """What is left of a request that is closed by now, or made anew: its place, and its card.

        How the call goes on says how it closed. Where it was told as a question that has to, as far
        as it can be seen: not of one that came when its call was over, or too many were open.
        """
        if question.question_id in self._known.pending or not self._shows(approval):
            return self.feed(question)
        told = self._close_block() if self.calls.is_over(approval.call_id) else self._card(approval)
        return [] if self._is_known else told

    def _shows(self, approval: events.Approval) -> bool:
        """Whether what the card shows is what is approved."""
        return self.calls.shows(approval.call_id, approval.tool_name, approval.args)

    def _card(self, approval: events.Approval) -> list[chunks.Chunk]:
        """The card of the call that waits, at the end of what was said before."""
        args = Raw(b"{}") if approval.args is None else approval.args
        update = events.ToolUpdate(
            call_id=approval.call_id,
            tool_name=approval.tool_name,
            phase=Phase.RUNNING,
            args=args,
        )
        return [*self._close_block(), *self._tool(update)]

    @property
    def waits_for_approval(self) -> bool:
        """Whether nothing can go on until the client approves or denies what it was asked.

        While another tool runs, its outcome is waited for: clients send no response
        before every call of the step has an outcome or a response.
        """
        return self.calls.all_open_are(self.questions.requested)

    def pause(self) -> list[chunks.Chunk]:
        """End the message at its requests; their calls stay as they are."""
        self.state = _CLOSED
        return [*self._close_block(), *self._finish_step(), chunks.Finish()]

    def _translated(self, event: events.Event) -> list[chunks.Chunk]:
        if self.state is _CLOSED:
            return []
        streams = self.state is _STREAMING
        match event:  # tried in this order: what every turn has comes first
            case events.TextDelta(text) if streams:
                return self._write(_TEXT, text)
            case events.TurnStarted(turn_id) if streams:
                self._turn_id = harmless.mend(turn_id)
                self.told.start_over()
                return []
            case events.TurnStarted(turn_id):
                return self._start(turn_id)
            case events.TurnFinished(reason=reason, final_text=str(final)) if streams:
                return [*self._rest(final), *self._end(reason, event.error, event.usage)]
            case events.TurnFinished(reason=reason):
                return self._end(reason, event.error, event.usage)
            case events.AgentStatus(status, detail):
                shown = UNSET if detail is None else harmless.mend(detail)
                return [chunks.DataAgentStatus(chunks.StatusData(harmless.mend(status), shown))]
            case events.Queued():
                return [chunks.DataAgentStatus(chunks.StatusData("queued"))]
            case events.ReasoningDelta(text) if streams:
                return self._write(_REASONING, text)
            case events.ToolUpdate() if streams:
                return self._tool(event)
            case events.FilePart() | events.SourceUrl() if streams:
                return self._media(event)
            case events.Question() if streams:
                return [*self._close_block(), *self.questions.ask(event)]
            case events.Question():
                # Somebody must be able to answer, or the turn may never begin.
                return [*self._start(None), *self.questions.ask(event)]
            case events.QuestionClosed() if streams:
                return self._between(self.questions.close(event))
            case events.TurnContinued(turn_id) if not streams:
                self._is_known = True
                self._left = Left(self._known)
                return self._start(turn_id)
            case events.PerhapsKnown() if streams and self._is_known:
                return self._go_on()
            case events.CaughtUp() if streams and self._left is not None:
                told = self._go_on() if self._is_known else []
                self._left = None
                return told
            case events.Replied(question_id) if streams:
                self.questions.replied(question_id)
                return []
            case _:
                return []

    def fail(self, text: str) -> list[chunks.Chunk]:
        """End the message with an error of the gateway's own."""
        return [] if self.state is _CLOSED else self._end(Reason.ERROR, text, None)

    def _start(self, turn_id: str | None) -> list[chunks.Chunk]:
        self.state = _STREAMING
        self._in_step = True
        if turn_id is None:
            return [chunks.Start(), chunks.StartStep()]
        self._turn_id = harmless.mend(turn_id)
        if self._turn_id == self._taken_id:
            self._turn_id += ":answer"
        return [chunks.Start(self._turn_id), chunks.StartStep()]

    def _go_on(self) -> list[chunks.Chunk]:
        """Go on in the message that the client has, and in its last step.

        A step of its own would part the outcomes from their calls: clients look at the
        last step alone to tell whether something is to be sent, and some send for ever.
        """
        self._close_block()
        self._is_known = self._in_step = False
        known = {_TEXT: self._known.texts, _REASONING: self._known.reasonings}
        self._blocks = {kind: max(told, known[kind]) for kind, told in self._blocks.items()}
        missed = [*(self._inputs or {}).values(), *self._missed.values()]
        self.calls.has_input = self._known.pending - self._known.blank
        if self._known.message_id is None:
            return [chunks.Start(), *missed]
        return [chunks.Start(harmless.mend(self._known.message_id)), *missed]

    def _finish_step(self) -> list[chunks.Chunk]:
        in_step, self._in_step = self._in_step, False
        return [chunks.FinishStep()] if in_step else []

    def _news(self, kind: _Kind, text: str) -> str:
        """What the client lacks of a text, where the turn goes on."""
        if self._left is None:
            return text
        has = self._left.take(What[kind.name], len(text))
        if self._is_known:
            return text  # nothing is sent, but blocks and lengths are counted
        if kind is _TEXT:
            self.told.add(harmless.mend(text[:has]))
        return text[has:]

    def _media(self, event: events.FilePart | events.SourceUrl) -> list[chunks.Chunk]:
        parts = media.told(event)
        what = What.FILES if isinstance(event, events.FilePart) else What.SOURCES
        if parts and self._left is not None and self._left.take(what):
            return []
        return self._between(parts)

    def _write(self, kind: _Kind, text: str) -> list[chunks.Chunk]:
        text = self._news(kind, text)
        block = self._block
        opening: list[chunks.Chunk] = []
        if block is not None and block.kind is kind:
            text = block.half + text
        elif not text:
            return []
        else:
            opening, block = self._open_block(kind)
        whole, block.half = harmless.split_half(text)
        return [*opening, *self._delta(block, whole)]

    def _rest(self, final_text: str) -> list[chunks.Chunk]:
        """What `final_text` has beyond the text sent; the half that waits is part of it."""
        tail = self.told.missing(harmless.mend(final_text))
        if tail and self._block is not None and self._block.kind is _TEXT:
            self._block.half = ""
        return self._write(_TEXT, tail)

    def _delta(self, block: _Block, text: str) -> list[chunks.Chunk]:
        shown = harmless.mend(text)
        if not shown:
            return []
        if block.kind is _REASONING:
            return [chunks.ReasoningDelta(block.id, shown)]
        self.told.add(shown)
        return [chunks.TextDelta(block.id, shown)]

    def _open_block(self, kind: _Kind) -> tuple[list[chunks.Chunk], _Block]:
        """Open a block, in a new step if the tools of this one all have an outcome.

        A new step while a call is open would leave a second card open for ever
        in clients from 2026 on.
        """
        opening = self._close_block()
        if self.calls.step_has_calls and (self.steady or not self.calls.open):
            self.calls.next_step()
            opening += [*self._finish_step(), chunks.StartStep()]
            self._in_step = True
        block = self._block = _Block(kind, f"{self._turn_id}:{kind.value}{self._blocks[kind]}")
        self._blocks[kind] += 1
        if kind is _TEXT:
            return [*opening, chunks.TextStart(block.id)], block
        return [*opening, chunks.ReasoningStart(block.id)], block

    def _close_block(self) -> list[chunks.Chunk]:
        block, self._block = self._block, None
        if block is None:
            return []
        last = self._delta(block, block.half)
        if block.kind is _TEXT:
            return [*last, chunks.TextEnd(block.id)]
        return [*last, chunks.ReasoningEnd(block.id)]

    def _between(self, parts: list[chunks.Chunk]) -> list[chunks.Chunk]:
        """Parts that stand between blocks: what follows them stands below them."""
        return [*self._close_block(), *parts] if parts else []

    def _tool(self, event: events.ToolUpdate) -> list[chunks.Chunk]:
        parts = self._between(self.calls.update(event))
        if parts:
            self.told.tool()
        return parts

    def _end(self, reason: Reason, error: str | None, usage: Raw | None) -> list[chunks.Chunk]:
        if self.state is _STREAMING:
            unanswered = CANCELED if reason is Reason.CANCELED else NO_RESULT
            closing: list[chunks.Chunk] = [
                *self._close_block(),
                *self.questions.expire(),
                *self.calls.settle(unanswered),
                *self._finish_step(),
            ]
        else:
            closing = [chunks.Start()]
        self.state = _CLOSED
        match reason:
            case Reason.END_TURN:
                verdict: list[chunks.Chunk] = []
            case Reason.CANCELED:
                verdict = [chunks.Abort()]
            case Reason.ERROR:
                verdict = [chunks.Error(harmless.error_text(error, TURN_FAILED))]
            case _:
                assert_never(reason)
        return [*closing, *verdict, self._finish(usage)]

    def _finish(self, usage: Raw | None) -> chunks.Chunk:
        if not self._usage or usage is None or not bytes(usage).startswith(b"{"):
            return chunks.Finish()
        return chunks.Finish(Raw(b'{"usage":%b}' % bytes(harmless.value(usage))))
