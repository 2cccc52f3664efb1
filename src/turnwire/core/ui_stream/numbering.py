"""A translator for clients that count chunks and ask for the chunks after a number.

Use: `Numbered(skip=n)` in place of a `Translator`. It leaves out the first `n` chunks of the turn,
which the client has. `Renumbering` does the same work on chunks that are already made.

`WorkflowChatTransport` is such a client: after a broken connection it asks for the chunks
from the n-th on. The gateway then has only the agent's copy of the turn, where deltas are
merged and every call stands beside its outcome. So the number of a chunk must follow from
the content of the turn alone:

* Text is cut at the ends of words, however the agent cut its deltas.
* A status chunk has no number of its own. Other transient parts, pieces of tool inputs and
  preliminary outputs are not sent: the agent does not repeat them.
* Chunks of calls, questions and data parts with an id may come at any time, in any order, and
  more than once; only the last state of each matters. So a *run*, which is a row of such chunks
  with no other chunk between them, reserves more numbers than it needs. When a chunk of another
  kind follows, the unused numbers of the run are filled with padding. If a client lost its
  connection inside of a run, the run is sent again in the rest of its numbers. An outcome that
  comes after the end of its run is sent in the next run that has free numbers.

The padding is the last status of the agent: a transient chunk, which never enters a message.
"""

import re
from collections import deque
from typing import ClassVar, Final, TypeVar, assert_never

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from turnwire.core import events
from turnwire.core.bounds import WAITING_BYTES_MAX, SomeId, Word, keep
from turnwire.core.safe_json import TOO_LONG
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.data_parts import DataParts
from turnwire.core.ui_stream.tool_calls import CALLS_MAX
from turnwire.core.ui_stream.translator import Translator

PIECE_MAX: Final = 24
"""Longest delta, in characters."""

RUN_COPIES: Final = 3
"""A run reserves numbers for so many copies of its chunks. `WorkflowChatTransport` gives up after
three broken connections in a row."""

RUN_MAX: Final = 256
"""Most calls and questions of one run; the next one begins another run.

So no run needs a very long padding. This rule too follows from the content of the turn alone,
so the numbers stay the same.
"""

_CALL: Final = 3
"""Chunks of a call: start, input, outcome."""
_QUESTION: Final = 2
"""Chunks of a question: open, closed."""
_DATA: Final = 2
"""Chunks of a data part with an id: its first data, its last data."""

_WORD: Final = re.compile(r"\s*\S+(?=\s)")

_OfRun = (
    chunks.ToolInputStart
    | chunks.ToolInputAvailable
    | chunks.ToolOutputAvailable
    | chunks.ToolOutputError
    | chunks.ToolApprovalRequest
    | chunks.DataQuestion
    | chunks.DataPart
)
_Kept = TypeVar("_Kept", bound=_OfRun)
_Outcome = (
    chunks.ToolOutputAvailable | chunks.ToolOutputError | chunks.DataQuestion | chunks.DataPart
)
_Delta = chunks.TextDelta | chunks.ReasoningDelta


class _State(Struct, rename="camel"):
    """The fields of a question that are kept when too many bytes wait."""

    question_id: SomeId = ""
    state: Word = ""


_state = msgspec.json.Decoder(_State).decode


class _Run:
    """A row of chunks of calls and questions, with no other chunk between them.

    `first` is the number of its first chunk, `size` the count of the numbers that it reserves.
    """

    def __init__(self, first: int, size: int = 0) -> None:
        self.first = first
        self.size = size
        self.used = self.count = 0
        """Numbers of the run that are used, and calls and questions that began in the run."""
        self.repeats: deque[_OfRun] = deque()
        """Chunks that the client may have already. They may have to be sent again."""
        self.without_input: dict[str, str] = {}
        """Names of the tools of calls that have no input yet, by call id."""


