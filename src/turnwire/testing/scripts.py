"""What a scripted agent does, for a dialect's author to write in the frames of the wire.

The texts are prescribed, so that a test knows what its client shows. Their words stand nowhere else
(`SECRETS`): where one is found in a redacted recording or in a log, a text was found.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

PROMPT: Final = "Where does the albatross sleep?"
"""The text of every prompt."""

TOOL_NAME: Final = "search"
INPUT: Final[Mapping[str, Any]] = {"about": "kingfisher"}
OUTPUT: Final = "marmalade"
"""Name, input and output of each tool call. The output may be a part of another value."""

ERROR: Final = "no pomegranate is left"
"""The text of a failed turn, and of a failed call."""

QUESTION: Final = "Is the rhubarb ripe?"

ANSWER: Final = "Ask the quince."
"""The answer to a question."""

SECRETS: Final = (
    *("albatross", "kingfisher", "marmalade", "pomegranate", "quince", "rhubarb", "thistle"),
)
"""A word of each text, in lower case."""


class Script(Struct, frozen=True, kw_only=True):
    """One turn of the agent, from its first frame to its last."""

    name: str
    meaning: str
    """What the agent does, in order."""
    texts: tuple[str, ...] = ()
    """The deltas of the answer: each in a frame of its own, on a wire that has deltas."""
    reasoning: str = ""
    calls: Mapping[str, str] = {}
    """The state of each tool call at the end, as a client has it, by the id of the call."""
    is_whole: bool = True
    """Whether the turn ends well, by the agent's report."""
    question: str = ""
    """The question that is open at the end."""

    @property
    def text(self) -> str:
        """The whole text of the answer."""
        return "".join(self.texts)


DONE: Final = "output-available"
FAILED: Final = "output-error"
_TEXTS: Final = ("Marmalade is made ", "by the kingfisher, ", "and eaten by the thistle.")

SCRIPTS: Final[Mapping[str, Script]] = {
    script.name: script
    for script in (
        Script(name="text", meaning="sends the texts, and ends", texts=_TEXTS),
        Script(
            name="breaks",
            meaning="sends texts with line breaks and an emoji, and ends",
            texts=("Thistle\n\ndata: x\r", "\u2028 and\u0085 ", "rhubarb \U0001f600\n"),
        ),
        Script(name="nothing", meaning="ends at once"),
        Script(
            name="reasoning",
            meaning="sends its reasoning, then the texts, and ends",
            texts=_TEXTS,
            reasoning="The rhubarb comes first.",
        ),
        Script(
            name="tool",
            meaning="calls the tool (`c1`), which returns, then sends the texts, and ends",
            texts=_TEXTS,
            calls={"c1": DONE},
        ),
        Script(
            name="two_tools",
            meaning="calls the tool twice (`c1`, `c2`); `c2` returns first; then as above",
            texts=_TEXTS,
            calls={"c1": DONE, "c2": DONE},
        ),
        Script(
            name="failing_tool",
            meaning="calls the tool (`c1`), which fails with the error, then as above",
            texts=_TEXTS,
            calls={"c1": FAILED},
        ),
        Script(
            name="two_texts",
            meaning="sends the first text, calls the tool, sends the other texts, and ends",
            texts=_TEXTS,
            calls={"c1": DONE},
        ),
        Script(
            name="error",
            meaning="sends the first text, and fails with the error",
            texts=_TEXTS[:1],
            is_whole=False,
        ),
        Script(
            name="canceled",
            meaning="sends the first text, and says that the turn was stopped",
            texts=_TEXTS[:1],
            is_whole=False,
        ),
        Script(
            name="question",
            meaning="sends the first text, and asks the question, with the id `q1`",
            texts=_TEXTS[:1],
            is_whole=False,
            question=QUESTION,
        ),
    )
}
"""All scripts, by name."""
