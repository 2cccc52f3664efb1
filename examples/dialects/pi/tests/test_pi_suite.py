"""The suite that turnwire has for dialects, with the lines of pi."""

from collections.abc import Sequence
from typing import Final

from lines import Lines
from pi_dialect import Pi, PiShared
from turnwire.testing import ERROR, INPUT, OUTPUT, TOOL_NAME, DialectSuite, Script
from turnwire.testing.scripts import PROMPT

ENDS: Final = {"error": "error", "canceled": "aborted"}


class TestPi(DialectSuite):
    dialect = Pi()
    is_alone = True

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        lines = Lines(prompt_id)
        lines.opened() if self.is_alone else lines.state()
        lines.accepted()
        lines.begin(PROMPT)
        texts = list(script.texts)
        if script.calls:
            first = [texts.pop(0)] if script.name == "two_texts" else []
            calls = [(call_id, TOOL_NAME, dict(INPUT)) for call_id in script.calls]
            lines.message(*first, calls=calls)
            for call_id in script.calls:
                lines.event(
                    "tool_execution_start",
                    toolCallId=call_id,
                    toolName=TOOL_NAME,
                    args=dict(INPUT),
                )
            outcomes = [
                (call_id, OUTPUT if state == "output-available" else ERROR, state)
                for call_id, state in script.calls.items()
            ]
            for call_id, text, state in reversed(outcomes):
                lines.outcome(call_id, TOOL_NAME, text, is_error=state != "output-available")
            for call_id, text, state in outcomes:
                lines.result(call_id, TOOL_NAME, text, is_error=state != "output-available")
            lines.event("turn_end", message={}, toolResults=[])
            lines.event("turn_start")
        reason = ENDS.get(script.name, "stop")
        error = ERROR if script.name == "error" else None
        if script.name == "question":
            lines.message(*texts, reason=None)
            lines.ui("input", "q1", title=script.question)
            return lines.written
        lines.message(*texts, thinking=script.reasoning, reason=reason, error=error)
        lines.settle()
        return lines.written


class TestPiShared(TestPi):
    dialect = PiShared()
    is_alone = False
