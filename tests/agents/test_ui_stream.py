"""Agents that answer useChat themselves, behind the gateway: released clients see their answers.

One is pydantic-ai's own adapter, the other a route that is written with the newest `ai`.
"""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from agents.before import NATIVE, SETTINGS, Approved, approve, converse, job, outline
from conformance.clients import CLIENTS, Job, Played, Report, node
from gateway.clients import ask, chunks
from gateway.needed import lacking
from gateway.tokens import KEY, bearer
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import OTHER_AGENTS
from turnwire_lab.gateway import Gateway
from turnwire_lab.process import HOST, free_port

# The first test of an agent waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

ROUTE: Final = Path(__file__).parent / "route.mjs"
PYDANTIC_AI: Final = "pydantic-ai-chat"
AGENTS: Final = (PYDANTIC_AI, "route")
UI_STREAM: Final = SETTINGS | {"TURNWIRE_DIALECT": "ui-stream"}
OF_THE_ROUTE: Final = [CLIENTS[0], CLIENTS[-1]]
"""Which clients read the route: what differs between the rest is shown by the other agent."""

HELLO: Final = "text: Hello! I am a small agent, and no model is behind me."
BEGUN: Final = "text: Let me see."
BY_ZERO: Final = "calculator: float division by zero"
YES: Final = {"approved": True}
NO: Final = {"approved": False, "reason": "Not now"}
ASK: Final = {"send": "delete notes.txt"}


@asynccontextmanager
async def route() -> AsyncIterator[str]:
    """The address of a route in Node."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(node(), ROUTE, str(port), stdout=PIPE)
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"listening\n"
        yield f"http://{HOST}:{port}/"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def agent(name: str) -> AsyncIterator[str]:
    if name != PYDANTIC_AI:
        async with route() as url:
            yield url
        return
    OTHER_AGENTS[name].python.exists() or lacking("pydantic-ai is not installed: `make agents`")
    async with FrameworkAgent(name) as found:
        yield found.url


@asynccontextmanager
async def gateway_before(url: str, **settings: str) -> AsyncIterator[Gateway]:
    async with Gateway(agent_url=url, jwt_key=KEY, settings=UI_STREAM | settings) as gateway:
        yield gateway


def jobs(client: str) -> list[Job]:
    return [
        job(client, "tool", {"send": "what is 12*7?"}, {"send": "hello"}, autoSend=True),
        job(client, "tool failed", {"send": "make the tool fail"}),
        job(client, "failed", {"send": "make the turn fail"}),
        job(client, "answered yes", {**ASK, "answer": True}),
    ]


async def converse_with(name: str) -> tuple[dict[str, Report], dict[str, dict[str, Approved]]]:
    clients = CLIENTS if name == PYDANTIC_AI else OF_THE_ROUTE
    native = [client for client in NATIVE if client in {NATIVE[0], NATIVE[-1]}]
    steps: dict[str, list[Job]] = {
        "approved": [ASK, {"respond": [YES]}],
        "denied": [ASK, {"respond": [NO]}],
    }
    async with agent(name) as url, gateway_before(url) as gateway:
        approving = asyncio.gather(
            *(asyncio.to_thread(approve, gateway, each, steps) for each in native)
        )
        reports = await converse(gateway, jobs, clients)
        return reports, dict(zip(native, await approving, strict=True))


@pytest.fixture(scope="module", params=AGENTS)
def both(
    request: pytest.FixtureRequest,
) -> tuple[dict[str, Report], dict[str, dict[str, Approved]]]:
    return asyncio.run(converse_with(request.param))


Each = Callable[[str], list[Played]]


@pytest.fixture
def played(both: tuple[dict[str, Report], Any]) -> Each:
    """A job as the user of each client saw it."""
    assert [report.unhandled for report in both[0].values()] == [[]] * len(both[0])
    return lambda name: [report.job(name) for report in both[0].values()]


def test_a_call_and_the_next_prompt_are_shown_once_and_sent_by_nobody_again(played: Each) -> None:
    for turns in played("tool"):
        first, second = turns.answers
        card, after = outline(first)[-2:]
        assert card == "tool-calculator: 12*7 is 84"
        assert (outline(first)[0], after) == (BEGUN, "text: So: 12*7 is 84.")
        assert outline(second) == [HELLO]
        assert (turns.errors, turns.posts) == ([], 2)
        assert [message.metadata for message in turns.answers] == [None, None]


def test_a_tool_that_fails_is_a_card_that_failed(played: Each) -> None:
    for failed in played("tool failed"):
        (message,) = failed.answers
        assert outline(message)[1] == f"tool-calculator failed: {BY_ZERO}"
        assert failed.errors == []


def test_a_turn_that_fails_has_one_error(played: Each) -> None:
    for failed in played("failed"):
        assert failed.errors == ["the model is overloaded"]
        assert failed.status == "error"


def test_an_approval_is_a_question_for_clients_without_cards(played: Each) -> None:
    for asked in played("answered yes"):
        (message,) = asked.answers
        shown = [each for each in outline(message) if not each.startswith("question")]
        assert shown[0] == BEGUN
        assert shown[1:] == [
            *("tool-delete_file: notes.txt is deleted", "text: So: notes.txt is deleted.")
        ]
        assert (asked.errors, asked.posts) == ([], 1)


def test_an_approval_is_given_at_its_card(
    both: tuple[Any, dict[str, dict[str, Approved]]],
) -> None:
    for cards in both[1].values():
        approved, denied = cards["approved"], cards["denied"]
        assert [message.role for message in approved.messages] == ["user", "assistant"]
        assert outline(approved.messages[1]) == [
            *(BEGUN, "tool-delete_file: notes.txt is deleted", "text: So: notes.txt is deleted.")
        ]
        assert (approved.statuses, approved.errors) == ([200, 200], [])
        begun, card, *after = outline(denied.messages[1])
        assert (begun, card) == (BEGUN, f"tool-delete_file failed: {NO['reason']}")
        assert "is deleted" not in str(after)
        assert denied.errors == []


async def test_an_adapter_with_its_defaults_asks_for_nothing_and_leaves_no_card_open() -> None:
    async with (
        agent(PYDANTIC_AI) as url,
        gateway_before(f"{url}defaults") as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
    ):
        prompt = ask("delete notes.txt")
        answered = await client.post("/api/sessions/s1/chat", json=prompt, headers=bearer())

    told = chunks(answered.content)
    outcomes = [each for each in told if each["type"] == "tool-output-error"]
    assert [each["errorText"] for each in outcomes] == ["No result"]
    assert json.dumps(told[-1]) == '{"type": "finish"}'
