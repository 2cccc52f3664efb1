"""The tool calls of a turn: their names and inputs, until they have an outcome.

Clients of this wire know a call by its id alone: only its beginning has its name, and a request for
its approval has neither name nor input. So both are kept while the call is open. The methods of
`Calls` return the events of a call.
"""

from typing import Final

from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.body.conversation import Call
from turnwire.core.bounds import INPUT_BYTES_MAX, keep
from turnwire.core.events import Event, Phase, ToolInputDelta, ToolUpdate

OPEN_MAX: Final = 256
"""Most open calls that are remembered. Of more, the oldest is forgotten."""

INPUTS_MAX: Final = 1_048_576
"""Most bytes of the inputs of open calls that are kept. Nobody is asked to approve what is not
kept."""

PIECES_MAX: Final = 256
"""Most pieces of an input before they are joined: most have more of an overhead than of a text."""

UNNAMED: Final = "tool"
"""The name of a call that never began."""


class _Call(Struct):
    name: str
    input: Raw | None = None
    pieces: list[str] = []
    size: int = 0
    """Of the input or its pieces, in bytes or characters."""


class Calls:
    """The open calls of a turn, by id."""

    def __init__(self) -> None:
        self._open: dict[str, _Call] = {}

    @property
    def open_ids(self) -> list[str]:
        return list(self._open)

    def adopt(self, call: Call) -> None:
        """Know a call that was told before this turn goes on."""
        self._add(call.call_id, _Call(call.name, call.input))

    def start(self, call_id: str, name: str) -> list[Event]:
        self._add(call_id, _Call(name))
        return [ToolUpdate(call_id=call_id, tool_name=name, phase=Phase.PENDING)]

    def piece(self, call_id: str, text: str) -> list[Event]:
        call = self._known(call_id)
        if call.input is not None:
            return []
        if self._kept_bytes + len(text) <= INPUT_BYTES_MAX:
            call.pieces.append(text)
            call.size += len(text)
            if len(call.pieces) > PIECES_MAX:
                call.pieces = ["".join(call.pieces)]
        else:  # an input without one of its pieces is none
            call.pieces.clear()
            call.size = INPUT_BYTES_MAX
        return [ToolInputDelta(call_id, call.name, text)] if text else []

    def input(self, call_id: str, name: str, given: Raw) -> list[Event]:
        """The input of a call is whole. An absent one is that of a tool without parameters."""
        given = given or Raw(b"{}")
        call = self._known(call_id)
        call.name = name or call.name
        call.pieces.clear()
        call.size, call.input = 0, None
        if self._kept_bytes + len(given) <= INPUTS_MAX:
            call.size, call.input = len(given), given
        return [self._update(call_id, call, Phase.RUNNING, args=given)]

    def preliminary(self, call_id: str, output: Raw) -> list[Event]:
        """The call goes on, and has an output that another one replaces."""
        call = self._known(call_id)
        return [
            ToolUpdate(
                call_id=call_id,
                tool_name=call.name,
                phase=Phase.RUNNING,
                result=output,
                preliminary=True,
            )
        ]

    def output(self, call_id: str, output: Raw) -> list[Event]:
        call = self._open.pop(call_id, None) or _Call(UNNAMED)
        return [self._update(call_id, call, Phase.COMPLETED, result=output or Raw(b"null"))]

    def failed(self, call_id: str, error: str | None) -> list[Event]:
        call = self._open.pop(call_id, None) or _Call(UNNAMED)
        return [self._update(call_id, call, Phase.ERROR, error=error)]

    def joined_input(self, call_id: str) -> Raw | None:
        """The input that came in pieces alone; None if there is none."""
        call = self._open.get(call_id)
        if call is None or not call.pieces:
            return None
        return safe_json.from_text("".join(call.pieces))

    def described(self, call_id: str) -> Call | None:
        """The name and the input of an open call; None if they are not known."""
        call = self._open.get(call_id)
        if call is None or call.input is None:
            return None
        return Call(call_id, call.name, call.input)

    @property
    def _kept_bytes(self) -> int:
        return sum(call.size for call in self._open.values())

    def _known(self, call_id: str) -> _Call:
        call = self._open.get(call_id)
        if call is None:
            call = _Call(UNNAMED)
            self._add(call_id, call)
        return call

    def _add(self, call_id: str, call: _Call) -> None:
        keep(self._open, call_id, call, OPEN_MAX)

    def _update(
        self,
        call_id: str,
        call: _Call,
        phase: Phase,
        *,
        args: Raw | None = None,
        result: Raw | None = None,
        error: str | None = None,
    ) -> ToolUpdate:
        return ToolUpdate(
            call_id=call_id,
            tool_name=call.name,
            phase=phase,
            args=args,
            result=result,
            error=error,
        )
