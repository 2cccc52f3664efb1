"""Rules of the agent runtime's loop that are broken: the properties of whole turns notice most."""

import ast
from typing import Any, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from mutants.edit import decided, unasked, without
from mutants.fault import Fault, Function
from mutants.wrong import always, never, nothing_is_done
from turnwire_agent.llm.events import Finish, Usage
from turnwire_agent.loop.actions import RunCall
from turnwire_agent.loop.calls.ids import CallIds
from turnwire_agent.loop.streaming import Attempt
from turnwire_agent.loop.turn_state import TurnState

PROPERTIES: Final = ("runtime/loop/test_crashes.py",)
RULES: Final = (
    "runtime/loop/test_decide.py",
    "runtime/loop/test_call_steps.py",
    "runtime/loop/test_turn_state.py",
    "runtime/loop/calls",
)


def a_key_for_each_run(begun: Function) -> Function:
    def wrong(self: RunCall, at: float) -> Any:
        right = begun(self, at)
        return replace(right, key=f"{right.key}/{self.run}")

    return wrong


def that_of_the_model(_unique: Function) -> Function:
    def wrong(_self: CallIds, model_id: str) -> str:
        return model_id

    return wrong


def all_calls_run(meaning: Function) -> Function:
    def wrong(*args: Any) -> Any:
        return replace(meaning(*args), calls="run")

    return wrong


def a_cut_one_is_whole(outcome: Function) -> Function:
    def wrong(self: Attempt) -> Any:
        if self._answer.finish is None:
            self._answer.finish = Finish("stop", "", Usage(), Raw(b"[]"))
        return outcome(self)

    return wrong


def the_last_counts(closed: Function) -> Function:
    def wrong(self: TurnState, event: Any) -> None:
        closed(self, event)
        for call in self.calls.values():
            if call.asked and call.asked.question_id == event.question_id:
                call.closed = event

    return wrong


def ignored_approval(checked: Function) -> Function:
    def wrong(call: Any, tool: Any, _allowed: Any) -> Any:
        return checked(call, tool, UNSET)

    return wrong


def all_at_once(startable: Function) -> Function:
    def wrong(runs: Any, state: Any, agent: Any, running: Any) -> Any:
        wide = replace(agent, limits=replace(agent.limits, concurrency=1_000))
        return startable(runs, state, wide, running)

    return wrong


def a_failure_is_a_no(_asks: Function) -> Function:
    def wrong(tool: Any, value: Any) -> bool:
        try:
            return bool(tool.needs_approval(value))
        except RuntimeError:
            return False

    return wrong


def unknown_is_none(_sum: Function) -> Function:
    def wrong(counts: Any) -> int:
        return sum(count or 0 for count in counts)

    return wrong


def _fault(name: str, target: str, becomes: Any, tests: tuple[str, ...] = PROPERTIES) -> Fault:
    return Fault(name, f"turnwire_agent.loop.{target}", becomes, tests)


FAULTS: Final = (
    _fault(
        "a model is asked while calls are open",
        "decide:decide",
        decided(ast.If, outcome=False, nth=-1),
    ),
    _fault(
        "an attempt of a dead process is forgotten",
        "decide:decide",
        decided(ast.If, outcome=False, nth=2),
    ),
    _fault("there is one answer too many", "decide:_over", without(ast.If, nth=-1)),
    _fault("calls may be written wrongly for ever", "decide:_over", without(ast.If, nth=3)),
    _fault("processes take a turn over for ever", "decide:_too_much", without(ast.If), RULES),
    _fault("things are done again for ever", "decide:_too_much", without(ast.If, 2), RULES),
    _fault("a turn has no end of its time", "decide:_too_much", without(ast.If, 3), RULES),
    _fault("a question is open for ever", "decide:_expired", nothing_is_done),
    _fault("a turn parks while a tool runs", "decide:_waiting", decided(ast.IfExp, outcome=False)),
    _fault("a fault is answered with attempts for ever", "decide:_model", unasked(2, nth=-1)),
    _fault("a final fault is tried again", "decide:_model", unasked(1, nth=-1), RULES),
    _fault("a transcript becomes shorter for ever", "decide:_model", unasked(2), RULES),
    _fault("what is done once is done again", "call_steps:_again", unasked(2)),
    _fault("calls of the last step are run", "call_steps:_never_run", unasked(2)),
    _fault("calls of a cut answer are run", "call_steps:meaning", all_calls_run),
    _fault("calls that are not valid ask a person", "call_steps:_plan", without(ast.If, nth=5)),
    _fault("a changed tool needs no new approval", "call_steps:_plan", unasked(2, nth=2), RULES),
    _fault("other arguments than allowed ones run", "call_steps:_checked", ignored_approval, RULES),
    _fault("a sequential tool runs beside others", "call_steps:_startable", without(ast.Break)),
    _fault("others run beside a sequential tool", "call_steps:_startable", without(ast.If)),
    _fault("any number of tools runs at once", "call_steps:_startable", all_at_once),
    _fault("whatever a person answers is a yes", "calls.approvals:approved", always),
    _fault(
        "a rule of approval that fails is a no",
        "calls.checked_input:_asks",
        a_failure_is_a_no,
        RULES,
    ),
    _fault("a rule of approval is not asked", "calls.checked_input:_asks", never),
    _fault(
        "the last answer of a person counts", "turn_state:TurnState._closed", the_last_counts, RULES
    ),
    _fault("a call has a key for each of its runs", "actions:RunCall.begun", a_key_for_each_run),
    _fault("calls of two answers have one id", "calls.ids:CallIds.unique", that_of_the_model),
    _fault("a stream that stops is an answer", "streaming:Attempt.outcome", a_cut_one_is_whole),
    _fault("calls are left open at the end", "endings:ending", without(ast.For)),
    _fault(
        "tokens that are unknown are none",
        "usage:_sum",
        unknown_is_none,
        ("runtime/loop/test_usage.py",),
    ),
)
