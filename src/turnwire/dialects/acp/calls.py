"""The tool calls of a turn. The agent tells each of its states as far as it changed.

A call has no name of a tool: its `title` is a text for people, which changes. So its `kind`, of
which the protocol has ten, is the name that clients get. An input counts once the call runs: until
then agents tell it in parts, or as `{}`. If it is still empty then, it counts once it comes, or
something else does of the call.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import HandedOn, keep
from turnwire.core.events import AgentStatus, Event, Phase, ToolUpdate
from turnwire.core.wire import lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import frames
from turnwire.dialects.acp.frames import Block, CallFrame, PermissionCall, ToolCallUpdate

OPEN_MAX: Final = 256
"""Most open calls that are remembered. Of more, the oldest is forgotten. As many that are over are
remembered by their ids: an agent may tell of one behind its end."""

INPUT_MAX: Final = 262_144
"""Longest input that is kept, in bytes. Nobody is asked about a call with a longer one. What else
the agent shows of a call counts too."""

OUTPUT_MAX: Final = 1_048_576
"""Longest output that is kept until its call is over, in bytes."""

CALLS_BYTES_MAX: Final = 2_097_152
"""Most bytes that are kept of all open calls of a turn together."""

UNNAMED: Final = "tool"
TOOL_FAILED: Final = "Tool execution failed"
OF_A_PAST_CALL: Final = "update of a call that is over"
OF_NO_CALL: Final = "update of an unknown call"
TOO_LONG: Final = "part of a call that is too long"

_EMPTY: Final = frozenset({b"", b"null", b"{}", b"[]"})
_NOTHING: Final = Raw(b"{}")
_TOO_LONG_INPUT: Final = Raw(safe_json.TOO_LONG)
_RUNNING, _FAILED = "in_progress", "failed"
_OVER: Final = frozenset({"completed", _FAILED})

_INPUT, _OUTPUT = "input", "output"
_SHOWN: Final[Sequence[str]] = ("content", "locations")
"""What a user is shown of a call beside its input, such as the change of a file."""


class _Call(Struct):
    name: str
    parts: dict[str, Raw]
    """Its input, its output and what is shown of it, as they were told last."""
    missing: set[str]
    """Which of these were told, and not kept: they are too long."""
    is_running: bool = False
    has_input: bool = False
    """Whether the client has its input."""


class AskedCall(Struct, frozen=True):
    """A call that waits for a permission."""

    name: str
    input: Raw
    """What the tool gets; what is shown of the call, if the agent does not tell that."""
    shown: Mapping[str, Raw]
    """What is shown of the call beside its input."""


class Calls:
    """The open calls of a turn, by id. `take` returns the events of a state."""

    def __init__(self, frame_stats: FrameStats) -> None:
        self.kept_bytes = 0
        self._frame_stats = frame_stats
        self._open: dict[str, _Call] = {}
        self._finished: dict[str, None] = {}

    def take(self, frame: CallFrame) -> list[Event]:
        call_id = frame.tool_call_id
        known = self._open.get(call_id)
        if known is None and isinstance(frame, ToolCallUpdate):
            if call_id in self._finished:
                return self._leave_out(OF_A_PAST_CALL)
            if frame.status is None:
                return self._leave_out(OF_NO_CALL)
        call = known or self._begin(call_id, frame.kind)
        given, output = self._input(call, frame.raw_input), _output(frame)
        self._keep_shown(call, frame)
        if output is not None:
            self._keep(call, _OUTPUT, output, OUTPUT_MAX)
        if frame.status in _OVER:
            output = output or call.parts.get(_OUTPUT)
            self._end(call_id)
            return [_over(call_id, call, given, output, is_failure=frame.status == _FAILED)]
        new: list[Event] = []
        if known is None and frame.title:
            new.append(AgentStatus("tool_call", frame.title))
        call.is_running = call.is_running or frame.status == _RUNNING
        # Of a call that runs, agents may tell the input later.
        is_due = call.is_running and (given is not None or output is not None)
        if is_due and not call.has_input:
            call.has_input = True
            new.append(_update(call_id, call, Phase.RUNNING, given or _NOTHING))
        elif known is None:
            new.append(_update(call_id, call, Phase.PENDING))
        if output is not None and call.is_running:
            new.append(
                ToolUpdate(
                    call_id=call_id,
                    tool_name=call.name,
                    phase=Phase.RUNNING,
                    result=output,
                    preliminary=True,
                )
            )
        return new

    def ask(self, asked: PermissionCall) -> tuple[list[Event], AskedCall | None]:
        """A call waits for a permission. Return its events, and what the user is shown of it.

        None: it is too long to be shown, so nobody can be asked.
        """
        call_id = asked.tool_call_id
        call = self._open.get(call_id) or self._begin(call_id, asked.kind)
        given = self._input(call, asked.raw_input)
        self._keep_shown(call, asked)
        shown = {name: call.parts[name] for name in _SHOWN if name in call.parts}
        if given is None and shown:
            given, shown = Raw(msgspec.json.encode(shown)), {}
        size = sum(map(len, shown.values())) + len(given or b"")
        call.has_input = True
        event = _update(call_id, call, Phase.RUNNING, given or _NOTHING)
        is_whole = size <= INPUT_MAX and call.missing.isdisjoint((_INPUT, *_SHOWN))
        return [event], AskedCall(call.name, given or _NOTHING, shown) if is_whole else None

    def _begin(self, call_id: str, kind: str | None) -> _Call:
        self._finished.pop(call_id, None)
        if len(self._open) >= OPEN_MAX:
            self._drop(next(iter(self._open)))
        self._open[call_id] = call = _Call(kind or UNNAMED, {}, set())
        return call

    def _end(self, call_id: str) -> None:
        """Keep nothing of a call but its id."""
        self._drop(call_id)
        keep(self._finished, call_id, None, OPEN_MAX)

    def _drop(self, call_id: str) -> None:
        self.kept_bytes -= sum(map(len, self._open.pop(call_id).parts.values()))

    def _input(self, call: _Call, given: Raw) -> Raw | None:
        """The input of a call, which a state may tell; None if the agent told none."""
        if bytes(given) not in _EMPTY:
            self._keep(call, _INPUT, given, INPUT_MAX)
            return given
        return _TOO_LONG_INPUT if _INPUT in call.missing else call.parts.get(_INPUT)

    def _keep_shown(self, call: _Call, frame: CallFrame | PermissionCall) -> None:
        for name, part in zip(_SHOWN, (frame.content, frame.locations), strict=True):
            if bytes(part) not in _EMPTY:
                self._keep(call, name, part, INPUT_MAX)

    def _keep(self, call: _Call, name: str, part: Raw, most: int) -> None:
        """Keep a part of a call in place of the one before, if there is room for it."""
        self.kept_bytes -= len(call.parts.pop(name, b""))
        call.missing.discard(name)
        if len(part) <= most and self.kept_bytes + len(part) <= CALLS_BYTES_MAX:
            call.parts[name] = part.copy()  # not the whole frame that it stands in
            self.kept_bytes += len(part)
        else:
            call.missing.add(name)
            if name not in _SHOWN:  # what is shown only counts if somebody is asked
                self._frame_stats.count_left_out(TOO_LONG, len(part))

    def _leave_out(self, what: str) -> list[Event]:
        self._frame_stats.count_left_out(what, 0)
        return []


def _update(call_id: str, call: _Call, phase: Phase, args: Raw | None = None) -> ToolUpdate:
    return ToolUpdate(call_id=call_id, tool_name=call.name, phase=phase, args=args)


def _over(
    call_id: str, call: _Call, given: Raw | None, output: Raw | None, *, is_failure: bool
) -> ToolUpdate:
    return ToolUpdate(
        call_id=call_id,
        tool_name=call.name,
        phase=Phase.ERROR if is_failure else Phase.COMPLETED,
        args=given,
        result=None if is_failure else output or Raw(b"null"),
        error=_error(output) if is_failure else None,
    )


def _error(output: Raw | None) -> str:
    if output is None:
        return TOOL_FAILED
    text = safe_json.string(output)
    if text is not None:
        return text or TOOL_FAILED
    found = lenient.field(_decode_failure, output)
    return (found and (found.error or found.output or found.message)) or TOOL_FAILED


class _Failure(Struct):
    error: HandedOn = ""
    output: HandedOn = ""
    message: HandedOn = ""


_decode_failure: Callable[[Raw], _Failure] = msgspec.json.Decoder(_Failure).decode


def _output(frame: CallFrame) -> Raw | None:
    """What a state tells of the output: what the tool returned, else what is shown of it."""
    if bytes(frame.raw_output) not in {b"", b"null"}:
        return frame.raw_output
    parts = lenient.field(frames.call_contents, frame.content)
    if not parts:
        return None
    found = [lenient.field(frames.block, part.content) for part in parts if part.type == "content"]
    texts = [each.text for each in found if isinstance(each, Block) and each.text is not None]
    if len(texts) == len(parts):
        return Raw(msgspec.json.encode("".join(texts)))
    return frame.content
