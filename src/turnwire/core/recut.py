"""Chunks cut and numbered anew, for a client that counts them and asks for the rest by a number.

`WorkflowChatTransport` does: after a broken connection it asks for the chunks
from the n-th on, and whoever answers has only what the agent keeps of the turn,
where deltas are merged and every call stands with its outcome. So the number of
a chunk must follow from the turn's content alone:

* text is cut at words, whatever the agent's deltas were;
* a status is left out;
* calls and questions are told at any time, in any order, more than once: all
  that matters is what was told last. So a run of their chunks gets more room
  than it needs, which is filled up before the next chunk of another kind. A
  client that was cut off within it is told the run again in what is left of it,
  and an outcome that comes later goes where the next room is.

What fills up is the agent's last status: a transient chunk, which no message ever holds.
"""

import re
from collections import deque
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from turnwire.core import chunks
from turnwire.core.bounds import WAITING_BYTES_MAX, SomeId, Word
from turnwire.core.chunks import Chunk
from turnwire.core.harmless import TOO_LONG
from turnwire.core.tools import CALLS_MAX

PIECE_MAX: Final = 24
"""Longest delta, in characters."""

TIMES: Final = 3
"""How often the room of a run could hold it. After three breaks in a row such a client gives up."""

RUN_MAX: Final = 256
"""Calls and questions of one run. What follows begins another, so that no run fills up very many
chunks at once; and as this follows from the turn's content too, it changes no number."""

_CALL: Final = 3
"""Chunks of a call: its name, its input, its outcome."""
_QUESTION: Final = 2
"""Chunks of a question: open, and closed."""

_WORD: Final = re.compile(r"\s*\S+(?=\s)")

_OfRun = (
    chunks.ToolInputStart
    | chunks.ToolInputAvailable
    | chunks.ToolOutputAvailable
    | chunks.ToolOutputError
    | chunks.ToolApprovalRequest
    | chunks.DataQuestion
)
_Kept = TypeVar("_Kept", bound=_OfRun)
_Outcome = chunks.ToolOutputAvailable | chunks.ToolOutputError | chunks.DataQuestion
_Delta = chunks.TextDelta | chunks.ReasoningDelta


class _State(Struct, rename="camel"):
    """All that is kept of a question where too much waits."""

    question_id: SomeId = ""
    state: Word = ""


_state = msgspec.json.Decoder(_State).decode


class _Run:
    """Chunks of calls and questions with nothing else between them."""

    def __init__(self, begins_at: int, room: int = 0) -> None:
        self.begins_at = begins_at
        self.room = room
        self.used = self.begun = 0
        self.again: deque[_OfRun] = deque()
        """What the client may have already."""
        self.blank: dict[str, str] = {}
        """Calls that have no input yet, and the names of their tools."""


