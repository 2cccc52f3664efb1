"""What the events of our runs tell, one after the other: text, reasoning, calls, steps, state.

`Progress` goes on from one run of a turn to the next. It knows nothing of where a run begins and
how it ends (`turn`).
"""

from collections.abc import Iterable
from typing import Final, TypeAlias, assert_never

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.body.ui_message import DENIED
from turnwire.core.bounds import OPEN_QUESTIONS_MAX, keep
from turnwire.core.events import AgentStatus, Event, Phase, ToolUpdate
from turnwire.core.requests import StateMode
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.open_blocks import OpenBlocks
from turnwire.core.wire.schema import name_or_odd
from turnwire.dialects.ag_ui import frames, interrupts
from turnwire.dialects.ag_ui.content import results, snapshots
from turnwire.dialects.ag_ui.content.calls import NO_RESULT, Calls
from turnwire.dialects.ag_ui.content.confirmations import Confirmations
from turnwire.dialects.ag_ui.content.results import Held, HeldResults
from turnwire.dialects.ag_ui.content.shorthand import Lanes
from turnwire.dialects.ag_ui.content.state import State
from turnwire.dialects.ag_ui.content.text import ReasoningMessages, TextMessages
from turnwire.dialects.ag_ui.content.transcript import Transcript
from turnwire.dialects.ag_ui.content.usage import Usage
from turnwire.dialects.ag_ui.frames import RunEvent, Shorthand
from turnwire.dialects.ag_ui.interrupts import ON_INTERRUPT, Interrupt

SUBAGENTS_MAX: Final = 64
"""Most subagents whose names are kept."""

_USAGE: Final = "usage"
_NO_ID: Final = ""
"""The id of reasoning that was told without one."""

_OF_TEXT: Final = (frames.TextContent, frames.TextStart, frames.TextEnd)

_MAY_MARK: Final = (
    *(frames.EncryptedValue, frames.CallResult),
    *(frames.MessagesSnapshot, frames.StateSnapshot),
)
"""Events that may say of a result before them that it is a failure, or leave that open."""

StateFrame: TypeAlias = (
    frames.StateSnapshot | frames.StateDelta | frames.ActivitySnapshot | frames.ActivityDelta
)


