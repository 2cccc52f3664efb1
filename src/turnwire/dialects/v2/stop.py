"""The stop operation: aborts a running turn, and waits until the turn is over."""

from collections.abc import Sequence
from typing import ClassVar, assert_never

from turnwire.core.events import Reason
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import StopRequest
from turnwire.core.wire.lenient import finish_reason
from turnwire.dialects.v2 import commands, frames, init
from turnwire.dialects.v2.operation import Operation


class StopOperation(Operation):
    """Aborts the turn that the request names, else the turn that runs on the request's channel."""

    NO_VERDICT: ClassVar = "no_verdict"
    IDLE: ClassVar = "idle"

    def __init__(self, request: StopRequest) -> None:
        super().__init__(request)
        self.result: StopResult | Rejection | None = None
        self._turn_id = request.turn_id
        self._prompt_id: str | None = None

    def connection_lost(self) -> None:
        if self._is_past_init:
            self._no_reply()
        else:
            self.result = Rejection.SILENT  # no abort was sent

    def _init_received(self, frame: frames.Init, entries: list[init.Entry]) -> Sequence[bytes]:
        running = _running_turns(frame, entries)
        turn_id = self._turn_id
        candidates = [
            e
            for e in running
            if (e.channel == self.channel if turn_id is None else e.id == turn_id)
        ]
        if candidates:
            turn = candidates[-1]
            self._turn_id, self._prompt_id = turn.id, turn.prompt_id
            return [commands.stop(turn.channel, turn.id, turn.prompt_id)]
        another_runs = turn_id is not None and running
        self.result = Rejection.OTHER_TURN if another_runs else _idle_result(entries, turn_id)
        return ()

    def _without_init(self) -> Sequence[bytes]:
        if self._turn_id is None:
            self.result = Rejection.UNSUPPORTED
            return ()
        return [commands.stop(self.channel, self._turn_id, None)]

    def _frame_received(self, frame: frames.Read) -> None:
        if not isinstance(frame, frames.TurnEnd):
            return
        match frame:
            case frames.Finalize(turn_id=turn_id) if turn_id == self._turn_id:
                reason = finish_reason(frame.reason)
                self.result = _stop_result(turn_id, reason)
            case frames.Complete() if self._names_our_turn(frame):
                self.result = _stop_result(self._turn_id, Reason.END_TURN)
            case frames.AgentError() if self._names_our_turn(frame):
                self.result = _stop_result(self._turn_id, Reason.ERROR)
            case frames.Finalize() | frames.Complete() | frames.AgentError():
                pass
            case _:
                assert_never(frame)

    def _names_our_turn(self, frame: frames.Unnamed) -> bool:
        """Whether a frame names the stopped turn. A frame without ids may be about any turn."""
        if frame.turn_id:
            return frame.turn_id == self._turn_id
        return bool(frame.prompt_id) and frame.prompt_id == self._prompt_id

    def _no_reply(self) -> None:
        self.result = StopResult(stopped=False, turn_id=self._turn_id, reason=self.NO_VERDICT)


def _running_turns(frame: frames.Init, entries: list[init.Entry]) -> list[init.Entry]:
    """The turns that run now: the one that `init` names, else all that are not over."""
    running_id = frame.data.running_turn_id
    if running_id is None and not frame.data.runner_busy:
        return []
    running = [entry for entry in entries if running_id in {None, entry.id} and entry.is_open]
    return running or ([] if running_id is None else [init.Entry(running_id, "assistant")])


def _idle_result(entries: list[init.Entry], turn_id: str | None) -> StopResult:
    """The result if no turn can be stopped: how the turn `turn_id` ended, if an entry says so."""
    for entry in reversed(entries):
        if turn_id is not None and entry.id == turn_id and not entry.is_open:
            for part in init.parts(entry):
                if part.type == "finish":
                    return _stop_result(turn_id, finish_reason(part.reason))
    return StopResult(stopped=False, turn_id=turn_id, reason=StopOperation.IDLE)


def _stop_result(turn_id: str | None, reason: Reason) -> StopResult:
    return StopResult(stopped=reason is Reason.CANCELED, turn_id=turn_id, reason=reason.value)