class Recut:
    """The chunks of one turn. `skip` is the number of those that the client has."""

    def __init__(self, skip: int = 0) -> None:
        self._skip = skip
        self._at = 0
        """The number of the next chunk."""
        self._out: list[Chunk] = []
        self._word = ""
        """The end of the open block, which may not be whole."""
        self._run: _Run | None = None
        self._calls: dict[str, None] = {}
        """Those without an outcome."""
        self._questions: dict[str, None] = {}
        self._begun = 0
        """Calls and questions of the turn."""
        self._late: dict[str, _Outcome] = {}
        """What came of calls and questions after their run, and has no room yet."""
        self._waiting_bytes = 0
        self._status = chunks.DataAgentStatus(chunks.StatusData("streaming"))

    def take(self, told: list[Chunk]) -> list[Chunk]:
        """Cut and number what comes next. Returns what the client has not."""
        is_end = bool(told) and type(told[-1]) is chunks.Finish
        for chunk in told:
            match chunk:
                case chunks.DataAgentStatus(data):  # without what it says besides: it fills up much
                    self._status = chunks.DataAgentStatus(chunks.StatusData(data.status[:64]))
                case chunks.TextDelta(block_id, delta):
                    for piece in self._pieces(delta):
                        self._tell(chunks.TextDelta(block_id, piece))
                case chunks.ReasoningDelta(block_id, delta):
                    for piece in self._pieces(delta):
                        self._tell(chunks.ReasoningDelta(block_id, piece))
                case chunks.TextEnd(block_id):
                    self._end_word(chunks.TextDelta(block_id, self._word))
                    self._tell(chunk)
                case chunks.ReasoningEnd(block_id):
                    self._end_word(chunks.ReasoningDelta(block_id, self._word))
                    self._tell(chunk)
                case chunks.ToolInputStart(call_id, name):
                    self._calls[call_id] = None
                    self._begin(call_id, _CALL, chunk).blank[call_id] = name
                case chunks.ToolInputAvailable(call_id, name) if call_id not in self._calls:
                    self._calls[call_id] = None
                    self._begin(call_id, _CALL, chunks.ToolInputStart(call_id, name))
                    self._follow(call_id, chunk)
                case chunks.ToolInputAvailable(call_id) | chunks.ToolApprovalRequest(_, call_id):
                    self._follow(call_id, chunk)
                case chunks.ToolOutputAvailable(call_id) | chunks.ToolOutputError(call_id):
                    self._calls.pop(call_id, None)
                    self._follow(call_id, chunk)
                case chunks.DataQuestion(question_id) if question_id not in self._questions:
                    if len(self._questions) >= CALLS_MAX:
                        del self._questions[next(iter(self._questions))]
                    self._questions[question_id] = None
                    self._begin(question_id, _QUESTION, chunk)
                case chunks.DataQuestion(question_id):
                    self._follow(question_id, chunk)
                case chunks.FinishStep() if is_end:
                    self._close_run()
                    # Whatever came late has room here.
                    self._run = _Run(self._at, min(self._begun, CALLS_MAX) * TIMES)
                    self._tell(chunk)
                case _:
                    self._tell(chunk)
        out, self._out = self._out, []
        return out

    def follows(self, chunk: Chunk) -> bool:
        """Whether it is about a call or a question that was told before."""
        match chunk:
            case chunks.ToolInputAvailable(call_id):
                return call_id in self._calls
            case chunks.DataQuestion(question_id):
                return question_id in self._questions
            case _:
                return isinstance(chunk, chunks.ToolOutputAvailable | chunks.ToolOutputError)

    def _pieces(self, delta: str) -> list[str]:
        """Whole words; what is not whole yet is kept."""
        text = self._word + delta
        pieces: list[str] = []
        at = 0
        while True:
            # No further on, or a long text without a space would be read anew for each piece.
            word = _WORD.match(text, at, at + PIECE_MAX + 1)
            if word is not None:
                end = word.end()
            elif len(text) - at >= PIECE_MAX:
                end = at + PIECE_MAX
            else:
                break
            pieces.append(text[at:end])
            at = end
        self._word = text[at:]
        return pieces

    def _end_word(self, rest: _Delta) -> None:
        self._word = ""
        if rest.delta:
            self._tell(rest)

    def _tell(self, chunk: Chunk) -> None:
        """A chunk whose place follows from the turn's content."""
        self._close_run()
        if self._at >= self._skip or type(chunk) is chunks.Finish:
            self._out.append(chunk)
        self._at += 1

    def _begin(self, its_id: str, size: int, chunk: _OfRun) -> _Run:
        """A call or a question is told for the first time."""
        if self._run is not None and self._run.begun >= RUN_MAX:
            self._close_run()
        if self._run is None:
            self._run = _Run(self._at)
        self._begun += 1
        self._run.begun += 1
        self._run.room += size * TIMES
        self._follow(its_id, chunk)
        return self._run

    def _follow(self, its_id: str, chunk: _OfRun) -> None:
        """What is told of a call or a question."""
        run = self._run
        if run is None or run.used >= run.room:
            self._be_late(its_id, chunk)
            return
        if isinstance(chunk, chunks.ToolInputAvailable):
            run.blank.pop(its_id, None)
        self._late.pop(its_id, None)
        if run.begins_at < self._skip and not run.used:
            run.again.append(chunk)
            self._catch_up(only_whole=True)
            if run.again:
                run.again[-1] = self._kept(chunk)
            if len(run.again) > run.room:
                oldest = run.again.popleft()
                self._be_late(_id(oldest), oldest)
        else:
            self._out.append(chunk)
            run.used += 1

    def _catch_up(self, *, only_whole: bool = False) -> None:
        """Tell the run again, as far as there is room, to a client that was cut off within it."""
        run = self._run
        if run is None or not run.again:
            return
        has = self._skip - run.begins_at
        free = run.room - has
        if free > 0 and (free >= len(run.again) or not only_whole):
            cut = max(0, len(run.again) - free)
            again = list(run.again)
            left_out, told = again[:cut], again[cut:]
            run.again.clear()
            self._waiting_bytes = sum(map(_size, self._late.values()))
            self._out += told
            run.used = has + len(told)
            ids = {_id(chunk) for chunk in told}
            for chunk in left_out:
                if _id(chunk) not in ids:
                    self._be_late(_id(chunk), chunk)

    def _close_run(self) -> None:
        """Fill up the room of the run, which is over: what is told next has its place."""
        self._fill_in()
        run, self._run = self._run, None
        if run is None:
            return
        self._at = run.begins_at + run.room
        if self._at <= self._skip:
            # It may have ended before its outcomes were told.
            for chunk in run.again:
                self._be_late(_id(chunk), chunk)
            return
        self._run = run
        self._catch_up()
        self._run = None
        run.used = max(run.used, self._skip - run.begins_at)
        late = list(self._late)[: run.room - run.used]
        self._out += [self._late.pop(key) for key in late]
        self._waiting_bytes = sum(map(_size, self._late.values()))
        self._out += [self._status] * (run.room - run.used - len(late))

    def _fill_in(self) -> None:
        """Give the calls of the run an input that have none, while there is a place for it.

        Its own would come too late, and its outcome would stand in a card without any.
        """
        for call_id, name in [] if self._run is None else list(self._run.blank.items()):
            self._follow(call_id, chunks.ToolInputAvailable(call_id, name, Raw(b"{}")))

    def _be_late(self, its_id: str, chunk: _OfRun) -> None:
        # An input that comes in another step than its call would be a second card.
        if isinstance(chunk, _Outcome):
            self._late[its_id] = self._kept(chunk)

    def _kept(self, chunk: _Kept) -> _Kept:
        """What waits for its room, and is told without its content where too much waits."""
        self._waiting_bytes += _size(chunk)
        if self._waiting_bytes <= WAITING_BYTES_MAX:
            return chunk
        match chunk:
            case chunks.ToolInputAvailable():
                return replace(chunk, input=Raw(TOO_LONG))
            case chunks.ToolOutputAvailable():
                return replace(chunk, output=Raw(TOO_LONG))
            case chunks.DataQuestion(data=data):
                return replace(chunk, data=Raw(msgspec.json.encode(_state(data))))
            case _:
                return chunk


def _size(chunk: _OfRun) -> int:
    """How long it is, where it may be long."""
    match chunk:
        case chunks.ToolInputAvailable(input=kept) | chunks.ToolOutputAvailable(output=kept):
            return len(kept)
        case chunks.DataQuestion(data=kept):
            return len(kept)
        case _:
            return 0


def _id(chunk: _OfRun) -> str:
    return chunk.id if isinstance(chunk, chunks.DataQuestion) else chunk.tool_call_id