class Renumbering:
    """Cuts and numbers the chunks of one turn. `skip`: the client has the first `skip` chunks."""

    def __init__(self, skip: int = 0) -> None:
        self._skip = skip
        self._next = 0
        """The number of the next chunk."""
        self._has_failed = False
        self._out: list[Chunk] = []
        self._words: dict[str, str] = {}
        """The last characters of each open block, by its id, if their word may still go on."""
        self._run: _Run | None = None
        self._calls: dict[str, None] = {}
        """Ids of the calls without an outcome. The dicts are ordered sets."""
        self._questions: dict[str, None] = {}
        self._data = DataParts()
        self._count = 0
        """Calls, questions and data parts that began in the turn."""
        self._late: dict[str, _Outcome] = {}
        """Outcomes that came after the run of their call or question. They wait for a number."""
        self._waiting_bytes = 0
        self._status = chunks.DataAgentStatus(chunks.StatusData("streaming"))

    def fail(self, new: list[Chunk]) -> list[Chunk]:
        """Take the last chunks of a turn that the gateway ends. Its error is sent in any case.

        The client may have more chunks than the turn has here: a process that died had sent more
        than it kept. Without the error the turn would look complete.
        """
        self._has_failed = True
        return self.take(new)

    def take(self, new: list[Chunk]) -> list[Chunk]:
        """Cut and number the next chunks. Returns the chunks that the client does not have yet."""
        is_end = bool(new) and type(new[-1]) is chunks.Finish
        for chunk in new:
            match chunk:
                case chunks.DataAgentStatus(data):  # without its detail: padding repeats it often
                    self._status = chunks.DataAgentStatus(chunks.StatusData(data.status[:64]))
                case chunks.TextDelta(block_id, delta):
                    for piece in self._pieces(block_id, delta):
                        self._add(chunks.TextDelta(block_id, piece))
                case chunks.ReasoningDelta(block_id, delta):
                    for piece in self._pieces(block_id, delta):
                        self._add(chunks.ReasoningDelta(block_id, piece))
                case chunks.TextEnd(block_id):
                    self._end_word(chunks.TextDelta(block_id, self._words.pop(block_id, "")))
                    self._add(chunk)
                case chunks.ReasoningEnd(block_id):
                    self._end_word(chunks.ReasoningDelta(block_id, self._words.pop(block_id, "")))
                    self._add(chunk)
                case chunks.ToolInputStart(call_id, name):
                    self._calls[call_id] = None
                    self._begin(call_id, _CALL, chunk).without_input[call_id] = name
                case chunks.ToolInputAvailable(call_id, name) if call_id not in self._calls:
                    self._calls[call_id] = None
                    self._begin(call_id, _CALL, chunks.ToolInputStart(call_id, name))
                    self._add_to_run(call_id, chunk)
                case chunks.ToolInputAvailable(call_id) | chunks.ToolApprovalRequest(_, call_id):
                    self._add_to_run(call_id, chunk)
                case chunks.ToolOutputAvailable(call_id) | chunks.ToolOutputError(call_id):
                    self._calls.pop(call_id, None)
                    self._add_to_run(call_id, chunk)
                case chunks.DataQuestion(question_id) if question_id not in self._questions:
                    keep(self._questions, question_id, None, CALLS_MAX)
                    self._begin(question_id, _QUESTION, chunk)
                case chunks.DataQuestion(question_id):
                    self._add_to_run(question_id, chunk)
                case chunks.DataPart(id=str()) if not chunk.transient:
                    if self._data.add(chunk):
                        self._add_to_run(_id(chunk), chunk)
                    else:
                        self._begin(_id(chunk), _DATA, chunk)
                case chunks.DataPart() if not chunk.transient:
                    self._add(chunk)
                case chunks.DataPart() | chunks.ToolInputDelta() | chunks.ToolOutputPreliminary():
                    pass
                case chunks.FinishStep() if is_end:
                    self._close_run()
                    # A last run without calls of its own: late outcomes are sent in its numbers.
                    self._run = _Run(self._next, min(self._count, CALLS_MAX) * RUN_COPIES)
                    self._add(chunk)
                case (
                    chunks.Start()
                    | chunks.StartStep()
                    | chunks.FinishStep()
                    | chunks.ResetStep()
                    | chunks.TextStart()
                    | chunks.ReasoningStart()
                    | chunks.File()
                    | chunks.SourceUrl()
                    | chunks.Error()
                    | chunks.Abort()
                    | chunks.Finish()
                ):
                    self._add(chunk)
                case _:
                    assert_never(chunk)
        out, self._out = self._out, []
        return out

    def follows(self, chunk: Chunk) -> bool:
        """Whether the chunk is about a call or a question that has had a chunk before."""
        match chunk:
            case chunks.ToolInputAvailable(call_id):
                return call_id in self._calls
            case chunks.DataQuestion(question_id):
                return question_id in self._questions
            case (
                chunks.ToolInputDelta()
                | chunks.ToolOutputPreliminary()
                | chunks.ToolOutputAvailable()
                | chunks.ToolOutputError()
            ):
                return True
            case (
                chunks.Start()
                | chunks.StartStep()
                | chunks.FinishStep()
                | chunks.ResetStep()
                | chunks.TextStart()
                | chunks.TextDelta()
                | chunks.TextEnd()
                | chunks.ReasoningStart()
                | chunks.ReasoningDelta()
                | chunks.ReasoningEnd()
                | chunks.ToolInputStart()
                | chunks.ToolApprovalRequest()
                | chunks.File()
                | chunks.SourceUrl()
                | chunks.DataAgentStatus()
                | chunks.DataPart()
                | chunks.Error()
                | chunks.Abort()
                | chunks.Finish()
            ):
                return False
            case _:
                assert_never(chunk)

    def _pieces(self, block_id: str, delta: str) -> list[str]:
        """Return the complete words of the block's text so far. The rest waits in `_words`."""
        text = self._words.get(block_id, "") + delta
        pieces: list[str] = []
        start = 0
        while True:
            # The search is bounded: else a long text without a space is read again for each piece.
            word = _WORD.match(text, start, start + PIECE_MAX + 1)
            if word is not None:
                end = word.end()
            elif len(text) - start >= PIECE_MAX:
                end = start + PIECE_MAX
            else:
                break
            pieces.append(text[start:end])
            start = end
        self._words[block_id] = text[start:]
        return pieces

    def _end_word(self, rest: _Delta) -> None:
        """Send the characters that waited for the end of their word."""
        if rest.delta:
            self._add(rest)

    def _add(self, chunk: Chunk) -> None:
        """Close the run, and send a chunk that has a number of its own."""
        self._close_run()
        is_end = type(chunk) is chunks.Finish or (self._has_failed and type(chunk) is chunks.Error)
        if self._next >= self._skip or is_end:
            self._out.append(chunk)
        self._next += 1

    def _begin(self, item_id: str, size: int, chunk: _OfRun) -> _Run:
        """Add the first chunk of a call or a question to the run, and reserve its numbers."""
        if self._run is not None and self._run.count >= RUN_MAX:
            self._close_run()
        if self._run is None:
            self._run = _Run(self._next)
        self._count += 1
        self._run.count += 1
        self._run.size += size * RUN_COPIES
        self._add_to_run(item_id, chunk)
        return self._run

    def _add_to_run(self, item_id: str, chunk: _OfRun) -> None:
        """Add a chunk of a call or a question to the run, if the run has a free number."""
        run = self._run
        if run is None or run.used >= run.size:
            self._keep_late(item_id, chunk)
            return
        if isinstance(chunk, chunks.ToolInputAvailable):
            run.without_input.pop(item_id, None)
        self._late.pop(item_id, None)
        if run.first < self._skip and not run.used:
            run.repeats.append(chunk)
            self._catch_up(only_whole=True)
            if run.repeats:
                run.repeats[-1] = self._bounded(chunk)
            if len(run.repeats) > run.size:
                oldest = run.repeats.popleft()
                self._keep_late(_id(oldest), oldest)
        else:
            self._out.append(chunk)
            run.used += 1

    def _catch_up(self, *, only_whole: bool = False) -> None:
        """Send the run again to a client that lost its connection inside of it.

        The last chunks are sent, as many as the run has free numbers; with
        `only_whole`, all of them or none.
        """
        run = self._run
        if run is None or not run.repeats:
            return
        client_has = self._skip - run.first
        free = run.size - client_has
        if free > 0 and (free >= len(run.repeats) or not only_whole):
            cut = max(0, len(run.repeats) - free)
            repeats = list(run.repeats)
            left_out, sent = repeats[:cut], repeats[cut:]
            run.repeats.clear()
            self._waiting_bytes = sum(map(_size, self._late.values()))
            self._out += sent
            run.used = client_has + len(sent)
            ids = {_id(chunk) for chunk in sent}
            for chunk in left_out:
                if _id(chunk) not in ids:
                    self._keep_late(_id(chunk), chunk)

    def _close_run(self) -> None:
        """Close the run: fill its unused numbers, so that the number of the next chunk is fixed.

        Late outcomes come first, then status chunks as padding.
        """
        self._add_empty_inputs()
        run, self._run = self._run, None
        if run is None:
            return
        self._next = run.first + run.size
        if self._next <= self._skip:
            # The client has all numbers of the run, but the run may have ended before its outcomes.
            for chunk in run.repeats:
                self._keep_late(_id(chunk), chunk)
            return
        self._run = run
        self._catch_up()
        self._run = None
        run.used = max(run.used, self._skip - run.first)
        late = list(self._late)[: run.size - run.used]
        self._out += [self._late.pop(key) for key in late]
        self._waiting_bytes = sum(map(_size, self._late.values()))
        self._out += [self._status] * (run.size - run.used - len(late))

    def _add_empty_inputs(self) -> None:
        """Give each call of the run that has no input an empty one, while the run has free numbers.

        The real input would come after the run, and the outcome would come without an input.
        """
        for call_id, name in [] if self._run is None else list(self._run.without_input.items()):
            self._add_to_run(call_id, chunks.ToolInputAvailable(call_id, name, Raw(b"{}")))

    def _keep_late(self, item_id: str, chunk: _OfRun) -> None:
        """Keep an outcome until a later run has a free number for it."""
        # Only outcomes: clients show an input in another step than its call as a second card.
        if isinstance(chunk, _Outcome):
            self._late[item_id] = self._bounded(chunk)

    def _bounded(self, chunk: _Kept) -> _Kept:
        """Return the chunk, which has to wait; without its content if too many bytes wait."""
        self._waiting_bytes += _size(chunk)
        if self._waiting_bytes <= WAITING_BYTES_MAX:
            return chunk
        match chunk:
            case chunks.ToolInputAvailable():
                return replace(chunk, input=Raw(TOO_LONG))
            case chunks.ToolOutputAvailable():
                return replace(chunk, output=Raw(TOO_LONG))
            case chunks.DataPart():
                return replace(chunk, data=Raw(TOO_LONG))
            case chunks.DataQuestion(data=data):
                return replace(chunk, data=Raw(msgspec.json.encode(_state(data))))
            case chunks.ToolInputStart() | chunks.ToolOutputError() | chunks.ToolApprovalRequest():
                return chunk
            case _:
                assert_never(chunk)


