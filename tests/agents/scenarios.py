"""What the agents of examples/agents are asked for their recordings."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]
Answers: TypeAlias = Callable[[str, Sequence[Json], Sequence[Json]], Json]
"""What the next request has: by framework, open interrupts and the messages so far."""

PROMPTS: Final = {
    "text": "hello",
    "tool": "what is 12*7?",
    "tools": "what is 12*7 and what time is it in Tokyo?",
    "tool_failed": "make the tool fail",
    "reasoning": "think about rivers",
    "failed": "make the turn fail",
    "approval": "delete notes.txt",
    "approvals": "delete notes.txt and delete plan.txt",
    "tools_at_once": "call at once: what is 12*7 and what time is it in Tokyo?",
    "tools_torn": "call torn: what is 12*7 and what time is it in Tokyo?",
}
"""Scenarios of one run."""
NO_APPROVALS: Final = {"crewai", "llama-index"}
"""They have no way to ask about a call on this wire."""
DROPPED_PIECES: Final = {"tools_at_once", "tools_torn"}
"""What comes with a tool's name is dropped: by one adapter, where some models bring all of it."""
BY_MESSAGE: Final = {"agno"}
"""An approval is the result of the call that waits."""
SILENT_APPROVALS: Final = NO_APPROVALS | BY_MESSAGE
"""Nothing on the wire says that a call waits."""
MARKED_FAILURES: Final = {"pydantic-ai", "langgraph"}
"""The result of a tool that failed is marked as one."""
DROPPED_THOUGHTS: Final = {"agno", "llama-index", "agent-framework"}
"""They do not pass on what their model thinks."""


def approve(framework: str, interrupts: Sequence[Json], messages: Sequence[Json]) -> Json:
    return _answer(framework, interrupts, messages, approved=True)


def deny(framework: str, interrupts: Sequence[Json], messages: Sequence[Json]) -> Json:
    return _answer(framework, interrupts, messages, approved=False)


def cancel(_framework: str, interrupts: Sequence[Json], _messages: Sequence[Json]) -> Json:
    return {"resume": [{"interruptId": each["id"], "status": "cancelled"} for each in interrupts]}


def ask_anew(_framework: str, _interrupts: Sequence[Json], messages: Sequence[Json]) -> Json:
    return {"messages": [*messages, {"id": "m2", "role": "user", "content": "hello"}]}


FOLLOWED: Final[dict[str, tuple[str, Answers]]] = {
    "approved": ("approval", approve),
    "denied": ("approval", deny),
    "canceled": ("approval", cancel),
    "approvals_approved": ("approvals", approve),
    "prompt_while_asked": ("approval", ask_anew),
    "second_prompt": ("tools", ask_anew),
}
"""Scenarios of two runs on one thread: which comes first, and what follows it."""


BAD_BODY: Final = "bad_body"
"""A request without messages."""


def applies(framework: str, scenario: str) -> bool:
    """Whether a framework is recorded in a scenario."""
    first = FOLLOWED[scenario][0] if scenario in FOLLOWED else scenario
    if first.startswith("approval") and framework in NO_APPROVALS:
        return False
    if scenario in DROPPED_PIECES and framework != "langgraph":
        return False
    return scenario != "canceled" or framework not in BY_MESSAGE


def first_request(scenario: str, prompt: str) -> Json:
    """The first run of a thread."""
    return {
        "protocolVersion": "1.0",
        "threadId": f"thread-{scenario}",
        "runId": "run-1",
        "state": {},
        "messages": [{"id": "m1", "role": "user", "content": prompt}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }


def _answer(
    framework: str, interrupts: Sequence[Json], messages: Sequence[Json], *, approved: bool
) -> Json:
    if framework not in BY_MESSAGE:
        payload = {"approved": approved}
        entry = {"status": "resolved", "payload": payload}
        return {"resume": [{"interruptId": each["id"], **entry} for each in interrupts]}
    content = '{"accepted": true}' if approved else '{"accepted": false}'
    return {
        "messages": [
            *messages,
            *(
                {"id": f"answer_{call}", "role": "tool", "toolCallId": call, "content": content}
                for call in _without_result(messages)
            ),
        ]
    }


def _without_result(messages: Sequence[Json]) -> list[str]:
    calls = [call["id"] for message in messages for call in message.get("toolCalls", ())]
    return [call for call in calls if all(each.get("toolCallId") != call for each in messages)]
