"""What an agent does not mean on the `ag-ui` wire: runs, calls, questions, texts taken wrongly."""

import ast
from collections.abc import Sequence
from typing import Final

from msgspec import Raw

from mutants.edit import decided, instead, unasked
from mutants.fault import Fault, Function
from mutants.wrong import always, never, nothing, nothing_is_done
from turnwire.dialects.ag_ui.content.confirmations import Confirmations
from turnwire.dialects.ag_ui.frames import RunEvent

_WIRE: Final = "turnwire.dialects.ag_ui"
_TURN: Final = f"{_WIRE}.turn:TurnProtocol"
_CALLS: Final = f"{_WIRE}.content.calls:Calls"
_AS_APPROVALS: Final = f"{_WIRE}.asking:are_approvals"
_PROGRESS: Final = f"{_WIRE}.content.progress:Progress"

_TURN_TESTS: Final = ("dialects/ag_ui/test_turn.py",)
_BINDING: Final = ("dialects/ag_ui/test_binding.py",)
_HABITS: Final = ("dialects/ag_ui/test_habits.py", "dialects/ag_ui/test_graphs.py")
_QUESTIONS: Final = ("dialects/ag_ui/test_questions.py",)
_CONTINUATION: Final = ("dialects/ag_ui/test_continuation.py",)
_SETTLED: Final = ("dialects/ag_ui/test_settled_calls.py",)
_ASKING: Final = ("dialects/ag_ui/test_asking.py",)


def like_any_call(_pass_on: Function) -> Function:
    def wrong(_self: Confirmations, frame: RunEvent) -> Sequence[RunEvent]:
        return (frame,)

    return wrong


def as_it_came(_payload: Function) -> Function:
    def wrong(answer: Raw, *, _is_approval: bool) -> Raw:
        return answer

    return wrong


