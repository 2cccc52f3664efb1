"""Which tool calls and questions of a turn are open: the timers wait longer for them.

A call is open from its first phase to its outcome. An agent may repeat a phase of a call that is
done, or use the id of that call for a new one. The phase `pending` always opens a new call. The
phase `running` is a repetition in the same row of calls, and opens a new call after that row: text
and steps end a row (`_end_row`). Where parts are taken back, the calls since the last step are
forgotten: an attempt that is lost is one of a step.
"""

from collections import OrderedDict
from typing import Final, TypeAlias, assert_never

from turnwire.core.events import (
    PartsRetracted,
    Phase,
    Question,
    QuestionClosed,
    ReasoningDelta,
    Replied,
    StepStarted,
    TextDelta,
    ToolInputDelta,
    ToolUpdate,
)

COUNTED_CALLS_MAX: Final = 4_096
"""Most open calls that are counted, and most done calls that are remembered."""

COUNTED_QUESTIONS_MAX: Final = 64
"""Most open questions that are counted."""

WorkEvent: TypeAlias = (
    ToolUpdate
    | ToolInputDelta
    | Question
    | QuestionClosed
    | Replied
    | TextDelta
    | ReasoningDelta
    | StepStarted
    | PartsRetracted
)
"""The events that open or close calls and questions, or end a row of calls."""

_NONE: Final[OrderedDict[str, int]] = OrderedDict()
"""An empty dict that all turns share until their first call. Entries are never added to it."""


class OpenWork:
    """The calls and questions of one turn, by the agent's ids.

    The value of each is the number of the row of calls in which it began, or was done. The first
    values of the attributes belong to the class, since most turns have neither calls nor questions:
    an instance takes memory for an attribute only after it sets the attribute.
    """

    calls = _NONE
    questions = _NONE
    _requested = _NONE
    """Approvals that were requested at their call, and are not answered."""
    _is_closed = False
    has_text = False
    """Whether text came after the last call. The caller sets it for text that is no event."""
    has_fixed_rows = False
    """Whether text ends a row of calls even while one of them is open. The caller sets it for such
    an output (`OutputProtocol.has_fixed_steps`)."""
    _done = _NONE
    _row = 0
    _step_row = 0
    """The row in which the last step began that the agent named."""
    _row_has_calls = False

    @property
    def has_questions(self) -> bool:
        """Whether a question or a request for approval is open."""
        return bool(self.questions or self._requested)

    def request(self, question_id: str, call_id: str) -> None:
        """Count a request for approval. Its call is open too: it may be known from this alone."""
        if self._is_closed:
            return
        if self.has_text:
            self._end_row()
        self._update(call_id, Phase.RUNNING)
        self._requested = _with(self._requested, question_id, self._row)
        if len(self._requested) > COUNTED_QUESTIONS_MAX:
            self._requested.popitem(last=False)

    def close(self) -> None:
        """The output has ended before the turn: nothing is open, and nothing opens again."""
        self.calls = self.questions = self._requested = _NONE
        self._is_closed = True

    def take(self, event: WorkEvent) -> None:
        """Count an event of the turn."""
        if self._is_closed:
            return
        match event:  # the frequent cases come first
            case TextDelta(text) | ReasoningDelta(text):
                self.has_text = self.has_text or bool(text)
            case ToolUpdate():
                if self.has_text:
                    self._end_row()
                self._update(event.call_id, event.phase)
            case ToolInputDelta(call_id):
                if self.has_text:
                    self._end_row()
                self._update(call_id, Phase.RUNNING)
            case Question(question_id):
                self.questions = _with(self.questions, question_id, self._row)
                if len(self.questions) > COUNTED_QUESTIONS_MAX:
                    self.questions.popitem(last=False)
            case QuestionClosed(question_id):
                self.questions.pop(question_id, None)
                self._requested.pop(question_id, None)
            case Replied(question_id):
                self._requested.pop(question_id, None)
            case StepStarted():
                if self.has_fixed_rows or not self.calls:
                    self._row += 1
                    self.has_text = self._row_has_calls = False
                self._step_row = self._row
            case PartsRetracted():
                for call_id in [call for call, row in self.calls.items() if row >= self._step_row]:
                    del self.calls[call_id]
                self._row += 1  # the next attempt may use their ids
                self._row_has_calls = False
            case _:
                assert_never(event)

    def _end_row(self) -> None:
        """Text came: end the row of calls. If rows are not fixed, only when no call is open."""
        self.has_text = False
        if self._row_has_calls and (self.has_fixed_rows or not self.calls):
            self._row += 1
            self._row_has_calls = False

    def _update(self, call_id: str, phase: Phase) -> None:
        match phase:
            case Phase.PENDING:
                self._open_call(call_id)
            case Phase.RUNNING:
                if self._done.get(call_id, -1) < self._row:
                    self._open_call(call_id)
            case Phase.COMPLETED | Phase.ERROR:
                self._end_call(call_id)
            case _:
                assert_never(phase)

    def _open_call(self, call_id: str) -> None:
        if call_id in self.calls:
            return
        self._done.pop(call_id, None)
        self.calls = _with(self.calls, call_id, self._row)
        self._row_has_calls = True
        if len(self.calls) > COUNTED_CALLS_MAX:
            self._end_call(next(iter(self.calls)))

    def _end_call(self, call_id: str) -> None:
        if self.calls.pop(call_id, None) is None:
            if call_id in self._done:
                return
            self._row_has_calls = True  # it began and ended at once
        self._done = _with(self._done, call_id, self._row)
        if len(self._done) > COUNTED_CALLS_MAX:
            self._done.popitem(last=False)


def _with(ids: OrderedDict[str, int], new_id: str, row: int) -> OrderedDict[str, int]:
    """Return the ids with a new one."""
    if ids is _NONE:
        return OrderedDict({new_id: row})
    ids[new_id] = row
    return ids
