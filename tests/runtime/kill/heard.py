"""What a socket of a session has heard so far."""

from runtime.host.hosted import Frame
from runtime.kill.provider import WORDS
from runtime.kill.scene import text_of


def turns(init: Frame) -> dict[str, list[Frame]]:
    """The parts of each turn in an `init`, by its prompt id."""
    return {
        each["promptId"]: each["parts"]
        for each in init["session"]["messages"]
        if each["role"] == "assistant" and each.get("promptId")
    }


def running_parts(init: Frame) -> list[Frame]:
    """The parts of the turn that runs, by an `init`."""
    running = init["data"].get("runningTurnId")
    entries = {each["id"]: each for each in init["session"]["messages"]}
    parts: list[Frame] = entries[running]["parts"] if running else []
    return parts


def is_over(frames: list[Frame], prompt_id: str) -> bool:
    """Whether the end of the turn of a prompt was heard."""
    if any(each["type"] == "complete" and each.get("promptId") == prompt_id for each in frames):
        return True
    parts = turns(frames[0]).get(prompt_id, [])
    return bool(parts) and parts[-1]["type"] == "finish"


def open_questions(frames: list[Frame]) -> list[str]:
    """The questions that wait."""
    asked = [each["questionId"] for each in frames if each["type"] == "question"]
    asked += [
        part["questionId"]
        for part in running_parts(frames[0])
        if part["type"] == "question" and "answer" not in part and not part.get("expired")
    ]
    closed = {
        each["questionId"]
        for each in frames
        if each["type"] in {"question.resolved", "question.expired"}
    }
    return [each for each in asked if each not in closed]


def is_in_flight(frames: list[Frame]) -> bool:
    """Whether a tool runs, or all words of an answer are there."""
    deltas = [each["delta"] for each in frames if each["type"] == "message.part.text-delta"]
    statuses = [part.get("status") for part in running_parts(frames[0])]
    statuses += [each["status"] for each in frames if each["type"] == "message.part.tool-update"]
    return WORDS[-1] in text_of(running_parts(frames[0])) + "".join(deltas) or (
        "running" in statuses
    )
