"""What holds of every turn that is over, whatever happened in it."""

from collections import Counter

from msgspec import Raw

from runtime.loop.turn_machine import PROMPT, Machine, begun, ended
from turnwire_agent.llm.transcript import Call
from turnwire_agent.loop import words
from turnwire_agent.loop.prepare import repaired
from turnwire_agent.loop.usage import total
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    QuestionAsked,
    QuestionClosed,
    StepBegun,
    StepEnded,
)
from turnwire_agent.tools.arguments import Valid
from turnwire_agent.tools.contract import Effect

YES = {b"true", b'{"approved":true}', b'"approve"'}
"""Those answers of `scenarios.ANSWERS` that allow a call."""


def keeps(machine: Machine) -> None:
    """Check all of it."""
    each_call_has_one_outcome(machine)
    calls_run_after_their_answer_and_before_the_next(machine)
    effects_follow_their_policy(machine)
    nobody_runs_what_nobody_allowed(machine)
    only_whole_and_valid_calls_run(machine)
    the_bounds_hold(machine)
    the_end_fits(machine)


def each_call_has_one_outcome(machine: Machine) -> None:
    calls = [call_id for step in machine.of(StepEnded) for call_id in step.call_ids]
    assert len(set(calls)) == len(calls)
    assert Counter(calls) == Counter({id_: len(each) for id_, each in ended(machine).items()})
    assert set(begun(machine)) <= set(calls), "a call of a lost attempt ran"
    assert not machine.state.open_calls
    assert not machine.state.questions
    assert repaired(machine.state.transcript) == machine.state.transcript


def calls_run_after_their_answer_and_before_the_next(machine: Machine) -> None:
    waiting: set[str] = set()
    asking: StepBegun | None = None
    for event in machine.journal:
        match event:
            case StepBegun():
                assert not waiting, "a model is asked before each call has its outcome"
                assert asking is None, "two attempts at once"
                asking = event
            case StepEnded() | AttemptLost():
                assert asking
                assert (event.step, event.turn_id) == (asking.step, asking.turn_id)
                asking = None
                if isinstance(event, StepEnded):
                    waiting |= set(event.call_ids)
            case CallBegun():
                assert event.call_id in waiting
            case CallEnded():
                waiting.remove(event.call_id)
            case _:
                pass


def effects_follow_their_policy(machine: Machine) -> None:
    for call_id, times in begun(machine).items():
        events = [event for event in machine.of(CallBegun) if event.call_id == call_id]
        assert [event.run for event in events] == list(range(times))
        assert len({event.key for event in events}) == 1
        assert len({bytes(event.input) for event in events}) == 1
        if events[0].effect == "once":
            assert times == 1
    keys = Counter(key for _, call_id, key in machine.effects)
    assert all(times == 1 for times in keys.values()), "two calls have one key"
    for (name, call_id, _), times in machine.effects.items():
        tool = machine.agent.tools.get(name)
        assert tool
        assert times == 1 or tool.effect is not Effect.ONCE
        if times > 1 or begun(machine)[call_id] > 1:
            assert machine.deaths
    for call_id, [outcome] in ended(machine).items():
        if outcome.outcome == "unknown":
            assert machine.deaths
            assert begun(machine)[call_id], "an outcome is unknown of what never began"


def nobody_runs_what_nobody_allowed(machine: Machine) -> None:
    allowed: dict[str, bytes] = {}
    asked: dict[str, QuestionAsked] = {}
    for event in machine.journal:
        match event:
            case QuestionAsked(call_id=str(call_id)):
                assert call_id not in {each.call_id for each in asked.values()}
                asked[event.question_id] = event
            case QuestionClosed() if event.question_id in asked:
                question = asked[event.question_id]
                if isinstance(event.answer, Raw) and bytes(event.answer) in YES:
                    assert isinstance(question.input, Raw)
                    allowed[str(question.call_id)] = bytes(question.input)
            case CallBegun():
                if event.tool == "mail.send" or event.call_id in {
                    each.call_id for each in asked.values()
                }:
                    assert allowed[event.call_id] == bytes(event.input)
            case _:
                pass


def only_whole_and_valid_calls_run(machine: Machine) -> None:
    for step in machine.of(StepEnded):
        for call, call_id in zip(step.message.calls, step.call_ids, strict=True):
            if call_id in begun(machine):
                assert step.finish_reason in {"tool-calls", "stop", "other"}
                assert _is_valid(machine, call)


def _is_valid(machine: Machine, call: Call) -> bool:
    tool = machine.agent.tools.get(call.name)
    return tool is not None and isinstance(tool.validate(call.arguments), Valid)


def the_bounds_hold(machine: Machine) -> None:
    limits = machine.agent.limits
    assert len(machine.of(StepEnded)) <= limits.steps
    assert max((asked.step for asked in machine.asked), default=0) < limits.steps
    for running in machine.together:
        assert len(running) <= limits.concurrency
        names = [machine.state.calls[call_id].call.name for call_id in running]
        assert "move" not in names or len(names) == 1
    faults = Counter(
        lost.step
        for lost in machine.of(AttemptLost)
        if lost.why not in {"died", "context-overflow"}
    )
    assert all(times <= limits.attempts for times in faults.values())
    refused = {
        machine.state.calls[call_id].step
        for call_id, [outcome] in ended(machine).items()
        if outcome.outcome == "failed" and call_id not in begun(machine)
    }
    assert len(refused) <= limits.repairs + 1
    assert all(index < limits.calls for index in _positions_run(machine))


def _positions_run(machine: Machine) -> list[int]:
    return [machine.state.calls[call_id].position for call_id in begun(machine)]


def the_end_fits(machine: Machine) -> None:
    end = machine.end
    assert end
    assert (end.error is not None) == (end.reason == "error")
    assert "secret" not in str(end)
    assert end.usage == total(step.usage for step in machine.of(StepEnded))
    assert end.lost_usage == total(lost.usage for lost in machine.of(AttemptLost))
    if end.finish_reason == "max-steps":
        assert len(machine.of(StepEnded)) == machine.agent.limits.steps
        for call_id in machine.of(StepEnded)[-1].call_ids:
            # A process that gave the turn up for another reason may have died in between.
            assert ended(machine)[call_id][0].error in {words.STEP_LIMIT, words.NOT_RUN}
    following = (*machine.state.transcript, *PROMPT)
    assert repaired(following) == following, "the next prompt is refused"