FAULTS: Final = (
    Fault(
        "the end of another run ends ours",
        f"{_TURN}._is_end",
        instead(ast.Return, "return True", nth=2),
        _TURN_TESTS,
    ),
    Fault(
        "events of another run are ours", f"{_TURN}._run_started", unasked(2, nth=2), _TURN_TESTS
    ),
    Fault(
        "behind the begin of another run a nameless one is ours",
        f"{_TURN}._run_started",
        unasked(3, nth=2),
        _BINDING,
    ),
    Fault(
        "a nameless run of another thread is ours",
        f"{_WIRE}.binding:is_ours",
        instead(ast.Return, "return None", nth=2),
        _BINDING,
    ),
    Fault("a late run begins the turn again", f"{_TURN}._run_started", unasked(1), _QUESTIONS),
    Fault(
        "a turn that waits is cut",
        f"{_TURN}.connection_lost",
        decided(ast.If, outcome=False),
        _QUESTIONS,
    ),
    Fault(
        "a result that waits is lost with the body",
        f"{_TURN}.connection_lost",
        instead(ast.IfExp, "None"),
        _TURN_TESTS,
    ),
    Fault(
        "a run begins before all answers are there",
        f"{_TURN}.reply",
        decided(ast.If, outcome=False, nth=2),
        _QUESTIONS,
    ),
    Fault(
        "a prompt that a graph swallowed is lost without a word",
        f"{_TURN}._ask",
        decided(ast.If, outcome=False),
        _QUESTIONS,
    ),
    Fault("a question beside approvals is lost", _AS_APPROVALS, unasked(2, nth=2), _ASKING),
    Fault(
        "a long turn goes on without its beginning",
        f"{_TURN}._next_run",
        decided(ast.If, outcome=False),
        _QUESTIONS,
    ),
    Fault(
        "the same question twice",
        f"{_TURN}._run_finished",
        instead(ast.BoolOp, "[*found, *spelled_otherwise]"),
        _QUESTIONS,
    ),
    Fault(
        "an end of a call twice is two inputs",
        f"{_CALLS}.end",
        unasked(2),
        ("dialects/ag_ui/content/test_calls.py",),
    ),
    Fault("a repeated call is a second card", f"{_CALLS}._is_known", never, _CONTINUATION),
    Fault("a call with an old id is the old call", f"{_CALLS}._is_known", always, _SETTLED),
    Fault("a card asks for two approvals", _AS_APPROVALS, unasked(1, nth=1), _ASKING),
    Fault(
        "any call that the client says has no result is one that waits",
        f"{_CALLS}.was_settled_as",
        always,
        ("dialects/ag_ui/test_settled_continuation.py",),
    ),
    Fault(
        "a snapshot overrides an input",
        f"{_CALLS}.input_found",
        unasked(3),
        ("dialects/ag_ui/content/test_calls.py",),
    ),
    Fault(
        "a second result counts",
        f"{_CALLS}.result",
        decided(ast.If, outcome=False),
        ("dialects/ag_ui/content/test_calls.py",),
    ),
    Fault(
        "a call without input has none in the end",
        f"{_CALLS}.settle_inputs",
        nothing,
        ("dialects/ag_ui/content/test_calls.py",),
    ),
    Fault("a failure is an output", f"{_WIRE}.content.results:marked_failure", never, _HABITS),
    Fault("a graph is not asked what failed", f"{_PROGRESS}._take_graph", nothing, _HABITS),
    Fault(
        "any mark is a failure",
        f"{_WIRE}.content.results:marked_failure",
        always,
        ("dialects/ag_ui/content/test_results.py",),
    ),
    Fault(
        "text of other roles is shown",
        f"{_WIRE}.content.text:TextMessages.start",
        nothing,
        ("dialects/ag_ui/content/test_text.py",),
    ),
    Fault(
        "thoughts are told twice",
        f"{_WIRE}.content.text:ReasoningMessages._repeatable",
        nothing,
        ("dialects/ag_ui/content/test_text.py",),
    ),
    Fault(
        "an invented call is a card",
        f"{_WIRE}.content.confirmations:Confirmations.pass_on",
        like_any_call,
        _QUESTIONS,
    ),
    Fault("a state is for everybody", f"{_WIRE}.content.state:State.is_off", never, _TURN_TESTS),
    Fault(
        "earlier turns have our calls",
        f"{_WIRE}.content.snapshots:read",
        decided(ast.If, outcome=False),
        ("dialects/ag_ui/content/test_snapshots.py",),
    ),
    Fault(
        "shorthand stays open",
        f"{_WIRE}.content.shorthand:Lanes.close_all",
        nothing,
        ("dialects/ag_ui/content/test_shorthand.py",),
    ),
    Fault(
        "a yes is a bare word",
        f"{_WIRE}.interrupts:_payload",
        as_it_came,
        ("dialects/ag_ui/test_interrupts.py",),
    ),
    Fault(
        "each question asks for a yes or a no",
        f"{_WIRE}.interrupts:_asks_yes_or_no",
        always,
        ("dialects/ag_ui/test_interrupts.py",),
    ),
    Fault(
        "any approval answers any call",
        "turnwire.core.answered_questions:_pending_question",
        unasked(2),
        _CONTINUATION,
    ),
    Fault(
        "a client may change the call that it approves",
        "turnwire.core.answered_questions:_are_about",
        always,
        _CONTINUATION,
    ),
    Fault(
        "counts of a run are summed twice",
        f"{_WIRE}.content.usage:Usage.run_ended",
        decided(ast.If, outcome=True),
        ("dialects/ag_ui/content/test_usage.py",),
    ),
    Fault(
        "what was told is told to no next run",
        f"{_WIRE}.content.transcript:Transcript.text",
        nothing_is_done,
        ("dialects/ag_ui/content/test_transcript.py",),
    ),
    Fault(
        "a call whose input was not told is sent to no next run",
        f"{_WIRE}.content.transcript:Transcript.call",
        decided(ast.If, outcome=True, nth=2),
        ("dialects/ag_ui/test_sent_calls.py",),
    ),
    Fault(
        "a reject in a list of decisions is no no",
        f"{_WIRE}.decisions:listed",
        nothing_is_done,
        ("dialects/ag_ui/test_listed_decisions.py",),
    ),
    Fault("deltas are not in the transcript", f"{_TURN}._note_pieces", nothing_is_done, _QUESTIONS),
    Fault("a quick delta passes a held result", f"{_PROGRESS}.fast_id", unasked(1), _TURN_TESTS),
)
