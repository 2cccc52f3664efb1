"""The suite that turnwire has for dialects, with the lines of pi."""

from collections.abc import Sequence
from typing import Final

from lines import Lines
from pi_dialect import Pi, PiShared
from turnwire.testing import ERROR, INPUT, OUTPUT, PROMPT, TOOL_NAME, DialectSuite, Exchange, Script

ENDS: Final = {"error": "error", "canceled": "aborted"}


class TestPi(DialectSuite):
    dialect = Pi()
    is_alone = True

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        lines = self.begun(prompt_id)
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

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        lines = self.begun(prompt_id)
        if script.name == "expired":
            return None  # pi says nothing when it decides by itself: the clock does
        if script.question:
            lines.message(*script.texts[:1], reason=None)
            lines.ui("input", "q1", title=script.question)
        else:
            arguments = dict(INPUT)
            lines.message(*script.texts[:1], calls=[("c1", TOOL_NAME, arguments)])
            lines.run("c1", TOOL_NAME, arguments)
            lines.ui("confirm", "q1", title="May I?")
        asks, lines.written = lines.written, []
        if script.name in {"approved", "denied"}:
            is_denied = script.name == "denied"
            text = "The user said no" if is_denied else OUTPUT
            lines.outcome("c1", TOOL_NAME, text, is_error=is_denied)
        lines.message(*script.texts[1:])
        lines.settle()
        return Exchange(asks=asks, goes_on=lines.written)

    def begun(self, prompt_id: str) -> Lines:
        """The lines until the message of our user."""
        lines = Lines(prompt_id)
        lines.opened() if self.is_alone else lines.state()
        lines.accepted()
        lines.begin(PROMPT)
        return lines


class TestPiShared(TestPi):
    dialect = PiShared()
    is_alone = False
