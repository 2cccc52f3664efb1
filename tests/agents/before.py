"""Released clients before a gateway, which stands before an agent of a framework."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from conformance.clients import (
    AT_ONCE,
    CLIENTS,
    Job,
    Message,
    Report,
    play,
    report_of,
    version,
)
from gateway.needed import lacking
from gateway.tokens import KEY, token
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS
from turnwire_lab.gateway import Gateway

TESTED: Final = tuple(os.environ.get("FRAMEWORKS", "pydantic-ai langgraph").split())
"""Frameworks that are tried; without a word those whose agents are installed for `make test`."""
NEWEST: Final = "v7.0.173"
NATIVE: Final = [client for client in CLIENTS if version(client) >= (6,)]
SETTINGS: Final = {
    "TURNWIRE_DIALECT": "ag-ui",
    "TURNWIRE_SIGNING_KEYS": "a key that signs approvals and nothing else",
    # As many chats of one user at once as a test likes.
    "TURNWIRE_MAX_STREAMS_PER_USER": "0",
    "TURNWIRE_LAG_S": "0",
}
JOB_MS: Final = 60_000
RUN_S: Final = 120
# Its own helper overlooks tools that the provider runs, which ours all are; so an app asks itself.
OVERLOOKS: Final = "v6.0.0"


@asynccontextmanager
async def gateway_before(framework: str, **settings: str) -> AsyncIterator[Gateway]:
    """A gateway whose agent is the example of the framework."""
    FRAMEWORKS[framework].python.exists() or lacking(f"{framework} is not installed: `make agents`")
    settings = SETTINGS | {"TURNWIRE_HISTORY": FRAMEWORKS[framework].history} | settings
    async with (
        FrameworkAgent(framework) as agent,
        Gateway(agent_url=agent.url, jwt_key=KEY, settings=settings) as gateway,
    ):
        yield gateway


def job(client: str, name: str, *actions: Job, **more: Any) -> Job:
    """A job of one user in a session of its own; the gateway's place comes in `converse`."""
    return {
        "name": name,
        "url": f"/api/sessions/{session(client, name)}/chat",
        "headers": {"Authorization": f"Bearer {token(client)}"},
        "actions": list(actions),
        "limitMs": JOB_MS,
        **more,
    }


def session(client: str, name: str) -> str:
    return re.sub(r"[^\w-]", "-", f"{client}-{name}")


async def converse(
    gateway: Gateway,
    jobs: Callable[[str], list[Job]],
    clients: Sequence[str] = CLIENTS,
    *,
    at_once: int = AT_ONCE,
) -> dict[str, Report]:
    """Have every client do its jobs, one Node process each, two at a time.

    `at_once` is how many jobs each of them does at once.
    """
    turns = asyncio.Semaphore(2)

    async def work(client: str) -> Report:
        placed = [one | {"url": gateway.url + one["url"]} for one in jobs(client)]
        async with turns:
            return await asyncio.to_thread(play, client, placed, at_once=at_once)

    reports = await asyncio.gather(*(work(client) for client in clients))
    return dict(zip(clients, reports, strict=True))


class Approved(msgspec.Struct, frozen=True):
    """One job of `approvals.mjs`, which explains the fields."""

    name: str
    messages: list[Message]
    error: str | None
    errors: list[str]
    posts: list[dict[str, Any]]
    shown: list[list[Message]]

    @property
    def statuses(self) -> list[int | None]:
        return [post["status"] for post in self.posts]


# For `convert`: a `Struct` that two threads read for the first time at once ends the process.
msgspec.json.Decoder(Approved)


def approve(
    gateway: Gateway, client: str, steps: Mapping[str, Sequence[Job]]
) -> dict[str, Approved]:
    """Play chats whose user approves or denies, by native cards."""
    jobs = [
        {
            "name": name,
            "url": f"{gateway.url}/api/sessions/{session(client, name)}/chat",
            "headers": {
                "Authorization": f"Bearer {token(client)}",
                "x-turnwire-profile": client[1],
            },
            "helper": "app" if client == OVERLOOKS else "ai",
            "steps": list(each),
        }
        for name, each in steps.items()
    ]
    report = report_of("approvals.mjs", client, {"jobs": jobs}, timeout_s=RUN_S)
    assert report["unhandled"] == []
    played = msgspec.convert(report["jobs"], list[Approved])
    return {each.name: each for each in played}


def outline(message: Message) -> list[str]:
    """The parts of a message as its user sees them, without the beginnings of steps."""
    return [_outlined(part) for part in message.parts if part["type"] != "step-start"]


def _outlined(part: dict[str, Any]) -> str:
    match part:
        case {"type": "text" | "reasoning" as kind, "text": text}:
            return f"{kind}: {str(text).strip()}"
        case {"type": "data-question", "data": {"state": state}}:
            return f"question {state}"
        case {"type": str(kind), "state": "output-available", "output": output}:
            return f"{kind}: {output}"
        case {"type": str(kind), "state": "output-error", "errorText": text}:
            return f"{kind} failed: {text}"
        case {"type": str(kind), "state": state}:
            return f"{kind} {state}"
        case _:
            return str(part["type"])
