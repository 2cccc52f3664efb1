"""What a client does in one life of a session: what it asks, what it answers, whether it stops."""

from dataclasses import dataclass

from runtime.host.hosted import Frame
from runtime.kill.provider import STAY, WORDS, wanted_by


@dataclass(frozen=True)
class Scene:
    """Prompts that are all sent at once, as `p1`, `p2`, …"""

    prompts: tuple[str, ...]
    answer: bool = True
    """What every question is answered with."""
    stops: bool = False
    """Whether the first turn is stopped, once it runs a tool or its words are there."""
    ends_at_question: bool = False
    """Whether the agent dies while the first question waits."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(f"p{number}" for number in range(1, len(self.prompts) + 1))

    def reasons(self, prompt: str) -> set[str]:
        """How the turn of a prompt may end."""
        if prompt == STAY:
            return {"canceled"}
        if self.stops:
            return {"canceled", "end_turn"}  # a process that died in the tool has nothing to stop
        return {"end_turn"}


SCENES = {
    "text": Scene(("talk",)),
    "tools": Scene(("use read pay mail",)),
    "parallel": Scene(("use read+pay+mail",)),
    "approved": Scene(("use erase",)),
    "denied": Scene(("use erase",), answer=False),
    "queue": Scene(("use pay", "use mail")),
    "stop-text": Scene((STAY,), stops=True),
    "stop-tool": Scene(("use stall",), stops=True),
}


def text_of(parts: list[Frame]) -> str:
    """The text of some parts."""
    return "".join(part["text"] for part in parts if part["type"] == "text")


def whole_text(prompt: str) -> str:
    """The text of the whole answer to a prompt."""
    steps = "".join(f"Step {number}. " for number in range(len(wanted_by(prompt))))
    return steps + "".join(WORDS)
