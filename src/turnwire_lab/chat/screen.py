"""What a person sees of a chunk: text as it comes, a card for each tool, reasoning dimmed.

On a terminal a spinner tells the agent's status while nothing else moves. Anywhere else, in a pipe
or a test, the same words come out plain and the status is left out.
"""

import json
from typing import Any, Final

from rich.console import Console
from rich.panel import Panel
from rich.status import Status
from rich.text import Text

from turnwire_lab.chat.wire import Chunk, Ending

MAX_VALUE: Final = 2000
"""Characters of a tool's input or output that are shown."""

# What an agent says must not move the cursor or ring the bell.
_HARMLESS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})

_STYLES: Final = {
    Ending.FINISHED: "green",
    Ending.FAILED: "bold red",
    Ending.ABORTED: "yellow",
    Ending.STOPPED: "yellow",
    Ending.REFUSED: "bold red",
    Ending.BROKEN: "bold red",
}
_WORDS: Final = {
    Ending.FINISHED: "",
    Ending.FAILED: "The turn failed",
    Ending.ABORTED: "Ended early",
    Ending.STOPPED: "Stopped",
    Ending.REFUSED: "Refused",
    Ending.BROKEN: "The stream broke",
}


class Screen:
    def __init__(self, console: Console) -> None:
        self.console = console
        self._spinner: Status | None = None
        self._mid_line = False
        self._empty = True
        self._tools: dict[str, tuple[str, Any]] = {}

    def wait(self, words: str) -> None:
        """Show that something is going on, where a person can see it."""
        if not self.console.is_terminal or self._mid_line:
            return
        if self._spinner is None:
            self._spinner = self.console.status(words)
            self._spinner.start()
        else:
            self._spinner.update(words)

    def show(self, chunk: Chunk) -> None:
        match chunk:
            case {"type": "text-delta", "delta": str(delta)}:
                self._stream(delta)
            case {"type": "reasoning-delta", "delta": str(delta)}:
                self._stream(delta, style="dim italic")
            case {"type": "text-end" | "reasoning-end"}:
                self._end_line()
            case {"type": "tool-input-start", "toolName": name}:
                self._end_line()
                self.wait(f"calling {_clean(name)}")
            case {"type": "tool-input-available", "toolCallId": call, "toolName": name}:
                self._tools[str(call)] = str(name), chunk.get("input")
                self.wait(f"running {_clean(name)}")
            case {"type": "tool-output-available", "toolCallId": call}:
                self._card(str(call), "output", chunk.get("output"), style="green")
            case {"type": "tool-output-error", "toolCallId": call, "errorText": why}:
                self._card(str(call), "failed", why, style="red")
            case {"type": "data-agent-status", "data": {"status": status, **more}}:
                detail = more.get("detail")
                self.wait(_clean(f"{status}: {detail}" if detail else status))
            case {"type": "data-question", "data": {"text": text, "state": state, **more}}:
                self._question(text, state, more.get("options"))
            case _:
                pass  # what a person has nothing to look at

    def ended(self, ending: Ending, why: str) -> None:
        self._end_line()
        self._tools.clear()
        if ending is Ending.FINISHED and self._empty:
            self.say("(the answer is empty)", style="dim")
        self._empty = True
        if words := _WORDS[ending]:
            self.say(f"{words}: {why}" if why else words, style=_STYLES[ending])

    def say(self, words: str, style: str = "") -> None:
        """One line of our own."""
        self._end_line()
        self.console.print(Text(_clean(words), style=style), soft_wrap=True)

    def _stream(self, delta: str, style: str = "") -> None:
        # A spinner and an unfinished line would draw over each other.
        self._still()
        text = _clean(delta)
        self.console.print(Text(text, style=style), end="", soft_wrap=True)
        if text:
            self._empty = False
            self._mid_line = not text.endswith("\n")

    def _card(self, call: str, word: str, value: Any, *, style: str) -> None:
        self._end_line()
        name, given = self._tools.get(call, ("tool", None))
        body = Text(f"input   {_value(given)}\n")
        body.append(f"{word:<7} {_value(value)}", style=style)
        card = Panel(body, title=Text(_clean(name)), title_align="left", border_style=style)
        self.console.print(card)
        self._empty = False

    def _question(self, text: Any, state: Any, options: Any) -> None:
        self._end_line()
        body = Text(_clean(text))
        if isinstance(options, list):
            body.append("\n" + " / ".join(_clean(option) for option in options), style="bold")
        title = Text(f"question, {_clean(state)}")
        self.console.print(Panel(body, title=title, title_align="left", border_style="cyan"))

    def _end_line(self) -> None:
        self._still()
        if self._mid_line:
            self.console.print()
            self._mid_line = False

    def _still(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None


def _clean(words: Any) -> str:
    # Half a surrogate pair would end the program at the moment it is printed.
    return str(words).translate(_HARMLESS).encode("utf-8", "replace").decode()


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = _clean(text)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"
