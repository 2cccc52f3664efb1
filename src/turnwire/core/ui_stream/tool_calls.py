"""The tool calls of one turn: turns each phase of a call into chunks.

Use: `Calls.update(event)` returns the chunks for a `ToolUpdate`. `Calls.settle()` ends the open
calls at the end of the turn.

    (unknown) --pending--> STARTED --running with args--> HAS_INPUT --completed | error--> done

An input may come in pieces while a call is STARTED. They are joined, for the case that the agent
does not send the whole input too (`streamed_input`). A call that has pieces and runs has its input.

Any phase may be the first one that arrives of a call. The chunks that a client needs before it
are then made from the same frame. A call that is done stays done: a later outcome counts
only if the dialect said that the first one was none (`preliminary`). But a new call may
reuse its id. The new call gets another id on the client's wire: clients
from 2026 on show a reused id as a second card, older clients overwrite the first card.
"""

import enum
import hashlib
import sys
from collections import OrderedDict
from collections.abc import Collection
from typing import assert_never

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import INPUT_BYTES_MAX
from turnwire.core.events import Phase, ToolInputDelta, ToolUpdate
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.part_count import PartCount
from turnwire.core.ui_stream.streamed_input import StreamedInput
from turnwire.core.wire import call_ids

CALLS_MAX = 4_096
"""Most calls that are open at once; when another one begins, the oldest is settled.

As many calls that are done are remembered by the agent's id. A repeated frame of such a call
does not begin a new call.
"""

_SHOWN_MAX = 4 * CALLS_MAX
"""Most ids on the client's wire that are remembered, so that no id is used twice.

After so many calls, each further call gets its own number in its id, which no earlier id has.
"""

NO_RESULT = "No result"
TOOL_FAILED = "Tool execution failed"


class _Stage(enum.Enum):
    STARTED = enum.auto()
    HAS_INPUT = enum.auto()


class _Call:
    __slots__ = (
        "call_id",
        "count",
        "input_digest",
        "lacks_outcome",
        "name",
        "position",
        "sends_deltas",
        "shown_id",
        "stage",
        "step",
        "streamed",
    )

    def __init__(self, call_id: str, shown_id: str, name: str, count: int, position: int) -> None:
        self.call_id = call_id
        self.shown_id = shown_id
        self.name = name
        self.count = count
        self.position = position
        """Its position among the parts that the agent told."""
        self.stage: _Stage | None = None
        self.input_digest: bytes | None = None
        """Digest of the agent's input; None while the agent has sent no input."""
        self.streamed: StreamedInput | None = None
        """The pieces of the input, until the input is whole."""
        self.sends_deltas = True
        """Whether the client has the start of the call in this response."""
        self.step = 0
        """The step in which the call was done."""
        self.lacks_outcome = False
        """Whether the call is done with an error that its outcome replaces."""


_NONE: OrderedDict[str, _Call] = OrderedDict()
"""An empty dict that all turns without calls share. Entries are never added to it."""

_NO_IDS: frozenset[str] = frozenset()
"""One for all turns: each empty set takes 216 bytes."""


