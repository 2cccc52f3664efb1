"""The tool calls of a turn. The agent tells each of its states as far as it changed.

A call has no name of a tool: its `title` is a text for people, which changes. So its `kind`, of
which the protocol has ten, is the name that clients get. An input counts once the call runs: until
then agents tell it in parts, or as `{}`.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import HandedOn, keep
from turnwire.core.events import AgentStatus, Event, Phase, ToolUpdate
from turnwire.core.wire import lenient
from turnwire.dialects.acp import frames
from turnwire.dialects.acp.frames import Block, CallFrame, PermissionCall

OPEN_MAX: Final = 256
"""Most open calls that are remembered. Of more, the oldest is forgotten."""

INPUT_MAX: Final = 262_144
"""Longest input that is kept, in bytes. Nobody is asked about a call with a longer one."""

OUTPUT_MAX: Final = 1_048_576
"""Longest output that is kept until its call is over, in bytes."""

UNNAMED: Final = "tool"
TOOL_FAILED: Final = "Tool execution failed"

_EMPTY: Final = frozenset({b"", b"null", b"{}"})
_NOTHING: Final = Raw(b"{}")
_RUNNING, _FAILED = "in_progress", "failed"
_OVER: Final = frozenset({"completed", _FAILED})


class _Call(Struct):
    name: str
    input: Raw | None = None
    output: Raw | None = None
    is_running: bool = False


class Calls:
    """The open calls of a turn, by id. `take` returns the events of a state."""

    def __init__(self) -> None:
        self._open: dict[str, _Call] = {}

    def take(self, frame: CallFrame) -> list[Event]:
        call_id = frame.tool_call_id
        known = self._open.get(call_id)
        call = known or self._begin(call_id, frame.kind)
        given, output = _input(call, frame.raw_input), _output(frame.raw_output, frame.content)
        if output is not None and len(output) <= OUTPUT_MAX:
            call.output = output
        if frame.status in _OVER:
            del self._open[call_id]
            is_failure = frame.status == _FAILED
            return [_over(call_id, call, given, output or call.output, is_failure=is_failure)]
        new: list[Event] = []
        if known is None and frame.title:
            new.append(AgentStatus("tool_call", frame.title))
        if frame.status == _RUNNING:
            call.is_running = True
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

    def ask(self, asked: PermissionCall) -> tuple[list[Event], str, Raw | None]:
        """A call waits for a permission. Return its events, its name and its input.

        The input is None if it is too long to be asked about.
        """
        call_id = asked.tool_call_id
        call = self._open.get(call_id) or self._begin(call_id, asked.kind)
        given = _input(call, asked.raw_input) or _NOTHING
        event = _update(call_id, call, Phase.RUNNING, given)
        return [event], call.name, given if len(given) <= INPUT_MAX else None

    def _begin(self, call_id: str, kind: str | None) -> _Call:
        call = _Call(kind or UNNAMED)
        keep(self._open, call_id, call, OPEN_MAX)
        return call


def _update(call_id: str, call: _Call, phase: Phase, args: Raw | None = None) -> ToolUpdate:
    return ToolUpdate(call_id=call_id, tool_name=call.name, phase=phase, args=args)


def _input(call: _Call, given_now: Raw) -> Raw | None:
    """The input of a call, which a state may tell. One that is too long is not kept."""
    if bytes(given_now) in _EMPTY:
        return call.input
    call.input = given_now if len(given_now) <= INPUT_MAX else None
    return given_now


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


def _output(raw_output: Raw, content: Raw) -> Raw | None:
    """What a state tells of the output: what the tool returned, else what is shown of it."""
    if bytes(raw_output) not in {b"", b"null"}:
        return raw_output
    parts = lenient.field(frames.call_contents, content)
    if not parts:
        return None
    found = [lenient.field(frames.block, part.content) for part in parts if part.type == "content"]
    texts = [each.text for each in found if isinstance(each, Block) and each.text is not None]
    if len(texts) == len(parts):
        return Raw(msgspec.json.encode("".join(texts)))
    return content
