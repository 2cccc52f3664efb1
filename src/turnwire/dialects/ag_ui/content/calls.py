"""The tool calls of a run: their inputs, which come in pieces, and their outcomes.

    START ─ARGS…─► input told in pieces ─END─► RUNNING with the whole input ─RESULT─► outcome
      └──END─► the pieces are no JSON, or none came: the input waits for a snapshot, or the outcome

Some agents leave out the first piece of an input, or all of it, and tell it in a snapshot.

An agent may leave out START or END, or send END when the tool is done, together with the RESULT.
The methods of `Calls` return the events of a call.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import keep
from turnwire.core.events import Event, Phase, ToolInputDelta, ToolUpdate
from turnwire.core.wire import json_text

OPEN_MAX: Final = 256
"""Most calls that are open at once."""

DONE_MAX: Final = 4_096
"""Most calls that are remembered after their outcome."""

INPUT_MAX: Final = 1_048_576
"""Most characters of the inputs of open calls. Of a longer input, the client gets the pieces."""

NO_RESULT: Final = "No result"

UNNAMED: Final = "tool"
"""The name of a call whose beginning was not told."""

_EMPTY: Final = Raw(b"{}")
_TOO_LONG: Final = safe_json.TOO_LONG.decode()


class _Call:
    __slots__ = ("chars", "has_ended", "input", "name", "pieces")

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[str] = []
        self.chars = 0
        self.has_ended = False
        """Whether END came."""
        self.input: Raw | None = None
        """The whole input, once it was told."""


class _Done(Struct):
    """What the client has of a call that is over."""

    run: int
    """The number of the run in which it got its outcome."""
    has_input: bool
    is_error: bool


class Calls:
    """The calls of a message. They go on from one run to the next, if that answers a question."""

    def __init__(self) -> None:
        self._open: dict[str, _Call] = {}
        self._done: dict[str, _Done] = {}
        """Calls that have an outcome, or were settled without one."""
        self._settled: dict[str, str] = {}
        """The names of calls that were settled without an outcome, which a later run may have."""
        self._waited: dict[str, None] = {}
        """Calls that had no outcome when this run began."""
        self._run = 0
        self._input_chars = 0

    def next_run(self) -> None:
        """Another run of the same message begins. It may repeat calls of the runs before it."""
        self._run += 1
        self._waited = dict.fromkeys((*self._open, *self._settled))

    @property
    def waits_for_input(self) -> bool:
        """Whether a call ended without a valid input, which a snapshot may have."""
        if not self._open:
            return False
        return any(call.has_ended and call.input is None for call in self._open.values())

    @property
    def open_ids(self) -> list[str]:
        return list(self._open)

    def is_open(self, call_id: str) -> bool:
        return call_id in self._open

    def lacks_outcome(self, call_id: str) -> bool:
        return call_id in self._open or call_id in self._settled

    @property
    def any_lacks_outcome(self) -> bool:
        return bool(self._open or self._settled)

    @property
    def has_waited(self) -> bool:
        """Whether a call has no outcome that had none when this run began."""
        return any(map(self.lacks_outcome, self._waited))

    def has_waited_for(self, call_id: str) -> bool:
        return call_id in self._waited and self.lacks_outcome(call_id)

    def is_done(self, call_id: str) -> bool:
        return call_id in self._done and not self.lacks_outcome(call_id)

    def described(self, call_id: str) -> tuple[str, Raw] | None:
        """The name and the input of an open call."""
        call = self._open.get(call_id)
        return None if call is None else (call.name, call.input or _whole(call.pieces) or _EMPTY)

    def adopt(self, call_id: str, name: str, whole: Raw) -> None:
        """Know a call of an earlier run, which the client has with its input."""
        call = self._open[call_id] = _Call(name)
        call.has_ended = True
        call.input = whole

    def follow(self, update: ToolUpdate) -> None:
        """Know what an earlier run told of a call."""
        if update.phase.is_over and not update.preliminary:
            self.result(update.call_id, None)
            return
        self.adopt(update.call_id, update.tool_name, update.args or _EMPTY)
        if update.phase.is_over:
            self.settle(update.call_id)

    def start(self, call_id: str, name: str) -> list[Event]:
        if call_id in self._open or self._is_repeated(call_id):
            return []
        events: list[Event] = []
        if len(self._open) >= OPEN_MAX:
            events = self.result(next(iter(self._open)), None, error=NO_RESULT)
        self._done.pop(call_id, None)
        self._settled.pop(call_id, None)
        self._open[call_id] = _Call(name)
        return [*events, _update(call_id, name, Phase.PENDING)]

    def args(self, call_id: str, delta: str) -> list[Event]:
        call = self._open.get(call_id)
        if call is None or call.has_ended or not delta:
            return []
        call.chars += len(delta)
        self._input_chars += len(delta)
        if self._input_chars <= INPUT_MAX:
            call.pieces.append(delta)
        else:
            call.pieces = [_TOO_LONG]
        return [ToolInputDelta(call_id, call.name, delta)]

    def end(self, call_id: str) -> list[Event]:
        call = self._open.get(call_id)
        if call is None or call.has_ended:
            return []
        call.has_ended = True
        whole = json_text.valid("".join(call.pieces))
        return [] if whole is None else self._tell_input(call_id, call, whole)

    def input_found(self, call_id: str, whole: Raw) -> list[Event]:
        """A snapshot has the input of a call. It counts if no other input came."""
        call = self._open.get(call_id)
        if call is None or not call.has_ended or call.input is not None:
            return []
        return self._tell_input(call_id, call, whole)

    def result(self, call_id: str, output: Raw | None, *, error: str | None = None) -> list[Event]:
        """A call has its outcome: an output, or an error. Of several, the first counts."""
        call, done = self._open.pop(call_id, None), self._done.get(call_id)
        settled = self._settled.pop(call_id, None)
        if call is None and done is not None and settled is None:
            return []
        call = call or _Call(settled or UNNAMED)
        whole = call.input or _whole(call.pieces)
        self._input_chars -= call.chars
        has_input = whole is not None or (done is not None and done.has_input)
        keep(self._done, call_id, _Done(self._run, has_input, error is not None), DONE_MAX)
        return [
            ToolUpdate(
                call_id=call_id,
                tool_name=call.name,
                phase=Phase.COMPLETED if error is None else Phase.ERROR,
                args=whole,
                result=output,
                error=error,
            )
        ]

    def settle(self, call_id: str) -> list[Event]:
        """End an open call without an outcome, for clients that wait for that of each call.

        The outcome that a later run may have replaces this error.
        """
        name = self._open[call_id].name
        events = self.result(call_id, None, error=NO_RESULT)
        keep(self._settled, call_id, name, OPEN_MAX)
        return [msgspec.structs.replace(each, preliminary=True) for each in events]

    def came_late(self, call_id: str, *, has_input: bool, is_error: bool) -> Sequence[str]:
        """What a snapshot knows of a call that is over, and the client was not told: each once."""
        done = self._done.get(call_id)
        if done is None:
            return ()
        late: list[str] = []
        if has_input and not done.has_input:
            done.has_input = True
            late.append("input that came late")
        if is_error and not done.is_error:
            done.is_error = True
            late.append("failure that came late")
        return late

    def settle_inputs(self) -> Iterator[Event]:
        """The run is over: tell the inputs that no snapshot had."""
        for call_id, call in self._open.items():
            if call.input is None:
                yield from self._tell_input(call_id, call, _whole(call.pieces) or _EMPTY)

    def _tell_input(self, call_id: str, call: _Call, whole: Raw) -> list[Event]:
        call.input = whole
        call.has_ended = True
        return [_update(call_id, call.name, Phase.RUNNING, whole)]

    def _is_repeated(self, call_id: str) -> bool:
        """Whether a call of this id was done in an earlier run: its START is a repetition."""
        done = self._done.get(call_id)
        return done is not None and done.run < self._run


def _whole(pieces: list[str]) -> Raw | None:
    """The input that was told in pieces: as JSON; as a text if it is none. None without pieces."""
    return json_text.parsed("".join(pieces)) if pieces else None


def _update(call_id: str, name: str, phase: Phase, args: Raw | None = None) -> ToolUpdate:
    return ToolUpdate(call_id=call_id, tool_name=name, phase=phase, args=args)
