"""The calls of an answer, by the index of their items.

    item added ─arguments…─► input in pieces ─.done, or the item done─► RUNNING ─► outcome

The outcome is in the item itself, where the server ran the tool, or in an item of its own.
"""

from typing import Final

from msgspec import Raw

from turnwire.core.bounds import INPUT_BYTES_MAX, keep
from turnwire.core.events import Event, Phase, ToolInputDelta, ToolUpdate
from turnwire.core.wire import call_ids, json_text
from turnwire.core.wire.input_pieces import InputPieces
from turnwire.dialects.openai_responses import items
from turnwire.dialects.openai_responses.items import Item

OPEN_MAX: Final = 256
"""Most calls that are open at once."""

DONE_MAX: Final = 4_096
"""Most calls that are remembered after their outcome."""

DONE_ID_MAX: Final = 64
"""Longest id that such a call is remembered by, in characters. Of a longer one, it is a hash."""

NO_RESULT: Final = "No result"
NOBODY_RAN: Final = (
    "No result: nobody ran this tool. The agent's URL is that of a model, and not of an agent?"
)
NOT_SHOWN: Final = "No result: the agent did not show it"
TOOL_FAILED: Final = "Tool execution failed"

_EMPTY: Final = Raw(b"{}")


class _Call:
    __slots__ = ("call_id", "is_item_done", "is_of_earlier", "is_whole", "name", "whole")

    def __init__(self, call_id: str, name: str) -> None:
        self.call_id = call_id
        self.name = name
        self.is_whole = False
        """Whether the client has the whole input."""
        self.whole: Raw | None = None
        """The input, from when it is known until the client has it."""
        self.is_item_done = False
        """Whether its item is done: another one at the same index is of another call."""
        self.is_of_earlier = False
        """Whether another response of the agent's has begun since."""


