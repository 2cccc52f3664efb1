"""What a person sees of a chunk: text as it comes, a card for each tool, reasoning dimmed.

On a terminal a spinner shows the agent's status while nothing else moves. Anywhere else, in a pipe
or a test, the same words come out plain and the status is left out.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.panel import Panel
from rich.status import Status
from rich.text import Text

from turnwire_lab.chat.ending import Ending
from turnwire_lab.client import chunks, message
from turnwire_lab.client.chunks import Chunk
from turnwire_lab.client.message import UIMessage
from turnwire_lab.client.question import Question

MAX_VALUE: Final = 2000
"""Characters of a tool's input or output that are shown."""

# The text of an agent must not move the cursor or ring the bell.
_CONTROLS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})

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
        self._asking = False
        self._tools: dict[str, tuple[str, Any]] = {}

    def wait(self, words: str) -> None:
        """Show that something is going on, where a person can see it."""
        if not self.console.is_terminal or self._mid_line or self._asking:
            return
        if self._spinner is None:
            self._spinner = self.console.status(words)
            self._spinner.start()
        else:
            self._spinner.update(words)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Keep still while a person types."""
        self._end_line()
        self._asking = True
        try:
            yield
        finally:
            self._asking = False

    def prompt(self, who: str) -> None:
        """Show the prompt of the input, on a terminal."""
        if self.console.is_terminal:
            self._end_line()
            self.console.print(f"[bold cyan]{who} >[/] ", end="")

    def show(self, chunk: Chunk) -> None:
        match chunk:
            case chunks.TextDelta(_, delta):
                self._stream(delta)
            case chunks.ReasoningDelta(_, delta):
                self._stream(delta, style="dim italic")
            case chunks.TextEnd() | chunks.ReasoningEnd():
                self._end_line()
            case chunks.ToolInputStart(_, name):
                self._end_line()
                self.wait(f"calling {_clean(name)}")
            case chunks.ToolInputAvailable(call, name, given):
                self._tools[call] = name, given
                self.wait(f"running {_clean(name)}")
            case chunks.ToolOutputAvailable(call, output, preliminary=False):
                self._card(call, "output", output, style="green")
            case chunks.ToolOutputError(call, why):
                self._card(call, "failed", why, style="red")
            case chunks.ToolOutputDenied(call):
                self._card(call, "denied", "", style="red")
            case chunks.AgentStatus(status, detail):
                self.wait(_clean(f"{status}: {detail}" if detail else status))
            case Question():
                self._question(chunk)
            case chunks.File(url, media_type):
                self._file(media_type, url)
            case chunks.SourceUrl(_, url, title):
                self._fact("source", f"{title} ({url})" if title else url)
            case _:
                pass  # what a person has nothing to look at

    def show_message(self, entry: UIMessage) -> None:
        """A message of the history, as it looked when it was streamed."""
        if entry.role == "user":
            self.say(f"you > {entry.text}", style="cyan")
        for part in entry.parts:
            match part:
                case message.Text(text) if entry.role == "assistant":
                    self._stream(text)
                case message.Reasoning(text):
                    self._stream(text, style="dim italic")
                case message.Tool(name=name, tool_call_id=call):
                    self._tools[call] = name, part.input
                    failed = part.error_text is not None
                    word, value = ("failed", part.error_text) if failed else ("output", part.output)
                    self._card(call, word, value, style="red" if failed else "green")
                case message.File(url, media_type):
                    self._file(media_type, url)
                case message.Source(_, url, title):
                    self._fact("source", f"{title} ({url})" if title else url)
                case Question():
                    self._question(part)
                case _:
                    pass  # what a person has nothing to look at
            self._end_line()
        self._tools.clear()
        self._empty = True

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

    def _question(self, asked: Question) -> None:
        self._end_line()
        body = Text(_clean(asked.text))
        if asked.body:
            body.append(f"\n{_clean(asked.body)}")
        if asked.is_open:
            for number, choice in enumerate(asked.choices, start=1):
                body.append(f"\n{number}  {_clean(choice.label)}", style="bold")
        elif asked.answer is not None:
            body.append(f"\n{_value(asked.answer)}", style="bold")
        kind = "approval" if asked.is_approval else "question"
        title = Text(f"{kind}, {_clean(asked.state)}")
        self.console.print(Panel(body, title=title, title_align="left", border_style="cyan"))
        self._empty = False

    def _file(self, media_type: str, url: str) -> None:
        inline = url.startswith("data:")
        self._fact(media_type, f"a file of {len(url)} characters" if inline else url)

    def _fact(self, kind: str, words: str) -> None:
        self.say(f"[{kind}] {words}", style="cyan")
        self._empty = False

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
    return str(words).translate(_CONTROLS).encode("utf-8", "replace").decode()


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = _clean(text)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"
