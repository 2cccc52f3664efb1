"""Translates the events of one turn into chunks.

Use: make one `Translator` for each stream. `feed(event)` returns the chunks to send. `fail(text)`
ends the message with an error of the gateway, `pause()` ends it at requests for approval.

Rule 1: this module makes every decision about which chunks are sent, and in what order,
with the modules that it uses (`blocks`, `tool_calls`, `questions`, `media`, `data_parts`,
`part_count`, `sent_text`, `replayed_turn` and `finish`).

Rule 2: no I/O, no clock, no log, no wire format. The same events give the same
chunks, so that a recorded turn can be replayed on any machine.

    WAITING --TurnStarted | Question--> STREAMING --TurnFinished | fail | pause--> CLOSED
       |                                                                             ^
       +--------------------------- TurnFinished | fail ----------------------------+

If a client already has the beginning of a turn, the dialect replays the turn from
`ReplayStarted` on. The translator handles the replayed events like any others, but does not
send what the client has. So the state after the replay is the same as without it.

For any sequence of events, the chunks keep six promises, checked against a strict
client model in tests/core/test_promises.py:

    P1  `start` is first (but for transient parts), `finish` last, nothing after it
    P2  a block is opened once, closed once, and only written in between
    P3  a tool output follows that tool's input, and comes once (unless it replaces an error that
        only said: no result); pieces come before the input, preliminary outputs before the output
    P4  the text sent is the text received, in order, once; text that is taken back was text of its
        own, which clients of the profile `7.1` show no more
    P5  no tool call is left without an outcome, except at `pause`: the calls that wait for an
        approval get theirs in the stream that continues the turn
    P6  the stream never ends without `finish`: a silent end looks like success
"""

import enum
from typing import ClassVar, assert_never

from msgspec import Raw

from turnwire.core import events, safe_json
from turnwire.core.body.client_copy import ClientCopy, PartKind
from turnwire.core.events import Phase, Reason
from turnwire.core.ui_stream import chunks, media
from turnwire.core.ui_stream.blocks import Block, Kind, LeftBlocks
from turnwire.core.ui_stream.data_parts import DataParts, part_chunks, status_chunk
from turnwire.core.ui_stream.finish import last_chunks
from turnwire.core.ui_stream.questions import Questions
from turnwire.core.ui_stream.replayed_turn import ReplayedTurn
from turnwire.core.ui_stream.sent_text import SentText
from turnwire.core.ui_stream.tool_calls import NO_RESULT, Calls

CANCELED = "Canceled"
TAKEN_BACK = "Taken back"


class State(enum.Enum):
    WAITING = enum.auto()
    STREAMING = enum.auto()
    CLOSED = enum.auto()


_WAITING, _STREAMING, _CLOSED = State  # names of the module, because attributes of an enum are slow


_TEXT, _REASONING = Kind
_NO_BLOCKS = dict.fromkeys(Kind, 0)


