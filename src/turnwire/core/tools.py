"""The tool calls of one turn: which chunk each phase of each call is worth.

    (unknown) --pending--> STARTED --running with args--> GIVEN --completed | error--> DONE

A phase may be the first that is seen of a call; what a client needs before it
is then synthesised from the frame at hand. `DONE` is left only by a new call
that reuses the id, which gets an id of its own on the client's wire: clients
from 2026 on show a reused id as a second card, older ones overwrite the first.
"""

import enum
import hashlib
import sys
from collections import OrderedDict
from collections.abc import Collection
from typing import assert_never

from msgspec import Raw

from turnwire.core import chunks, harmless
from turnwire.core.events import Phase, ToolUpdate

CALLS_MAX = 4_096
"""Most calls that are open at once: past it the oldest is settled. And as many that are over are
remembered, by what the agent calls them: one that is told again is no new one."""

_SHOWN_MAX = 4 * CALLS_MAX
"""Ids on the client's wire remembered, so that none is used twice. Every call after so many has its
number in its id, which none before had."""

NO_RESULT = "No result"
TOOL_FAILED = "Tool execution failed"


class _Stage(enum.Enum):
    STARTED = enum.auto()
    GIVEN = enum.auto()


class _Call:
    __slots__ = ("call_id", "count", "given", "name", "shown_id", "stage", "step")

    def __init__(self, call_id: str, shown_id: str, name: str, count: int) -> None:
        self.call_id = call_id
        self.shown_id = shown_id
        self.name = name
        self.count = count
        self.stage: _Stage | None = None
        self.given: bytes | None = None
        """Of the input that the agent told and the client was shown."""
        self.step = 0


_NONE: OrderedDict[str, _Call] = OrderedDict()
"""Never added to."""


class Calls:
    """The calls of one turn, by the agent's id."""

    def __init__(self) -> None:
        # Ordered ones forget their oldest at once: `dict` looks for it past all it forgot before.
        self._open: OrderedDict[str, _Call] = OrderedDict()
        self._over = _NONE  # until there is one: most turns have no calls
        self._shown_ids: dict[str, None] = {}  # an empty set takes three times as much
        self._begun = 0
        self.has_input: Collection[str] = frozenset()
        """Ids of calls whose input the client has, whoever told it: none is made up for these."""
        self._step = 0
        self.step_has_calls = False

    @property
    def open(self) -> int:
        """Calls without an outcome."""
        return len(self._open)

    def next_step(self) -> None:
        self._step += 1
        self.step_has_calls = False

    def update(self, event: ToolUpdate) -> list[chunks.Chunk]:
        """The chunks that this phase of this call is worth; none for a repeat."""
        call = self._open.get(event.call_id)
        if call is not None:
            return self._advance(call, event)
        before = self._over.get(event.call_id)
        if before is not None and not self._begins_anew(before, event.phase):
            return []
        evicted = self._make_room()
        return [*evicted, *self._advance(self._begin(event), event)]

    def _begins_anew(self, call: _Call, phase: Phase) -> bool:
        """Whether what is told of a call that is over is a new call."""
        return phase is Phase.PENDING or (phase is Phase.RUNNING and self._step > call.step)

    def open_id(self, call_id: str) -> str | None:
        """The client's id of a call; None if it is not open."""
        call = self._open.get(call_id)
        return None if call is None else call.shown_id

    def is_over(self, call_id: str) -> bool:
        """Whether the call has its outcome."""
        return call_id in self._over

    def shows(self, call_id: str, tool_name: str, args: Raw | None) -> bool:
        """Whether the card of a call shows no other tool and no other input than this."""
        call = self._open.get(call_id) or self._over.get(call_id)
        if call is None:
            return True
        is_input = args is None or call.given in {None, _digest(args)}
        return is_input and call.name == harmless.mend(tool_name)

    def all_open_are(self, shown_ids: Collection[str]) -> bool:
        """Whether some calls are open, and all of them are among these."""
        if not 0 < len(self._open) <= len(shown_ids):
            return False
        return all(call.shown_id in shown_ids for call in self._open.values())

    def settle(self, error_text: str = NO_RESULT) -> list[chunks.Chunk]:
        """Give every call that has none an outcome: no card is left running for ever."""
        waiting = list(self._open.values())
        return [chunk for call in waiting for chunk in self._settled(call, error_text)]

    def _advance(self, call: _Call, event: ToolUpdate) -> list[chunks.Chunk]:
        match event.phase:
            case Phase.RUNNING if event.args is not None:
                return self._given(call, event.args)
            case Phase.PENDING | Phase.RUNNING:
                if call.stage is not None:
                    return []
                call.stage = _Stage.STARTED
                return [chunks.ToolInputStart(call.shown_id, call.name)]
            case Phase.COMPLETED:
                output = harmless.value(Raw(b"null") if event.result is None else event.result)
                outcome: chunks.Chunk = chunks.ToolOutputAvailable(call.shown_id, output)
            case Phase.ERROR:
                text = harmless.error_text(event.error, TOOL_FAILED)
                outcome = chunks.ToolOutputError(call.shown_id, text)
            case _:
                assert_never(event.phase)
        return [*self._given(call, event.args), self._done(call, outcome)]

    def _given(self, call: _Call, args: Raw | None) -> list[chunks.Chunk]:
        """The input; one that the agent did not tell is shown as empty, and is not known."""
        if call.stage is _Stage.GIVEN:
            return []
        call.stage = _Stage.GIVEN
        call.given = None if args is None else _digest(args)
        if args is None and call.shown_id in self.has_input:
            return []
        shown = harmless.value(Raw(b"{}") if args is None else args)
        return [chunks.ToolInputAvailable(call.shown_id, call.name, shown)]

    def _settled(self, call: _Call, error_text: str) -> list[chunks.Chunk]:
        outcome = chunks.ToolOutputError(call.shown_id, error_text)
        return [*self._given(call, None), self._done(call, outcome)]

    def _done(self, call: _Call, outcome: chunks.Chunk) -> chunks.Chunk:
        call.step = self._step
        del self._open[call.call_id]
        if not self._over:
            self._over = OrderedDict()
        elif len(self._over) >= CALLS_MAX:
            self._over.popitem(last=False)
        self._over[call.call_id] = call
        return outcome

    def _begin(self, event: ToolUpdate) -> _Call:
        before = self._over.pop(event.call_id, None)
        call_id = harmless.mend(event.call_id)
        self._begun += 1
        count = 1 if before is None else before.count + 1
        if self._begun > _SHOWN_MAX:
            count = max(count, self._begun)
        while (shown_id := _numbered(call_id, count)) in self._shown_ids:
            count += 1
        self._begun = max(self._begun, count if self._begun > _SHOWN_MAX else 0)
        call = _Call(event.call_id, shown_id, harmless.mend(event.tool_name), count)
        self._open[event.call_id] = call
        if len(self._shown_ids) < _SHOWN_MAX:
            self._shown_ids[shown_id] = None
        self.step_has_calls = True
        return call

    def _make_room(self) -> list[chunks.Chunk]:
        if len(self._open) < CALLS_MAX:
            return []
        call = next(iter(self._open.values()))
        told = self._settled(call, NO_RESULT)
        call.step = sys.maxsize  # whatever else is told of it is no new call, but for its begin
        return told


def _digest(args: Raw) -> bytes:
    """Of an input as it is written: one that is written otherwise counts as another."""
    return hashlib.sha256(bytes(args)).digest()[:16]


def _numbered(call_id: str, count: int) -> str:
    return call_id if count == 1 else f"{call_id}#{count}"
