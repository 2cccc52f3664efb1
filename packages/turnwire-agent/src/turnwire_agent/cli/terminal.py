"""What a terminal shows of a call: the answer on standard output, all else beside it."""

import re
from typing import IO, Final

from turnwire_agent.llm.events import (
    Event,
    FileMade,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    Source,
    TextDelta,
    TextEnd,
    ToolCall,
    Usage,
)
from turnwire_agent.llm.faults import Fault

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that a terminal obeys. A line break and a tab stay."""


def printable(text: str) -> str:
    """Text that moves no terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class Terminal:
    """Shows the events of a call, and its bytes.

    Args:
        answer: Where the text of the answer goes, and nothing else.
        beside: Where all else goes.
        wire: Whether bytes are shown.
    """

    def __init__(self, answer: IO[str], beside: IO[str], *, wire: bool = False) -> None:
        self._answer = answer
        self._beside = beside
        self.tap = _WireLines(beside) if wire else None

    def event(self, event: Event) -> None:
        """Show an event, if it is one for people."""
        match event:
            case TextDelta():
                shown = printable(event.text) if self._answer.isatty() else event.text
                print(shown, end="", file=self._answer, flush=True)
            case TextEnd():
                print(file=self._answer, flush=True)
            case ReasoningDelta():
                print(printable(event.text), end="", file=self._beside, flush=True)
            case ReasoningEnd():
                print(file=self._beside)
            case ToolCall():
                self.line(f"calls {event.name} with {event.arguments}")
            case FileMade():
                self.line(f"made a file: {event.media_type}, {len(event.data)} bytes")
            case Source():
                self.line(f"source: {event.url}")
            case Finish():
                self.line(f"finished: {event.reason} ({event.raw}){_counted(event.usage)}")
            case _:
                return

    def line(self, text: str) -> None:
        """Show a line beside the answer."""
        print(printable(text), file=self._beside, flush=True)


def fault_line(fault: Fault) -> str:
    """What went wrong, in a line."""
    known = [str(fault.status)] if fault.status else []
    known += [fault.code] if fault.code else []
    line = fault.kind + (f" ({', '.join(known)})" if known else "")
    line += f": {fault.message}" if fault.message else ""
    if fault.retry_after_s is not None:
        line += f" [again in {fault.retry_after_s:g} s]"
    return line


def _counted(usage: Usage) -> str:
    if usage.input is None and usage.output is None:
        return ""
    shown = ["?" if each is None else str(each) for each in (usage.input, usage.output)]
    return f", {shown[0]} tokens in, {shown[1]} out"


class _WireLines:
    """The bytes of a call as lines: `> ` before those that are sent, `< ` before the others."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._mark = ""

    def sent(self, data: bytes) -> None:
        self._write("> ", data)

    def received(self, data: bytes) -> None:
        self._write("< ", data)

    def _write(self, mark: str, data: bytes) -> None:
        text = printable(data.decode("utf-8", "backslashreplace").replace("\r\n", "\n"))
        if not text:
            return
        if self._mark not in ("", mark):
            self._out.write("\n")
            self._mark = ""
        for line in text.splitlines(keepends=True):
            self._out.write(line if self._mark else mark + line)
            self._mark = "" if line.endswith("\n") else mark
        self._out.flush()
