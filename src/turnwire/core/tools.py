"""The tool calls of one turn: which chunk each phase of each call is worth.

    (unknown) --pending--> STARTED --running with args--> GIVEN --completed | error--> DONE

A phase may be the first that is seen of a call; what a client needs before it
is then synthesised from the frame at hand. `DONE` is left only by a new call
that reuses the id, which gets an id of its own on the client's wire: clients
from 2026 on show a reused id as a second card, older ones overwrite the first.
"""

import enum
import hashlib
from collections import OrderedDict
from collections.abc import Collection
from typing import assert_never

from msgspec import Raw

from turnwire.core import chunks, harmless
from turnwire.core.events import Phase, ToolUpdate

CALLS_MAX = 4_096
"""Calls remembered. Past it the oldest is settled and forgotten, so that memory stays bounded."""

_SHOWN_MAX = 4 * CALLS_MAX
"""Ids on the client's wire remembered, so that none is used twice."""

NO_RESULT = "No result"
TOOL_FAILED = "Tool execution failed"


class _Stage(enum.Enum):
    STARTED = enum.auto()
    GIVEN = enum.auto()
    DONE = enum.auto()


class _Call:
    __slots__ = ("count", "given", "name", "shown_id", "stage", "step")

    def __init__(self, shown_id: str, name: str, count: int) -> None:
        self.shown_id = shown_id
        self.name = name
        self.count = count
        self.stage: _Stage | None = None
        self.given: bytes | None = None
        """Of the input that the agent told and the client was shown."""
        self.step = 0


class Calls:
    """The calls of one turn, by the agent's id."""

    def __init__(self) -> None:
        # Ordered ones forget their oldest at once: `dict` looks for it past all it forgot before.
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._shown_ids: OrderedDict[str, None] = OrderedDict()
        self._step = 0
        self.open = 0
        """Calls without an outcome."""
        self.step_has_calls = False

    def next_step(self) -> None:
        self._step += 1
        self.step_has_calls = False

    def update(self, event: ToolUpdate) -> list[chunks.Chunk]:
        """The chunks that this phase of this call is worth; none for a repeat."""
        call = self._calls.get(event.call_id)
        if call is not None and call.stage is _Stage.DONE:
            later = event.phase is Phase.RUNNING and self._step > call.step
            if event.phase is not Phase.PENDING and not later:
                return []
            call = None
        if call is not None:
            return self._advance(call, event)
        evicted = self._make_room()
        call = self._open(event)
        return [*evicted, *self._advance(call, event)]

    def open_id(self, call_id: str) -> str | None:
        """The client's id of a call; None if it is not open."""
        call = self._calls.get(call_id)
        return None if call is None or call.stage is _Stage.DONE else call.shown_id

    def is_over(self, call_id: str) -> bool:
        """Whether the call has its outcome."""
        call = self._calls.get(call_id)
        return call is not None and call.stage is _Stage.DONE

    def shows(self, call_id: str, tool_name: str, args: Raw | None) -> bool:
        """Whether the card of a call shows no other tool and no other input than this."""
        call = self._calls.get(call_id)
        if call is None:
            return True
        is_input = args is None or call.given in {None, _digest(args)}
        return is_input and call.name == harmless.mend(tool_name)

    def all_open_are(self, shown_ids: Collection[str]) -> bool:
        """Whether some calls are open, and all of them are among these."""
        if not 0 < self.open <= len(shown_ids):
            return False
        waiting = (call for call in self._calls.values() if call.stage is not _Stage.DONE)
        return all(call.shown_id in shown_ids for call in waiting)

    def settle(self, error_text: str = NO_RESULT) -> list[chunks.Chunk]:
        """Give every call that has none an outcome: no card is left running for ever."""
        return [
            chunk
            for call in self._calls.values()
            if call.stage is not _Stage.DONE
            for chunk in self._settled(call, error_text)
        ]

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
        shown = harmless.value(Raw(b"{}") if args is None else args)
        return [chunks.ToolInputAvailable(call.shown_id, call.name, shown)]

    def _settled(self, call: _Call, error_text: str) -> list[chunks.Chunk]:
        outcome = chunks.ToolOutputError(call.shown_id, error_text)
        return [*self._given(call, None), self._done(call, outcome)]

    def _done(self, call: _Call, outcome: chunks.Chunk) -> chunks.Chunk:
        call.stage = _Stage.DONE
        call.step = self._step
        self.open -= 1
        return outcome

    def _open(self, event: ToolUpdate) -> _Call:
        before = self._calls.pop(event.call_id, None)
        call_id = harmless.mend(event.call_id)
        count = 1 if before is None else before.count + 1
        while (shown_id := _numbered(call_id, count)) in self._shown_ids:
            count += 1
        call = _Call(shown_id, harmless.mend(event.tool_name), count)
        self._calls[event.call_id] = call
        if len(self._shown_ids) >= _SHOWN_MAX:
            self._shown_ids.popitem(last=False)
        self._shown_ids[shown_id] = None
        self.open += 1
        self.step_has_calls = True
        return call

    def _make_room(self) -> list[chunks.Chunk]:
        if len(self._calls) < CALLS_MAX:
            return []
        _, call = self._calls.popitem(last=False)
        return [] if call.stage is _Stage.DONE else self._settled(call, NO_RESULT)


def _digest(args: Raw) -> bytes:
    """Of an input as it is written: one that is written otherwise counts as another."""
    return hashlib.sha256(bytes(args)).digest()[:16]


def _numbered(call_id: str, count: int) -> str:
    return call_id if count == 1 else f"{call_id}#{count}"
