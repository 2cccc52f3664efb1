"""The tool calls of an answer: their inputs, which come in pieces, and what agents say of them.

Pieces of a call have an index, an id, a name, or some of these; servers leave out each, repeat the
first piece, or use an index or an id twice. `_Calls.take` finds the call of a piece:

* an id that is known is that call. An id that is new begins a call, unless the piece has an index
  of an open call and no name: some servers give each piece another id;
* without an id, the index is that of the call; a name that is not its name begins another;
* without both, a name begins a call, and all else goes on with the last one;
* a name behind a whole input repeats the call if the piece has the same input. Otherwise it begins
  another one, unless the piece has the id of the call;
* a piece without an id, a name and an input is none.

An input is whole when the round of calls is over, or if it is a JSON object when the next call
begins. It is looked at once: to look at each input again with each call takes too long. For a name
that comes again it is looked at too, `LOOKED_MAX` bytes in all.
"""

import enum
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import INPUT_BYTES_MAX, keep
from turnwire.core.events import AgentStatus, Event, Phase, ToolInputDelta, ToolUpdate
from turnwire.core.wire import call_ids, json_text
from turnwire.core.wire.input_pieces import InputPieces
from turnwire.dialects.openai_chat import pieces
from turnwire.dialects.openai_chat.frames import ToolCall, ToolProgress
from turnwire.dialects.openai_chat.pieces import Piece

OPEN_MAX: Final = 256
"""Most calls that are open at once."""

LOOKED_MAX: Final = 16 * INPUT_BYTES_MAX
"""Most bytes of inputs that are looked at because a name came again."""

DONE_MAX: Final = 4_096
"""Most calls that are remembered after their outcome."""

DONE_ID_MAX: Final = 64
"""Longest id that such a call is remembered by, in characters. Of a longer one, it is a hash."""

UNNAMED: Final = "tool"
NO_RESULT: Final = "No result"
NOBODY_RAN: Final = (
    "No result: nobody ran this tool. The agent's URL is that of a model, and not of an agent?"
)
NO_OUTCOME: Final = "No result: the agent did not say what came of this tool"
NOT_CARRIED: Final = Raw(b'"(The agent does not show what its tool returned.)"')
"""The output of a call of which the agent says only that it is done."""

TOOL_FAILED: Final = "Tool execution failed"

_EMPTY: Final = Raw(b"{}")
_FAILURES: Final = frozenset({"failed", "error", "errored", "cancelled", "canceled"})
_SUCCESSES: Final = frozenset({"completed", "complete", "done", "finished", "success", "succeeded"})
_BEGINNINGS: Final = frozenset({"running", "started", "in_progress", "pending"})


class _Relation(enum.Enum):
    """What a piece is to the call that it may be of."""

    PIECE = enum.auto()
    REPEAT = enum.auto()
    OTHER = enum.auto()


class _Call:
    __slots__ = ("call_id", "digest", "is_noted", "is_shown", "is_whole", "name")

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        self.name = ""
        self.is_shown = False
        """Whether the client has the beginning of the call. It waits for the name."""
        self.is_whole = False
        """Whether the input is."""
        self.digest = 0
        """The hash of a whole input."""
        self.is_noted = False
        """Whether the agent said that it runs this tool itself."""


