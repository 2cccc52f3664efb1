"""What a live test stands on: released clients, a gateway's process, the lab's agent."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from conformance.clients import CLIENTS, Job, Message, Report, play
from conformance.verdict import shown
from gateway.tokens import KEY, token
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.gateway import Gateway

PATIENT: Final = {
    # A busy machine is no overload, and its agent is slow: a refused answer or history would fail
    # its client.
    "TURNWIRE_LAG_S": "0",
    "TURNWIRE_DIAL_S": "30",
    "TURNWIRE_VERDICT_S": "30",
}
SETTINGS: Final = {
    **PATIENT,
    "TURNWIRE_ON_DISCONNECT": "continue",
    # As many chats of one user at once as a test likes.
    "TURNWIRE_MAX_STREAMS_PER_USER": "0",
}
# Patience, not a promise: a client that hangs is told as such, one on a busy machine is not.
JOB_MS: Final = 60_000
CONVERSATIONS: Final[dict[str, list[Job]]] = {
    "regenerated": [{"send": "what is 1+2?"}, {"regenerate": True}],
    "calculator": [{"send": "what is 12*7?"}, {"send": "divide 1 by 0"}],
    "resumed": [{"send": "what is 1+2?", "cut": 4}, {"reload": True}, {"resume": True}],
    "question": [{"send": "ask me: tea or coffee?", "answer": "tea"}],
    "refused": [{"send": "refuse this prompt"}],
}
"""What a user does, one action after another, in a session of its own."""
_MADE_UP = re.compile(r"\b(turn|call|question)-[0-9a-f]{12}\b")


class Live(NamedTuple):
    reports: dict[str, Report]
    runs: list[Run]


def job(client: str, name: str, *actions: Job, **more: Any) -> Job:
    """A job of one user in a session of its own; the gateway's place comes in `converse`."""
    session = re.sub(r"[^\w-]", "-", f"{client}-{name}")
    headers = {"Authorization": f"Bearer {token(client)}"}
    return {
        "name": name,
        "url": f"/api/sessions/{session}/chat",
        "headers": headers,
        "actions": list(actions),
        "limitMs": JOB_MS,
        **more,
    }


async def converse(
    jobs: Callable[[str], list[Job]],
    habits: Habits,
    *,
    clients: list[str] = CLIENTS,
    at_once: int = 8,
    settings: Mapping[str, str] = SETTINGS,
) -> Live:
    """Have every client do its jobs, one Node process each."""
    async with (
        ReferenceAgent(habits) as agent,
        Gateway(agent_url=agent.url, jwt_key=KEY, settings=settings) as gateway,
    ):

        def work(client: str) -> Report:
            placed = [one | {"url": gateway.url + one["url"]} for one in jobs(client)]
            return play(client, placed, at_once=at_once)

        played = await asyncio.gather(*(asyncio.to_thread(work, client) for client in clients))
        return Live(dict(zip(clients, played, strict=True)), list(agent.journal.runs))


def normalized(client: str, messages: list[Message]) -> list[dict[str, Any]]:
    """Messages as every release holds them, with the ids that the agent made up numbered."""
    names: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"{found[1]}-{len(names)}")

    def plain(value: Any) -> Any:
        match value:
            case str():
                return _MADE_UP.sub(number, value)
            case list():
                return [plain(inner) for inner in value]
            case dict():
                kept = {name: inner for name, inner in value.items() if name != "expiresAt"}
                return {name: plain(inner) for name, inner in kept.items()}
            case _:
                return value

    return [
        {"id": plain(m.id) if m.role == "assistant" else "", "parts": plain(shown(client, m))}
        for m in messages
    ]