class Numbered(Translator):
    """A translator for a client that counts chunks. `skip`: the client has the first `skip`."""

    has_fixed_steps: ClassVar[bool] = True

    def __init__(self, *, skip: int = 0, usage: bool = False, taken_id: str | None = None) -> None:
        super().__init__(usage=usage, taken_id=taken_id)
        self._renumbering = Renumbering(skip)

    @property
    def text_block(self) -> str | None:
        """None: no delta may be sent as the agent cut it."""
        return None

    def feed(self, event: events.Event) -> list[Chunk]:
        return self._renumbering.take(super().feed(event))

    def fail(self, text: str) -> list[Chunk]:
        return self._renumbering.fail(super().fail(text))

    def _between_blocks(self, parts: list[Chunk]) -> list[Chunk]:
        # The time at which a call ends must not decide where the text around it is cut.
        if parts and self._renumbering.follows(parts[0]):
            return parts
        return super()._between_blocks(parts)


def _size(chunk: _OfRun) -> int:
    """Return the bytes of the chunk's payload; 0 if the chunk is of a kind that is always short."""
    match chunk:
        case chunks.ToolInputAvailable(input=payload) | chunks.ToolOutputAvailable(output=payload):
            return len(payload)
        case chunks.DataQuestion(data=payload) | chunks.DataPart(data=payload):
            return len(payload)
        case chunks.ToolInputStart() | chunks.ToolOutputError() | chunks.ToolApprovalRequest():
            return 0
        case _:
            assert_never(chunk)


def _id(chunk: _OfRun) -> str:
    if isinstance(chunk, chunks.DataPart):
        return f"{chunk.type}:{chunk.id}"
    return chunk.id if isinstance(chunk, chunks.DataQuestion) else chunk.tool_call_id