class Calls:
    """The calls of a turn. The methods return the events of a call."""

    def __init__(self, turn_id: str) -> None:
        self._turn_id = turn_id
        self._open: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}
        self._last: _Call | None = None
        self._done: dict[str, None] = {}
        self._newest: _Call | None = None
        """The only call whose input nobody has looked at."""
        self._made = 0
        self._looked = 0
        """How many bytes were looked at because a name came again."""
        self._inputs = InputPieces()

    @property
    def kept_bytes(self) -> int:
        """About how many bytes of the agent's are kept."""
        ids = sum(map(len, self._open)) + sum(map(len, self._done))
        return self._inputs.kept_bytes + ids

    @property
    def are_open(self) -> bool:
        return bool(self._open)

    @property
    def are_unrun(self) -> bool:
        """Whether a call is open that the agent said nothing of."""
        return not all(call.is_noted for call in self._open.values())

    def is_new(self, tool_call: ToolCall) -> bool:
        """Whether a whole call was not told yet. One without an id is, if there was none at all."""
        call_id = pieces.read(tool_call).call_id
        if not call_id:
            return not self._open and not self._done
        return call_id not in self._open and not self._is_done(call_id)

    def take(self, tool_call: ToolCall) -> list[Event]:
        """Take a piece of a call."""
        piece = pieces.read(tool_call)
        call, before = self._call_of(piece)
        if call is None or call.is_whole:
            return before
        self._last = call
        if piece.index is not None:
            keep(self._by_index, piece.index, call, OPEN_MAX)
        call.name = call.name or piece.name
        self._inputs.add(call.call_id, piece.text)
        return [*before, *self._show(call, piece.text)]

    def output(self, given_id: str, output: Raw) -> list[Event]:
        """Take what a tool returned. No events: its call has an outcome already."""
        call_id = call_ids.shortened(given_id)
        if self._is_done(call_id):
            return []
        call = self._open.get(call_id)
        new: list[Event] = []
        if call is None:
            call, new = self._begin(call_id)
        new += self._tell_input(call)
        return new + self._finish(call, Phase.COMPLETED, result=output)

    def progress(self, progress: ToolProgress) -> list[Event]:
        """Take what an agent says of one of its tools."""
        call_id, status = call_ids.shortened(progress.tool_call_id), progress.status.lower()
        if not call_id or self._is_done(call_id):
            return []
        call = self._open.get(call_id)
        before: list[Event] = []
        if call is None:
            call, before = self._begin(call_id)
            call.name = progress.tool or ""
            if progress.label:
                label = msgspec.json.encode({"label": safe_json.join_surrogates(progress.label)})
                self._inputs.add(call_id, label.decode())
        call.is_noted = True
        shown = [*before, *self._tell_input(call)]
        if status in _SUCCESSES:
            return [*shown, *self._finish(call, Phase.COMPLETED, result=NOT_CARRIED)]
        if status in _FAILURES:
            text = safe_json.error_message(progress.error) or progress.label or TOOL_FAILED
            return [*shown, *self._finish(call, Phase.ERROR, error=text)]
        if status not in _BEGINNINGS:
            shown.append(AgentStatus(f"tool_{progress.status}", progress.label))
        return shown

    def end_round(self) -> list[Event]:
        """The model is done with its calls: their inputs are whole."""
        self._by_index.clear()
        self._last = None
        return [event for call in self._open.values() for event in self._tell_input(call)]

    def end_unseen(self) -> list[Event]:
        """The agent goes on behind its calls: it ran the tools, and does not show the outcomes.

        What it said that it runs is left open: it says what comes of that, too.
        """
        return [
            event
            for call in list(self._open.values())
            if not call.is_noted
            for event in self._finish(call, Phase.COMPLETED, result=NOT_CARRIED)
        ]

    def settle(self) -> list[Event]:
        """The turn is over: end the calls that are open."""
        new: list[Event] = []
        for call in list(self._open.values()):
            new += self._tell_input(call)
            new += self._finish(
                call, Phase.ERROR, error=NO_OUTCOME if call.is_noted else NOBODY_RAN
            )
        return new

    def _call_of(self, piece: Piece) -> tuple[_Call | None, list[Event]]:
        """Return the call of a piece, and the events that come before those of the piece.

        None: the call is done already, or has the piece.
        """
        at_index = None if piece.index is None else self._by_index.get(piece.index)
        if piece.call_id:
            call = self._open.get(piece.call_id)
            if call is not None:
                is_repeat = self._relation(call, piece) is _Relation.REPEAT
                return (None if is_repeat else call), []
            if self._is_done(piece.call_id):
                return None, []
            if at_index is not None and not piece.name:
                return at_index, []
            return self._begin(piece.call_id)
        if at_index is not None:
            relation = self._relation(at_index, piece)
            if relation is not _Relation.OTHER:
                return (at_index if relation is _Relation.PIECE else None), []
        elif piece.index is None and self._last is not None and not piece.name:
            return self._last, []
        if not piece.name and not piece.text:
            return None, []
        self._made += 1
        return self._begin(f"{self._turn_id}:call-{self._made}")

    def _relation(self, call: _Call, piece: Piece) -> _Relation:
        """What a piece at the index or with the id of a call is to it."""
        if not piece.name or not call.name:
            return _Relation.PIECE
        if piece.name != call.name:
            return _Relation.OTHER
        if call.is_whole:
            is_same = hash(piece.text) == call.digest
            return _Relation.REPEAT if is_same else _Relation.OTHER
        if piece.text and not piece.text.lstrip().startswith("{"):
            return _Relation.PIECE
        self._looked += self._inputs.kept_bytes
        if self._looked > LOOKED_MAX:
            return _Relation.PIECE
        so_far = self._inputs.so_far(call.call_id)
        if not _is_object(so_far):
            return _Relation.PIECE
        return _Relation.REPEAT if so_far == piece.text else _Relation.OTHER

    def _begin(self, call_id: str) -> tuple[_Call, list[Event]]:
        """Begin a call. The input of the one before it is whole if it is a JSON object."""
        before: list[Event] = []
        newest = self._newest
        if newest is not None and _is_object(self._inputs.so_far(newest.call_id)):
            before += self._tell_input(newest)
        if len(self._open) >= OPEN_MAX:
            oldest = next(iter(self._open.values()))
            before += [
                *self._tell_input(oldest),
                *self._finish(oldest, Phase.ERROR, error=NO_RESULT),
            ]
        self._newest = begun = self._open[call_id] = _Call(call_id)
        return begun, before

    def _is_done(self, call_id: str) -> bool:
        return call_ids.shortened(call_id, DONE_ID_MAX) in self._done

    def _show(self, call: _Call, text: str) -> Iterator[Event]:
        if not call.name:
            return
        if not call.is_shown:
            call.is_shown = True
            text = self._inputs.so_far(call.call_id)
            yield ToolUpdate(call_id=call.call_id, tool_name=call.name, phase=Phase.PENDING)
        if text:
            yield ToolInputDelta(call.call_id, call.name, text)

    def _tell_input(self, call: _Call) -> list[Event]:
        if call.is_whole:
            return []
        call.is_whole = True
        text = self._inputs.take(call.call_id)
        call.digest = hash(text)
        whole = json_text.parsed(text) if text else _EMPTY
        return [_update(call, Phase.RUNNING, args=whole)]

    def _finish(
        self, call: _Call, phase: Phase, *, result: Raw | None = None, error: str | None = None
    ) -> list[Event]:
        del self._open[call.call_id]
        call.is_whole = True
        self._inputs.take(call.call_id)
        keep(self._done, call_ids.shortened(call.call_id, DONE_ID_MAX), None, DONE_MAX)
        return [_update(call, phase, result=result, error=error)]


def _update(
    call: _Call,
    phase: Phase,
    *,
    args: Raw | None = None,
    result: Raw | None = None,
    error: str | None = None,
) -> ToolUpdate:
    return ToolUpdate(
        call_id=call.call_id,
        tool_name=call.name or UNNAMED,
        phase=phase,
        args=args,
        result=result,
        error=error,
    )


def _is_object(text: str) -> bool:
    return text.lstrip().startswith("{") and json_text.valid(text) is not None