class Calls:
    """The calls of a turn. The methods return the events of a call."""

    def __init__(self, turn_id: str) -> None:
        self._turn_id = turn_id
        self._open: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}
        self._done: dict[str, None] = {}
        self._made = 0
        self._inputs = InputPieces()

    @property
    def kept_bytes(self) -> int:
        """About how many bytes of the agent's are kept."""
        ids = sum(map(len, self._open)) + sum(map(len, self._done))
        return self._inputs.kept_bytes + self._whole_bytes + ids

    @property
    def open_ids(self) -> list[str]:
        return list(self._open)

    @property
    def are_unrun(self) -> bool:
        """Whether a call of this response is open."""
        return any(not call.is_of_earlier for call in self._open.values())

    def next_response(self) -> None:
        """Another response of the same turn begins: its items are counted anew."""
        self._by_index.clear()
        for call in self._open.values():
            call.is_of_earlier = True

    def adopt(self, call_id: str, name: str) -> None:
        """Know a call that the client has, with its input."""
        call = self._open[call_id] = _Call(call_id, name)
        call.is_whole = True

    def wait(self, call_id: str, name: str, whole: Raw) -> list[Event]:
        """Show a call that waits for its approval."""
        self.adopt(call_id, name)
        return [_update(self._open[call_id], Phase.RUNNING, args=whole)]

    def begin(self, index: int, item: Item) -> list[Event]:
        """Take the item of a call that begins, or of one that waited for its approval."""
        return self._begin(index, item)[1]

    def add(self, index: int, delta: str) -> list[Event]:
        """Take a piece of an input."""
        call = self._by_index.get(index)
        if call is None or call.is_whole or not delta:
            return []
        self._inputs.add(call.call_id, delta)
        return [ToolInputDelta(call.call_id, call.name, delta)]

    def end_input(self, index: int, text: str) -> list[Event]:
        """The input is whole."""
        call = self._by_index.get(index)
        if call is None or call.is_whole:
            return []
        call.whole = json_text.parsed(text) if text else call.whole
        return self._tell_input(call)

    def end(self, index: int, item: Item) -> list[Event]:
        """Take the item of a call that is done, as far as it goes: it may have no outcome."""
        call, new = self._begin(index, item)
        if call is None:
            return new
        call.is_item_done = True
        if call.call_id not in self._open:
            return new
        if not call.is_whole:
            call.whole = items.input_of(item) or call.whole
        return [*new, *self._tell_input(call)]

    def is_repeated(self, index: int, item: Item) -> bool:
        """Whether an item is one that is done already, under another id."""
        wanted, call = _id_of(item), self._by_index.get(index)
        if call is None or wanted in self._open or self._is_done(wanted):
            return False
        is_done = call.is_item_done or call.call_id not in self._open
        return is_done and call.name == items.tool_name(item)

    def call_id_at(self, index: int) -> str | None:
        """The id of the call of an item, if it is open."""
        call = self._by_index.get(index)
        return call.call_id if call is not None and call.call_id in self._open else None

    def outcome(
        self, call_id: str, output: Raw | None = None, error: str | None = None
    ) -> list[Event]:
        """A call has its outcome: an output, or an error. Of several, the first counts."""
        if self._is_done(call_id):
            return []
        call = self._open.pop(call_id, None) or _Call(call_id, "tool")
        new = self._tell_input(call)
        keep(self._done, call_ids.shortened(call_id, DONE_ID_MAX), None, DONE_MAX)
        phase = Phase.COMPLETED if error is None else Phase.ERROR
        return [*new, _update(call, phase, result=output, error=error)]

    def settle(self, error: str) -> list[Event]:
        """End the calls that are open: with this error, if they are of this response."""
        ended: list[Event] = []
        for call in list(self._open.values()):
            why = NOT_SHOWN if call.is_of_earlier else error
            ended += self.outcome(call.call_id, error=why)
        return ended

    @property
    def _whole_bytes(self) -> int:
        return sum(len(call.whole) for call in self._open.values() if call.whole is not None)

    def _is_done(self, call_id: str) -> bool:
        return call_ids.shortened(call_id, DONE_ID_MAX) in self._done

    def _begin(self, index: int, item: Item) -> tuple[_Call | None, list[Event]]:
        """Return the call of an item, and the events of its beginning. None: it is done."""
        wanted, call = _id_of(item), self._by_index.get(index)
        if wanted in self._open:
            call = self._by_index[index] = self._open[wanted]
        elif wanted and self._is_done(wanted):
            return None, []
        elif call is None or (wanted and (call.is_item_done or call.call_id not in self._open)):
            return self._add(index, wanted, item)
        return call, []

    def _add(self, index: int, wanted: str, item: Item) -> tuple[_Call, list[Event]]:
        if not wanted:
            self._made += 1
            wanted = f"{self._turn_id}:call-{self._made}"
        before: list[Event] = []
        if len(self._open) >= OPEN_MAX:
            before = self.outcome(next(iter(self._open)), error=NO_RESULT)
        call = self._open[wanted] = _Call(wanted, items.tool_name(item))
        keep(self._by_index, index, call, DONE_MAX)
        before.append(_update(call, Phase.PENDING))
        call.whole = items.input_of(item)
        if self._whole_bytes > INPUT_BYTES_MAX:  # so the client gets it at once
            before += self._tell_input(call)
        return call, before

    def _tell_input(self, call: _Call) -> list[Event]:
        if call.is_whole:
            return []
        call.is_whole = True
        text, whole = self._inputs.take(call.call_id), call.whole
        if whole is None:
            whole = json_text.parsed(text) if text else _EMPTY
        call.whole = None
        return [_update(call, Phase.RUNNING, args=whole)]


def _id_of(item: Item) -> str:
    """Return the id by which a call is known; empty if it has none."""
    named = (item.approval_request_id, item.call_id, item.id)
    return next(filter(None, map(call_ids.of, named)), "")


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
        tool_name=call.name,
        phase=phase,
        args=args,
        result=result,
        error=error,
    )
