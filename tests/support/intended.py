"""An agent that means one text and tells it in whatever way the `v2` wire allows.

It tells a segment in one spelling, or in both; may change its mind after each, and may repeat later
what one spelling told alone. Every word is told apart from all others before it ends.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Final

from support import v2_frames as f
from support.stream_text import mend

SPELL: Final = (f.part, f.chunk)
_STARTS: Final = ("", "", "The ", "- ")
"""No word ends so: a delta that is the other spelling's last one is not told apart from it."""
_ENDS: Final = ("", " ", ".", "\n", ".\n\n", " é", "\U0001f600", "\u3000")


class Agent:
    """`stretches` are what it means to have told so far, one for each time between tools."""

    def __init__(self, dice: Random) -> None:
        self.stretches = [""]
        self._dice = dice
        self._words = 0
        self._unrepeated = ["", ""]
        """What each spelling may yet repeat."""

    @property
    def whole(self) -> str:
        return "".join(self.stretches)

    def says(self) -> Iterator[bytes]:
        """The frames of a segment."""
        ways: list[Callable[[int], Iterator[bytes]]] = [self._alone, self._both_alike]
        if not any(self._unrepeated):
            ways.append(self._both)
        spelling = self._dice.randrange(2)
        if self._unrepeated[spelling]:
            ways += [self._catches_up] * 2
        return self._dice.choice(ways)(spelling)

    def uses_tool(self) -> bytes:
        self.stretches.append("")
        return f.tool(self._dice.choice(("running", "completed")), f"c{len(self.stretches)}")

    def final_text(self, tail: str) -> str | None:
        """How it repeats at its end what it said, with what it did not say yet."""
        said = [stretch for stretch in self.stretches if stretch.strip()]
        since = self._dice.randrange(len(said)) if said else 0
        last = self.stretches[-1]
        between = self._dice.choice(("", " ", "\n", "\n\n"))
        ways = [
            self.whole + tail,
            self.whole.strip() + tail,
            self.whole.lstrip() + tail,
            between.join(map(str.strip, said)) + tail,
            between.join(map(str.strip, said[since:])) + tail,
            (last if last.strip() else self.whole) + tail,
        ]
        return self._dice.choice(ways if tail else [None, *ways])

    def init(self) -> bytes:
        """What it says to whoever comes now: nothing of that is repeated."""
        self._unrepeated = ["", ""]
        parts: list[dict[str, str]] = []
        for number, stretch in enumerate(self.stretches, start=1):
            if number > 1:
                call = {"callId": f"c{number}", "toolName": "bash", "status": "completed"}
                parts.append({"type": "tool-call", **call})
            parts.append({"type": "text", "text": stretch})
        turn = {"id": f.OURS, "role": "assistant", "promptId": f.PROMPT, "parts": parts}
        session = {"id": "s1", "status": "running", "messages": [turn]}
        return f.frame("init", session=session, data={"runnerBusy": True, "runningTurnId": f.OURS})

    # How it tells a segment.

    def _alone(self, spelling: int) -> Iterator[bytes]:
        text = self._means()
        self._leads(spelling, text)
        yield from map(SPELL[spelling], self._cut(text))

    def _both_alike(self, first: int) -> Iterator[bytes]:
        """Every delta twice, cut alike; what was not repeated before never is."""
        for delta in self._cut(self._means()):
            yield SPELL[first](delta)
            yield SPELL[1 - first](delta)
        self._unrepeated = ["", ""]

    def _both(self, _spelling: int) -> Iterator[bytes]:
        """Each in deltas of its own, one before the other by as much as it likes."""
        text = self._means()
        left = [self._cut(text), self._cut(text)]
        while any(left):
            spelling = self._dice.randrange(2)
            if left[spelling]:
                yield SPELL[spelling](left[spelling].pop(0))

    def _catches_up(self, spelling: int) -> Iterator[bytes]:
        text, self._unrepeated[spelling] = self._unrepeated[spelling], ""
        if self._dice.random() < 0.5:  # and is ahead then, in the middle of a delta
            cuts = self._cut(text)
            more = self._means()
            self._unrepeated[1 - spelling] = more
            cuts[-1] += more
        else:
            cuts = self._cut(text)
        yield from map(SPELL[spelling], cuts)

    def _leads(self, spelling: int, text: str) -> None:
        """One spelling tells news: what it did not repeat it never will."""
        other = 1 - spelling
        kept = "" if self._unrepeated[spelling] else self._unrepeated[other]
        self._unrepeated[spelling], self._unrepeated[other] = "", kept + text

    def _means(self) -> str:
        text = ""
        for _ in range(self._dice.randint(1, 4)):
            self._words += 1
            start, end = self._dice.choice(_STARTS), self._dice.choice(_ENDS)
            text += f"{start}w{self._words:04}{end}"
        self.stretches[-1] += text
        return text

    def _cut(self, text: str) -> list[str]:
        """Its deltas; an agent cuts between UTF-16 units."""
        units = text.encode("utf-16-le")
        most = self._dice.choice((1, 4, 20))
        cuts = [0]
        while cuts[-1] < len(units):
            cuts.append(min(len(units), cuts[-1] + 2 * self._dice.randint(1, most)))
        return [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(cuts)]


def solid(text: str) -> str:
    return "".join(mend(text).split())