class Progress:
    """What a turn tells the client. `take` returns the events of one event of the wire."""

    def __init__(
        self, run_id: str, frame_stats: FrameStats, state_mode: StateMode, transcript: Transcript
    ) -> None:
        """`transcript` keeps what is told as messages."""
        self.calls = Calls()
        self._blocks = OpenBlocks()
        self.text = TextMessages(self._blocks, frame_stats)
        self.usage = Usage()
        self.transcript = transcript
        self.interrupts: list[Interrupt] = []
        """Interrupts that came in events of their own in this run."""
        self.has_unreadable_interrupt = False
        """Whether one more of them came, and cannot be asked."""
        self.has_worked = False
        """Whether this run did anything before its end."""
        self._run_id = run_id
        self._reasoning = ReasoningMessages(self._blocks, frame_stats)
        self._state = State(state_mode, frame_stats)
        self._confirmations = Confirmations()
        self._lanes = Lanes()
        self._held = HeldResults()
        self._subagents: dict[str, str] = {}
        self._frame_stats = frame_stats

    @property
    def fast_id(self) -> str | None:
        """The message whose next delta is a delta and nothing else; None if there is none."""
        is_plain = not self._held.by_call and not self._lanes.holds_calls
        return self._blocks.text_id if is_plain else None

    @property
    def holds_result(self) -> bool:
        return bool(self._held.by_call)

    def next_run(self, run_id: str) -> None:
        """Another run of this turn begins."""
        self._run_id = run_id
        self.interrupts = []
        self.has_unreadable_interrupt = False
        self.has_worked = False
        self.calls.next_run()

    def take(self, frame: RunEvent | Shorthand, raw: bytes) -> list[Event]:
        """Return the events of an event of our run. `raw` is the same in JSON."""
        if isinstance(frame, _OF_TEXT) and not self._held.by_call and not self._lanes.open:
            return self._take(frame, len(raw))  # nothing waits for it
        new = [] if isinstance(frame, _MAY_MARK) else self.release()
        expanded = self._lanes.expand(frame)
        if expanded is None:
            self._frame_stats.count_malformed(raw)
            return new
        for each in expanded:
            for one in self._confirmations.pass_on(each):
                new += self._tell(self._take(one, len(raw)))
        return new

    def take_raw(self, raw: bytes) -> list[Event]:
        """Take an event of the framework behind the agent: it may tell something of a call."""
        self.has_worked = True
        self._frame_stats.count_left_out("RAW", len(raw))
        if not self.calls.any_lacks_outcome:
            return []
        return self._tell(self._take_graph(snapshots.in_raw(raw)))

    def release(self) -> list[Event]:
        """Tell the results that were held, each as the failure that it is or as what it seems."""
        if not self._held.by_call:
            return []
        new: list[Event] = []
        for held, is_failure in self._held.release():
            self._reasoning.new_round()
            has_failed = is_failure or held.outcome.text == DENIED
            ended = results.events_of(self.calls, held.call_id, held.outcome, is_failure=has_failed)
            new += self._tell(ended)  # it may be the first to have the input
            self.transcript.result(held.call_id, held.message_id, held.content)
        return new

    def finish(self, *, is_interrupted: bool) -> list[Event]:
        """The run is over."""
        new = self.release()
        for frame in self._lanes.close_all():
            new += self._tell(self._take(frame, 0))
        new += self._reasoning.close()
        new += self._tell(list(self.calls.settle_inputs()))
        for frame in self._confirmations.end():
            if is_interrupted:
                self._frame_stats.doubled += 1
            else:
                new += self._tell(self._take(frame, 0))
        return new

    def show_more(self, call_ids: Iterable[str]) -> list[Event]:
        """The user is asked about these calls: the client sees all that each has."""
        return self._tell(self.calls.show_more(call_ids))

    def _tell(self, new: list[Event]) -> list[Event]:
        """Note what goes to the client."""
        for event in new:
            if isinstance(event, ToolUpdate):
                if event.phase is Phase.PENDING:
                    self.transcript.begin(event.call_id)
                else:
                    self.transcript.call(event.call_id, event.tool_name, event.args)
        return new

    def _take(self, frame: RunEvent, size: int) -> list[Event]:
        match frame:
            case frames.TextContent(message_id=message_id, delta=delta):
                return self._write(message_id, delta)
            case frames.TextStart(message_id=message_id, role=role):
                self.text.start(message_id, role)
                return []
            case frames.TextEnd(message_id=message_id):
                return self.text.end(message_id)
            case frames.ReasoningContent(message_id=message_id, delta=delta):
                return self._reason(message_id, delta)
            case frames.ThinkingContent(delta=delta):
                return self._reason(_NO_ID, delta)
            case frames.ReasoningEnd(message_id=message_id):
                return self._reasoning.end(message_id)
            case frames.ThinkingEnd():
                return self._reasoning.end(_NO_ID)
            case frames.ReasoningStart() | frames.ThinkingStart() | frames.Skipped():
                return []
            case frames.EncryptedValue():
                return self._encrypted(frame, size)
            case frames.CallStart(tool_call_id=call_id, tool_call_name=name):
                self.has_worked = True
                return self.calls.start(call_id, name)
            case frames.CallArgs(tool_call_id=call_id, delta=delta):
                return self.calls.args(call_id, delta)
            case frames.CallEnd(tool_call_id=call_id):
                return self.calls.end(call_id)
            case frames.CallResult():
                return self._result(frame)
            case frames.StepStarted(step_name=name):
                self.has_worked = True
                return [AgentStatus("step_started", name)]
            case frames.StepFinished(step_name=name):
                return [AgentStatus("step_finished", name)]
            case frames.SubagentStarted(subagent_run_id=run_id, name=name):
                keep(self._subagents, run_id, name, SUBAGENTS_MAX)
                return [AgentStatus("subagent_started", name)]
            case frames.SubagentFinished(subagent_run_id=run_id, result=result):
                self._leave_out("result of a subagent", result)
                return [AgentStatus("subagent_finished", self._subagents.pop(run_id, None))]
            case frames.SubagentError(subagent_run_id=run_id, message=message):
                return [self._subagent_failed(run_id, message)]
            case frames.MessagesSnapshot(messages=messages):
                return [*self._messages(snapshots.read(messages)), *self.release()]
            case frames.StateSnapshot(snapshot=snapshot):
                calls = self.calls
                waits = self._held.by_call or calls.waits_for_input or calls.has_waited
                found = snapshots.in_state(snapshot) if waits else snapshots.NOTHING
                return [
                    *self._take_graph(found),
                    *self.release(),
                    *self._take_outcomes(found),
                    *self._show_state(frame, size),
                ]
            case frames.StateDelta() | frames.ActivitySnapshot() | frames.ActivityDelta():
                return self._show_state(frame, size)
            case frames.Custom(name=name, value=value):
                self._custom(name, value, size)
                return []
            case _:
                assert_never(frame)

    def _write(self, message_id: str, delta: str) -> list[Event]:
        new = self.text.content(message_id, delta)
        if new:
            self.has_worked = True
            self.transcript.text(message_id, delta)
        return new

    def _reason(self, message_id: str, delta: str) -> list[Event]:
        self.has_worked = True
        return self._reasoning.content(message_id, delta)

    def _encrypted(self, frame: frames.EncryptedValue, size: int) -> list[Event]:
        if self._held.mark(frame):
            return self.release() if self._held.wait_for_no_mark else []
        self._frame_stats.count_left_out("REASONING_ENCRYPTED_VALUE", size)
        return self.release()

    def _result(self, frame: frames.CallResult) -> list[Event]:
        """A result: its input is whole now, and the outcome waits for the mark of a failure."""
        self.has_worked = True
        call_id = frame.tool_call_id
        new = self.calls.end(call_id)
        if self.calls.is_done(call_id) or call_id in self._held.by_call:
            return new
        if self._held.is_full:
            new += self.release()
        self._held.add(
            Held(
                call_id,
                safe_json.short_string(frame.message_id) or f"{call_id}:result",
                frame.content,
                results.outcome_of(frame.content, self._frame_stats),
            )
        )
        return new

    def _messages(self, snapshot: snapshots.Snapshot) -> list[Event]:
        """A snapshot of the conversation: what calls of ours lack, and nothing else."""
        new: list[Event] = []
        for call_id, call in snapshot.calls.items():
            if self.calls.lacks_outcome(call_id):
                new += self._call_in_snapshot(call_id, call)
            else:
                self._count_late(call_id, call)
        for message_id, length in snapshot.text_lengths.items():
            streamed = self.transcript.length(message_id)
            if streamed not in {None, length} and not self.text.may_go_on(message_id):
                self._frame_stats.count_left_out("contradicted text", length)
        return new

    def _call_in_snapshot(self, call_id: str, call: snapshots.CallInTurn) -> list[Event]:
        """Tell what a call without an outcome lacks."""
        new = [] if call.input is None else self.calls.input_found(call_id, call.input)
        found = call.outcome
        if found is None or self._is_echo(call_id, found.content):
            return new
        is_failure = found.error is not None
        if call_id in self._held.by_call:
            if is_failure:
                self._held.has_failed(call_id)
            return new
        return [*new, *self._outcome(call_id, found)]

    def _outcome(self, call_id: str, found: snapshots.ToolOutcome) -> list[Event]:
        """Tell the outcome of a call that no event of its own told."""
        self._reasoning.new_round()
        outcome = results.outcome_of(found.content, self._frame_stats)
        is_failure = found.error is not None or outcome.text == DENIED  # the agent repeats it
        ended = self._tell(
            results.events_of(
                self.calls, call_id, outcome, is_failure=is_failure, error=found.error
            )
        )
        self.transcript.result(call_id, found.message_id, found.content)
        return ended

    def _take_outcomes(self, found: snapshots.InGraph) -> list[Event]:
        """Tell the outcomes of calls that had none when this run began.

        A graph has no event for the outcome of a call that it does not run, as one that was denied.
        """
        return [
            event
            for ended, error in ((found.succeeded, None), (found.failed, ""))
            for call_id, content in ended.items()
            if self.calls.has_waited_for(call_id) and not self._is_echo(call_id, content)
            for event in self._outcome(
                call_id, snapshots.ToolOutcome(f"{call_id}:result", content, error)
            )
        ]

    def _is_echo(self, call_id: str, content: Raw) -> bool:
        """Whether the agent repeats what it was sent of a call that has no outcome yet."""
        return not self.calls.is_open(call_id) and safe_json.string(content) == NO_RESULT

    def _count_late(self, call_id: str, call: snapshots.CallInTurn) -> None:
        """Count what the client was not told of a call before its outcome, and not any more."""
        is_error = call.outcome is not None and call.outcome.error is not None
        has_input = call.input is not None
        for what in self.calls.came_late(call_id, has_input=has_input, is_error=is_error):
            self._frame_stats.count_left_out(what, 1)

    def _take_graph(self, found: snapshots.InGraph) -> list[Event]:
        """Tell inputs that calls did not tell, and note which calls failed."""
        for call_id, content in found.failed.items():
            if self.calls.lacks_outcome(call_id) and not self._is_echo(call_id, content):
                self._held.has_failed(call_id)
        return [
            event
            for call_id, whole in found.inputs.items()
            for event in self.calls.input_found(call_id, whole)
        ]

    def _show_state(self, frame: StateFrame, size: int) -> list[Event]:
        if self._state.is_off:
            kind = str(type(frame).__struct_config__.tag)
            self._frame_stats.count_left_out(kind, size)
            return []
        match frame:
            case frames.StateSnapshot(snapshot=snapshot):
                return self._state.snapshot(snapshot)
            case frames.StateDelta(delta=patch):
                return self._state.delta(patch)
            case frames.ActivitySnapshot():
                return self._state.activity(frame)
            case frames.ActivityDelta():
                return self._state.activity_delta(frame)
            case _:
                assert_never(frame)

    def _custom(self, name: str, value: Raw, size: int) -> None:
        if name in interrupts.SPELLINGS:
            self._interrupt(name, value)
        elif name == _USAGE:
            self.usage.used_so_far(value)
        else:
            self._frame_stats.count_left_out(f"CUSTOM {name_or_odd(name)}", size)

    def _interrupt(self, name: str, value: Raw) -> None:
        """Keep an interrupt to the end of its run."""
        number = len(self.interrupts)
        found = interrupts.from_custom(name, value, f"{self._run_id}:{number}")
        # A command has one answer: of two interrupts that want it, one would never get its own.
        is_second = name == ON_INTERRUPT and any(each.is_of_graph for each in self.interrupts)
        if found is not None and number < OPEN_QUESTIONS_MAX and not is_second:
            self.interrupts.append(found)
        else:
            self.has_unreadable_interrupt = True
            self._frame_stats.count_left_out(interrupts.UNREADABLE, len(value))

    def result(self, value: Raw) -> list[Event]:
        """Return what the result of the run tells, if there is one."""
        if self._state.is_off:
            self._leave_out("result of a run", value)
            return []
        return self._state.result(self._run_id, value) if _is_given(value) else []

    def _leave_out(self, what: str, value: Raw) -> None:
        """Count a value that no client is shown, if there is one."""
        if _is_given(value):
            self._frame_stats.count_left_out(what, len(value))

    def _subagent_failed(self, run_id: str, message: Raw) -> AgentStatus:
        name, text = self._subagents.pop(run_id, None), safe_json.error_message(message)
        detail = safe_json.error_text(": ".join(filter(None, (name, text))), "")
        return AgentStatus("subagent_error", detail or None)


def _is_given(value: Raw) -> bool:
    """Whether a field has a value other than null."""
    return bool(value) and bytes(value) != b"null"
