"""What users of agents see otherwise than with pydantic-ai, by framework, and why."""

from typing import Final, NamedTuple

from agents.scenarios import DROPPED_THOUGHTS, MARKED_FAILURES

OVERLOADED: Final = "the model is overloaded"


class Habits(NamedTuple):
    """`failure` and `denial` are what the card of the tool says, and what its model is told."""

    failure: str = "calculator: float division by zero"
    denial: str = "User denied approval for 'delete_file'."
    marks_denials: bool = False
    """Whether a denial is an error; then it is told the user's reason too."""
    error: str = OVERLOADED
    """How the error of a turn ends: what stands before it may be made of ids."""
    begins: bool = True
    """Whether the text before an error is passed on."""
    boxes: bool = False
    """Whether an output is an object, whose one field is `result` or `error`."""
    answers_again: bool = True
    """Whether a prompt that it knows by its id is answered once more."""
    jobs_at_once: int = 8
    """Of each client; two clients are at work."""


HABITS: Final = {
    "pydantic-ai": Habits(denial="The tool call was denied.", marks_denials=True),
    "langgraph": Habits(denial="notes.txt is kept"),
    # Its adapter ends a run in which no message is new, and takes ten runs at once.
    "adk": Habits(
        denial="This tool call is rejected.", boxes=True, answers_again=False, jobs_at_once=3
    ),
    "agent-framework": Habits(
        failure="Error: Function failed.",
        denial="Error: Tool call invocation was rejected by user.",
        error="An internal error has occurred while streaming events.",
        begins=False,
    ),
    "agno": Habits(failure="float division by zero", begins=False),
    "crewai": Habits(error="CrewAI flow failed; see server logs", begins=False),
    "llama-index": Habits(
        failure="float division by zero",
        error=f"{{'error': {{'message': '{OVERLOADED}', 'type': 'server_error'}}}}",
        begins=False,
    ),
    "strands": Habits(
        failure="Error: ZeroDivisionError - float division by zero",
        error=f"Error code: 400 - {OVERLOADED}",
        begins=False,
    ),
}
SILENT_CARDS: Final = {
    # No result comes, and the text of the message is told once more.
    "agno": ["text: Let me see.", "text: Let me see.", "tool-delete_file failed: No result"],
    # Without a way to ask, their examples have no such tool.
    "crewai": [
        "text: Let me see.",
        "tool-delete_file: no tool is called delete_file",
        "text: So: no tool is called delete_file.",
    ],
    "llama-index": [
        "text: Let me see.",
        "tool-delete_file: 'delete_file'",
        "text: So: 'delete_file'.",
    ],
}
"""The whole answer to a prompt that needs an approval, of those that cannot ask."""
WORKS_ON: Final = {"adk", "langgraph", "llama-index"}
"""Their adapters take a run to its end, whoever listens."""
CUT_AT: Final = 2_500
CUT_LATE_AT: Final = {"langgraph": 20_000}
"""Bytes of a response: a few pieces of the story, and whatever its framework tells beside them."""


def card(framework: str, tool: str, came: str, *, kind: str = "result") -> str:
    """A tool's card with its outcome, in the words of `outline`."""
    return f"tool-{tool}: { {kind: came} if HABITS[framework].boxes else came }"


def failed_card(framework: str) -> str:
    """The card of the calculator that failed."""
    failure = HABITS[framework].failure
    if framework in MARKED_FAILURES:
        return f"tool-calculator failed: {failure}"
    return card(framework, "calculator", failure, kind="error")


def thoughts(framework: str) -> list[str]:
    """The thoughts before an answer, where the framework passes them on."""
    if framework in DROPPED_THOUGHTS:
        return []
    return ["reasoning: They want me to think. A river begins small."]


def denied(framework: str, reason: str = "") -> list[str]:
    """The card of a file that its user keeps, and what is told of it."""
    habits = HABITS[framework]
    if habits.marks_denials:
        told = reason or habits.denial
        return [f"tool-delete_file failed: {told}", f"text: So: {told}."]
    kept = card(framework, "delete_file", habits.denial, kind="error")
    return [kept, f"text: So: {habits.denial}."]