class Calls:
    """The calls of one turn, by the agent's id.

    `shown_id` in names: the id of the call on the client's wire.
    """

    __slots__ = (
        "_count",
        "_done",
        "_open",
        "_shown_ids",
        "_step",
        "_streamed_bytes",
        "inputs_at_client",
        "parts",
        "step_has_calls",
    )

    def __init__(self) -> None:
        # An OrderedDict finds its oldest entry at once; a dict first skips all deleted entries.
        self._open: OrderedDict[str, _Call] = OrderedDict()
        self._done = _NONE  # replaced when the first call is done: most turns have no calls
        self._shown_ids: dict[str, None] = {}  # an empty set takes three times as much memory
        self._count = 0
        self.inputs_at_client: Collection[str] = _NO_IDS
        """The client's ids of calls whose input the client has. These calls get no empty input."""
        self._streamed_bytes = 0
        """Bytes of the pieces of inputs that are kept, in all calls."""
        self._step = 0
        self.step_has_calls = False
        self.parts = PartCount()
        """The parts of the turn, calls and others."""

    @property
    def open(self) -> int:
        """The number of calls without an outcome."""
        return len(self._open)

    @property
    def is_step_empty(self) -> bool:
        """Whether the step has no parts, also none that were taken back."""
        return self.parts.is_step_empty and not self.step_has_calls

    def next_step(self) -> None:
        self._step += 1
        self.forget_step()

    def forget_step(self) -> None:
        """The step begins, or begins again: it has no calls and no other parts."""
        self.step_has_calls = False
        self.parts.begin_step()

    def start_over(self) -> None:
        """The turn continues under another id: what it told before is never taken back."""
        for call in (*self._open.values(), *self._done.values()):
            call.position = -1
        self.parts.start_over()

    def retract(self, since: int, error_text: str) -> list[chunks.Chunk]:
        """Forget the parts from the position `since` on. Ids of their calls may be used anew.

        Returns the chunks that end those calls that are open.
        """
        lost = [call for call in self._open.values() if call.position >= since]
        ended = [chunk for call in lost for chunk in self._settle_call(call, error_text)]
        for call_id in [each for each, call in self._done.items() if call.position >= since]:
            del self._done[call_id]
        self.parts.retract(since)
        return ended

    def update(self, event: ToolUpdate) -> list[chunks.Chunk]:
        """Return the chunks for a phase of a call; none if the phase is a repetition."""
        call = self._open.get(event.call_id)
        if call is not None:
            return self._advance(call, event)
        previous = self._done.get(event.call_id)
        if previous is not None and not self._is_new_call(previous, event.phase):
            return self._replace_error(previous, event)
        evicted = self._settle_oldest()
        return [*evicted, *self._advance(self._begin(event), event)]

    def add_input(self, delta: ToolInputDelta) -> list[chunks.Chunk]:
        """Return the chunks for a piece of an input; none if the call has its input."""
        starting: list[chunks.Chunk] = []
        if delta.call_id not in self._open:
            starting = self.update(
                ToolUpdate(call_id=delta.call_id, tool_name=delta.tool_name, phase=Phase.RUNNING)
            )
        call = self._open.get(delta.call_id)
        if call is None or call.stage is _Stage.HAS_INPUT or not delta.text:
            return starting
        return [*starting, *self._append(call, delta.text)]

    def _append(self, call: _Call, text: str) -> list[chunks.Chunk]:
        streamed = call.streamed
        if streamed is None:
            streamed = call.streamed = StreamedInput()
        elif streamed.is_too_long:
            return []
        self._streamed_bytes -= streamed.size
        piece = streamed.add(text)
        if self._streamed_bytes + streamed.size > INPUT_BYTES_MAX:
            streamed.drop()
            return []
        self._streamed_bytes += streamed.size
        if not piece or not call.sends_deltas:
            return []
        return [chunks.ToolInputDelta(call.shown_id, piece)]

    def has_pieces(self, call_id: str) -> bool:
        """Whether pieces of the call's input came, and the input is not whole."""
        call = self._open.get(call_id)
        return call is not None and call.streamed is not None

    def stop_deltas(self) -> None:
        """Send no more pieces of the open calls: they began in an earlier response."""
        for call in self._open.values():
            call.sends_deltas = False

    def _is_new_call(self, call: _Call, phase: Phase) -> bool:
        """Whether a phase with the id of `call`, which is done, begins a new call."""
        match phase:
            case Phase.PENDING:
                return True
            case Phase.RUNNING:
                return self._step > call.step
            case Phase.COMPLETED | Phase.ERROR:
                return False
            case _:
                assert_never(phase)

    def open_id(self, call_id: str) -> str | None:
        """Return the client's id of an open call; None if the call is not open."""
        call = self._open.get(call_id)
        return None if call is None else call.shown_id

    def is_done(self, call_id: str) -> bool:
        """Whether the call has its outcome."""
        return call_id in self._done

    def shows(self, call_id: str, tool_name: str, args: Raw | None) -> bool:
        """Whether the client's card of a call shows no other tool and no other input than these.

        A call that is unknown or has no input of the agent shows no other input.
        """
        call = self._open.get(call_id) or self._done.get(call_id)
        if call is None:
            return True
        is_same_input = args is None or call.input_digest in {None, _digest(args)}
        return is_same_input and call.name == safe_json.join_surrogates(tool_name)

    def all_open_are_in(self, shown_ids: Collection[str]) -> bool:
        """Whether calls are open, and `shown_ids` has all of them."""
        if not 0 < len(self._open) <= len(shown_ids):
            return False
        return all(call.shown_id in shown_ids for call in self._open.values())

    def settle(self, error_text: str = NO_RESULT) -> list[chunks.Chunk]:
        """End each open call with an error, so that the client shows no call as running forever."""
        open_calls = list(self._open.values())
        return [chunk for call in open_calls for chunk in self._settle_call(call, error_text)]

    def _advance(self, call: _Call, event: ToolUpdate) -> list[chunks.Chunk]:
        match event.phase:
            case Phase.RUNNING if event.preliminary and event.result is not None:
                output = safe_json.sanitize(event.result)
                preliminary = chunks.ToolOutputPreliminary(call.shown_id, output)
                return [*self._input(call, event.args), preliminary]
            case Phase.RUNNING if event.args is not None or call.streamed is not None:
                return self._input(call, event.args)
            case Phase.PENDING | Phase.RUNNING:
                if call.stage is not None:
                    return []
                call.stage = _Stage.STARTED
                return [chunks.ToolInputStart(call.shown_id, call.name)]
            case Phase.COMPLETED | Phase.ERROR:
                call.lacks_outcome = event.preliminary and event.phase is Phase.ERROR
                return [*self._input(call, event.args), self._finish(call, _outcome(call, event))]
            case _:
                assert_never(event.phase)

    def _replace_error(self, call: _Call, event: ToolUpdate) -> list[chunks.Chunk]:
        """Return the outcome of a call that lacks it; nothing for any other call that is done."""
        if not call.lacks_outcome or not event.phase.is_over or event.preliminary:
            return []
        call.lacks_outcome = False
        return [_outcome(call, event)]

    def _input(self, call: _Call, args: Raw | None) -> list[chunks.Chunk]:
        """Return the input chunk, with the joined pieces if `args` is None.

        The input is empty if the agent sent none.
        """
        if call.stage is _Stage.HAS_INPUT:
            return []
        call.stage = _Stage.HAS_INPUT
        streamed, call.streamed = call.streamed, None
        if streamed is not None:
            self._streamed_bytes -= streamed.size
            args = streamed.json() if args is None else args
        call.input_digest = None if args is None else _digest(args)
        if args is None and call.shown_id in self.inputs_at_client:
            return []
        sanitized = safe_json.sanitize(Raw(b"{}") if args is None else args)
        return [chunks.ToolInputAvailable(call.shown_id, call.name, sanitized)]

    def _settle_call(self, call: _Call, error_text: str) -> list[chunks.Chunk]:
        outcome = chunks.ToolOutputError(call.shown_id, error_text)
        return [*self._input(call, None), self._finish(call, outcome)]

    def _finish(self, call: _Call, outcome: chunks.Chunk) -> chunks.Chunk:
        """Move the call to the calls that are done. Returns its outcome."""
        call.step = self._step
        del self._open[call.call_id]
        if not self._done:
            self._done = OrderedDict()
        elif len(self._done) >= CALLS_MAX:
            self._done.popitem(last=False)
        self._done[call.call_id] = call
        return outcome

    def _begin(self, event: ToolUpdate) -> _Call:
        """Open a new call, with an id that is new on the client's wire."""
        previous = self._done.pop(event.call_id, None)
        call_id = safe_json.join_surrogates(event.call_id)
        self._count += 1
        count = 1 if previous is None else previous.count + 1
        if self._count > _SHOWN_MAX:
            count = max(count, self._count)
        while (shown_id := call_ids.numbered(call_id, count)) in self._shown_ids:
            count += 1
        self._count = max(self._count, count if self._count > _SHOWN_MAX else 0)
        name = safe_json.join_surrogates(event.tool_name)
        call = _Call(event.call_id, shown_id, name, count, self.parts.add())
        self._open[event.call_id] = call
        if len(self._shown_ids) < _SHOWN_MAX:
            self._shown_ids[shown_id] = None
        self.step_has_calls = True
        return call

    def _settle_oldest(self) -> list[chunks.Chunk]:
        """Settle the oldest open call if there are too many."""
        if len(self._open) < CALLS_MAX:
            return []
        call = next(iter(self._open.values()))
        settled = self._settle_call(call, NO_RESULT)
        call.step = sys.maxsize  # of its later phases, only PENDING begins a new call
        return settled


def _outcome(call: _Call, event: ToolUpdate) -> chunks.Chunk:
    if event.phase is Phase.ERROR:
        return chunks.ToolOutputError(call.shown_id, safe_json.error_text(event.error, TOOL_FAILED))
    output = safe_json.sanitize(Raw(b"null") if event.result is None else event.result)
    return chunks.ToolOutputAvailable(call.shown_id, output)


def _digest(args: Raw) -> bytes:
    """Return a digest of the bytes of an input; equal JSON in other bytes has another digest."""
    return hashlib.sha256(bytes(args)).digest()[:16]
