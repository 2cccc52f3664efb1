"""The result of a call as words for a model."""

from typing import Final

from turnwire_agent.llm.transcript import Outcome, Result, Text

WORDS: Final[dict[Outcome, str]] = {
    "done": "",
    "failed": "This call failed.",
    "denied": "A person denied this call. It did not run.",
    "canceled": "This call was canceled before it ended.",
    "unknown": "It is not known whether this call ran. It will not be run again by itself.",
}
"""What a model is told of a call that is not done, before what the tool wrote."""


def result_text(result: Result) -> str:
    """The texts of a result, a line between them, with its outcome in front if it is not done."""
    texts = [part.text for part in result.content if isinstance(part, Text) and part.text]
    words = WORDS[result.outcome]
    return "\n".join([words, *texts] if words else texts)