class Translator:
    """One UI message, from `start` to `finish`.

    `usage` puts the agent's token counts into the metadata of `finish`. `native`: the client is
    6.0.0 or newer, and knows preliminary outputs of tools and finish reasons, which 5.0.0 refuses.
    `resets`: it is 7.0.70 or newer, and knows `reset-step`. `taken_id` is the id of the user's
    message: a client overwrites that message if the answer has the same id. `client_copy` says how
    much the client has of the message that a continued turn belongs to.
    """

    has_fixed_steps: ClassVar[bool] = False
    """Whether steps depend on the order of the parts alone, and not on when a call ended."""

    _client_copy = ClientCopy()
    """Empty: most clients have no part of the message. All translators share it."""

    _data_parts: DataParts | None = None
    """None until the first data part: most turns have none."""

    _left: LeftBlocks | None = None
    """The other open blocks; None until an agent tells several texts at once."""

    def __init__(
        self,
        *,
        usage: bool = False,
        native: bool = False,
        resets: bool = False,
        taken_id: str | None = None,
        client_copy: ClientCopy | None = None,
    ) -> None:
        self.state = _WAITING
        self.sent_text = SentText()
        self.calls = Calls()
        self.questions = Questions()
        self._usage = usage
        self._native = native
        self._resets = resets
        self._taken_id = taken_id
        if client_copy is not None:
            self._client_copy = client_copy
        self._replay: ReplayedTurn | None = None
        """When a turn is continued, until all that the client may have was replayed."""
        self._in_step = False
        self._turn_id = "turn"
        self._blocks = _NO_BLOCKS.copy()
        self._block: Block | None = None
        """The block that deltas go into."""

    @property
    def text_block(self) -> str | None:
        """The id of the open text block, if the next delta can be appended to it unchanged."""
        block = self._block
        if block is None or block.kind is not _TEXT or block.half:
            return None
        return block.id

    def feed(self, event: events.Event) -> list[chunks.Chunk]:
        """Translate one event. Returns the chunks to send now, possibly none."""
        new = self._translate(event)
        replay = self._replay
        if replay is None or not replay.is_silent:
            return new
        replay.keep_late(new)
        return []

    @property
    def _is_silent(self) -> bool:
        return self._replay is not None and self._replay.is_silent

    def request(
        self, question: events.Question, approval: events.Approval, approval_id: str
    ) -> list[chunks.Chunk]:
        """Request an approval at the card of its tool; send a question if that is not possible."""
        if self.questions.is_full or not (
            self.calls.is_done(approval.call_id) or self._shows(approval)
        ):
            return self.feed(question)
        new = self._card(approval)
        self.calls.parts.add_lasting()
        call_id = self.calls.open_id(approval.call_id)
        if call_id is None:
            new += self.questions.ask(question)
        else:
            new += self.questions.request(question.question_id, approval_id, call_id)
        return [] if self._is_silent else new

    def feed_closed_request(
        self, question: events.Question, approval: events.Approval
    ) -> list[chunks.Chunk]:
        """Translate a request for approval that is closed, or replaced by a newer one, by now.

        Only its effects on the message remain: the open blocks end, and the card of its call is
        shown. Later phases of the call show how the request was closed. If an earlier stream sent
        the request as a question, the end of the question has to be sent too. The client's copy
        shows an open question, except where the call was done, or too many questions were open,
        when the request came.
        """
        if question.question_id in self._client_copy.pending or not self._shows(approval):
            return self.feed(question)
        self.calls.parts.add_lasting()
        new = self._close_blocks() if self.calls.is_done(approval.call_id) else self._card(approval)
        return [] if self._is_silent else new

    def _shows(self, approval: events.Approval) -> bool:
        """Whether the card of the call shows the same tool and input as the approval."""
        return self.calls.shows(approval.call_id, approval.tool_name, approval.args)

    def _card(self, approval: events.Approval) -> list[chunks.Chunk]:
        """End the open blocks, and return the chunks that show the card of the waiting call."""
        args = approval.args
        if args is None and not self.calls.has_pieces(approval.call_id):
            args = Raw(b"{}")
        update = events.ToolUpdate(
            call_id=approval.call_id,
            tool_name=approval.tool_name,
            phase=Phase.RUNNING,
            args=args,
        )
        return [*self._close_blocks(), *self._tool(update)]

    @property
    def waits_for_approval(self) -> bool:
        """Whether the turn can only continue after the client approves or denies its open calls.

        False while another tool runs: clients send no response
        before every call of the step has an outcome or a response.
        """
        return self.calls.all_open_are_in(self.questions.calls_to_pause_at)

    def pause(self) -> list[chunks.Chunk]:
        """End the message at its requests for approval.

        The calls stay open: the client keeps their cards, and its response continues the turn in
        another stream, which sends their outcomes.
        """
        self.state = _CLOSED
        return [*self._close_blocks(), *self._finish_step(), chunks.Finish()]

    def _translate(self, event: events.Event) -> list[chunks.Chunk]:
        if self.state is _CLOSED:
            return []
        is_streaming = self.state is _STREAMING
        match event:  # the cases are tried in this order: the frequent ones come first
            case events.TextDelta(text) if is_streaming:
                return self._write(_TEXT, text)
            case events.TurnStarted(turn_id) if is_streaming:
                self._turn_id = safe_json.join_surrogates(turn_id)
                self.sent_text.start_over()
                self.calls.start_over()
                return []
            case events.TurnStarted(turn_id):
                return self._start(turn_id)
            case events.TurnFinished(final_text=str(final)) if is_streaming:
                return [*self._write_unsent(final), *self._end(event)]
            case events.TurnFinished():
                return self._end(event)
            case events.ToolUpdate() if is_streaming:
                return self._tool(event)
            case events.ReasoningDelta(text) if is_streaming:
                return self._write(_REASONING, text)
            case events.AgentStatus(status, detail):
                return [status_chunk(status, detail)]
            case events.Queued():
                return [status_chunk("queued")]
            case events.ToolInputDelta() if is_streaming:
                return self._after_tool(self.calls.add_input(event))
            case events.TextBreak() if is_streaming:
                return self._close_block()
            case events.TextSwitch() if is_streaming:
                return self._switch_block(event)
            case events.FilePart() | events.SourceUrl() if is_streaming:
                return self._media(event)
            case events.DataPart(transient=True):
                return [*part_chunks(event)]
            case events.DataPart() if is_streaming:
                return self._data(event)
            case events.StepStarted() if is_streaming:
                return self._begin_step()
            case events.PartsRetracted(since) if is_streaming:
                return self._retract(since)
            case events.Question():
                # It is shown at once: the turn may not begin before it is answered.
                before = self._close_blocks() if is_streaming else self._start(None)
                self.calls.parts.add_lasting()
                return [*before, *self.questions.ask(event)]
            case events.QuestionClosed() if is_streaming:
                return self._between_blocks(self.questions.close(event))
            case events.ReplayStarted(turn_id) if not is_streaming:
                self._replay = ReplayedTurn(self._client_copy)
                return self._start(turn_id)
            case events.ReplayUncertain() if is_streaming and self._replay is not None:
                return self._begin_sending(self._replay)
            case events.ReplayFinished() if is_streaming and self._replay is not None:
                replay, self._replay = self._replay, None
                return self._begin_sending(replay)
            case events.Replied(question_id) if is_streaming:
                self.questions.mark_replied(question_id)
                return []
            case (
                events.TextDelta()
                | events.ReplayStarted()
                | events.ReplayUncertain()
                | events.ReplayFinished()
                | events.ReasoningDelta()
                | events.TextBreak()
                | events.TextSwitch()
                | events.StepStarted()
                | events.PartsRetracted()
                | events.ToolInputDelta()
                | events.ToolUpdate()
                | events.FilePart()
                | events.SourceUrl()
                | events.DataPart()
                | events.Replied()
                | events.QuestionClosed()
            ):
                return []
            case _:
                assert_never(event)

    def fail(self, text: str) -> list[chunks.Chunk]:
        """End the message with an error of the gateway."""
        if self.state is _CLOSED:
            return []
        return self._end(events.TurnFinished(reason=Reason.ERROR, error=text))

    def _start(self, turn_id: str | None) -> list[chunks.Chunk]:
        self.state = _STREAMING
        self._in_step = True
        if turn_id is None:
            return [chunks.Start(), chunks.StartStep()]
        self._turn_id = safe_json.join_surrogates(turn_id)
        if self._turn_id == self._taken_id:
            self._turn_id += ":answer"
        return [chunks.Start(self._turn_id), chunks.StartStep()]

    def _begin_sending(self, replay: ReplayedTurn) -> list[chunks.Chunk]:
        """Continue the client's message, in its last step, unless that was done already.

        A new step would separate the outcomes from their calls: clients look at the
        last step alone to decide whether to send a request, and some would send forever.
        """
        if not replay.is_silent:
            return []
        client_copy = self._client_copy
        self._close_blocks()
        self._in_step = False
        at_client = {_TEXT: client_copy.text_blocks, _REASONING: client_copy.reasoning_blocks}
        self._blocks = {kind: max(count, at_client[kind]) for kind, count in self._blocks.items()}
        self.calls.stop_deltas()
        self.calls.inputs_at_client = client_copy.pending - client_copy.without_input
        return replay.begin_sending()

    def _finish_step(self) -> list[chunks.Chunk]:
        in_step, self._in_step = self._in_step, False
        return [chunks.FinishStep()] if in_step else []

    def _next_step(self) -> list[chunks.Chunk]:
        self.calls.next_step()
        finished, self._in_step = self._finish_step(), True
        return [*finished, chunks.StartStep()]

    def _begin_step(self) -> list[chunks.Chunk]:
        """Begin a step that the agent named; if a call is open, with the next text behind it."""
        closing = self._close_blocks()
        self.sent_text.mark_step(self.calls.parts.end_block())
        if self._replay is not None:
            self._replay.mark_step()
        if not self._has_open_calls and self.calls.is_step_empty:
            self.calls.next_step()
        elif not self._has_open_calls:
            closing += self._next_step()
        return closing

    def _retract(self, since: int) -> list[chunks.Chunk]:
        """Take back the parts from the position `since` on; those of the whole step by a reset.

        A client that knows no reset keeps them, and the next attempt has a step of its own.
        """
        closing, parts = self._close_blocks(), self.calls.parts
        if since >= parts.count:
            return closing
        is_sent = self._replay is None or self._replay.is_silent
        is_whole_step = self._in_step and since <= parts.step_since and not parts.holds_lasting
        open_calls = self.calls.retract(since, TAKEN_BACK)
        self.sent_text = self.sent_text.retracted(since)
        if self._resets and is_sent and is_whole_step:
            self.calls.forget_step()
            if self._replay is not None:
                self._replay.reset_step()
            return [*closing, chunks.ResetStep()]
        return [*closing, *open_calls, *([] if self._has_open_calls else self._next_step())]

    @property
    def _has_open_calls(self) -> bool:
        """Whether an open call keeps the next step from beginning.

        Clients from 2026 on would show a second card for it, which stays open forever.
        """
        return not self.has_fixed_steps and self.calls.open > 0

    def _skip_sent(self, kind: Kind, text: str) -> str:
        """When a turn is continued: return the part of `text` that the client does not have."""
        if self._replay is None:
            return text
        skipped = self._replay.take(PartKind[kind.name], len(text))
        if self._replay.is_silent:
            return text  # nothing is sent, but blocks and lengths are counted
        if kind is _TEXT:
            self.sent_text.add(safe_json.join_surrogates(text[:skipped]))
        return text[skipped:]

    def _media(self, event: events.FilePart | events.SourceUrl) -> list[chunks.Chunk]:
        self.calls.parts.add()
        parts = media.part_chunks(event)
        if parts and self._replay is not None and self._replay.take(media.part_kind(event)):
            return []
        return self._between_blocks(parts)

    def _data(self, part: events.DataPart) -> list[chunks.Chunk]:
        """Return a data part; one that replaces another leaves the open blocks open."""
        if self._data_parts is None:
            self._data_parts = DataParts()
        for chunk in part_chunks(part):
            if self._data_parts.add(chunk):
                return [chunk]
            (self.calls.parts.add_lasting if chunk.id else self.calls.parts.add)()
            if chunk.id or self._replay is None or not self._replay.take(PartKind.DATA):
                return self._between_blocks([chunk])
        return []

    def _write(self, kind: Kind, text: str) -> list[chunks.Chunk]:
        text = self._skip_sent(kind, text)
        block = self._block
        opening: list[chunks.Chunk] = []
        if block is not None and block.kind is kind:
            text = block.half + text
        elif not text:
            return []
        else:
            opening, block = self._open_block(kind)
        complete, block.half = safe_json.split_half(text)
        return [*opening, *self._delta(block, complete)]

    def _write_unsent(self, final_text: str) -> list[chunks.Chunk]:
        """Write the end of `final_text` that was not sent. It repeats the half that waits."""
        suffix = self.sent_text.unsent_suffix(safe_json.join_surrogates(final_text))
        if suffix and self._block is not None and self._block.kind is _TEXT:
            self._block.half = ""
        return self._write(_TEXT, suffix)

    def _delta(self, block: Block, text: str) -> list[chunks.Chunk]:
        delta = safe_json.join_surrogates(text)
        if not delta:
            return []
        if block.kind is _REASONING:
            return [chunks.ReasoningDelta(block.id, delta)]
        self.sent_text.add(delta)
        return [chunks.TextDelta(block.id, delta)]

    def _open_block(self, kind: Kind) -> tuple[list[chunks.Chunk], Block]:
        """Open a block, in a new step if all calls of the current step have an outcome."""
        begins_step = self.calls.step_has_calls and not self._has_open_calls
        others = self._left
        is_beside = self._block is None and others is not None and others.kind is kind
        opening = [] if is_beside and not begins_step else self._close_blocks()
        if begins_step:
            opening += self._next_step()
        self.calls.parts.add_block(kind)
        block = self._block = Block(kind, self._turn_id, self._blocks[kind])
        self._blocks[kind] += 1
        if kind is _TEXT:
            return [*opening, chunks.TextStart(block.id)], block
        return [*opening, chunks.ReasoningStart(block.id)], block

    def _close_block(self) -> list[chunks.Chunk]:
        """End the block that deltas go into, if there is one."""
        block, self._block = self._block, None
        return [] if block is None else self._close(block)

    def _close_blocks(self) -> list[chunks.Chunk]:
        """End all open blocks, in the order in which they were opened."""
        if self._left is None:
            return self._close_block()
        block, self._block = self._block, None
        return [chunk for each in self._left.take(block) for chunk in self._close(each)]

    def _switch_block(self, event: events.TextSwitch) -> list[chunks.Chunk]:
        if self._left is None:
            self._left = LeftBlocks()
        self._block, ended = self._left.switch(self._block, event)
        return [chunk for each in ended for chunk in self._close(each)]

    def _close(self, block: Block) -> list[chunks.Chunk]:
        last = self._delta(block, block.half) if block.half else []
        if block.kind is _TEXT:
            return [*last, chunks.TextEnd(block.id)]
        return [*last, chunks.ReasoningEnd(block.id)]

    def _between_blocks(self, parts: list[chunks.Chunk]) -> list[chunks.Chunk]:
        """End the open blocks and put `parts` after them: later text begins another block."""
        return [*self._close_blocks(), *parts] if parts else []

    def _tool(self, event: events.ToolUpdate) -> list[chunks.Chunk]:
        parts = self.calls.update(event)
        if not event.preliminary:
            return self._after_tool(parts)
        # A preliminary output would hide the request for an approval of its call.
        if not self._native or self.questions.is_requested(self.calls.open_id(event.call_id)):
            parts = [part for part in parts if not isinstance(part, chunks.ToolOutputPreliminary)]
        return self._after_tool(parts)

    def _after_tool(self, tool_chunks: list[chunks.Chunk]) -> list[chunks.Chunk]:
        parts = self._between_blocks(tool_chunks)
        if parts:
            self.sent_text.mark_tool()
        return parts

    def _end(self, end: events.TurnFinished) -> list[chunks.Chunk]:
        if self.state is _STREAMING:
            unanswered = CANCELED if end.reason is Reason.CANCELED else NO_RESULT
            closing: list[chunks.Chunk] = [
                *self._close_blocks(),
                *self.questions.expire(),
                *self.calls.settle(unanswered),
                *self._finish_step(),
            ]
        else:
            closing = [chunks.Start()]
        self.state = _CLOSED
        return [*closing, *last_chunks(end, usage=self._usage, native=self._native)]
