"""A second output protocol, as small as one can be: plain text, in lines."""

from collections.abc import Sequence

from turnwire.core.events import (
    AgentStatus,
    Event,
    Phase,
    Question,
    TextDelta,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)


class PlainText:
    """A `core.output.OutputProtocol`. A question ends it."""

    headers = ((b"content-type", b"text/plain; charset=utf-8"),)
    keepalive = b"\n"
    has_short_texts = False
    has_fixed_steps = False
    contradicted_chars = 0
    can_pause = True

    def __init__(self) -> None:
        self.is_waiting = False
        self._has_ended = False

    def feed(self, event: Event, _now: float) -> bytes:
        match event:
            case TurnStarted(turn_id):
                return f"turn {turn_id}\n".encode()
            case TextDelta(text):
                return text.encode()
            case AgentStatus(status):
                return f"\n[{status}]\n".encode()
            case ToolUpdate(tool_name=name, phase=Phase.COMPLETED):
                return f"\n[{name}]\n".encode()
            case TurnFinished(reason=reason):
                self._has_ended = True
                return f"\n[{reason.value}]\n".encode()
            case _:
                return b""

    def ask(self, question: Question, _now: float, *, is_over: bool) -> bytes:
        self.is_waiting = not is_over
        return b"" if is_over else f"\n[{question.question_id}?]\n".encode()

    def feed_texts(self, texts: Sequence[str], _now: float) -> bytes:
        return "".join(texts).encode()

    def pause(self) -> bytes:
        self._has_ended = True
        return b"[waiting]\n"

    def fail(self, text: str) -> bytes:
        if self._has_ended:
            return b""
        self._has_ended = True
        return f"\n[error: {text}]\n".encode()
