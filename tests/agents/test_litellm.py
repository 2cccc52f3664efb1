"""LiteLLM's proxy before one model, behind the gateway and released clients: both wires.

Nobody runs the tools that the model calls.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

import httpx
import pytest

from agents.before import converse, job, outline
from agents.served import UPSTREAM, Served, served
from conformance.clients import CLIENTS, Job, Played, Report
from gateway.clients import ask
from gateway.tokens import bearer

# The first test of each wire waits for all clients' whole work, and for the proxy's start.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(240)]

WIRES: Final = ("openai-chat", "openai-responses")
NOT_RUN: Final = (
    "No result: nobody ran this tool. The agent's URL is that of a model, and not of an agent?"
)
CUT: Final = "This will be cut somewhere in the middle of it."


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served("litellm", tmp_path_factory.mktemp("litellm"), UPSTREAM / "litellm.json") as proxy:
        yield proxy


def jobs(client: str) -> list[Job]:
    return [
        job(client, "tools", {"send": "two tools"}, {"send": "say hello"}, autoSend=True),
        job(client, "reasoning", {"send": "think"}),
        job(client, "cut", {"send": "break off"}),
    ]


@pytest.fixture(scope="module", params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def reports(proxy: Served, wire: str) -> dict[str, Report]:
    async def converse_with_all() -> dict[str, Report]:
        async with proxy.gateway(wire) as gateway:
            return await converse(gateway, jobs)

    return asyncio.run(converse_with_all())


Each = Callable[[str], list[Played]]


@pytest.fixture
def played(reports: dict[str, Report]) -> Each:
    """A job as the user of each client saw it."""
    assert [report.unhandled for report in reports.values()] == [[]] * len(CLIENTS)
    return lambda name: [report.job(name) for report in reports.values()]


def test_calls_that_nobody_ran_are_two_cards_that_say_so_and_the_chat_goes_on(
    played: Each,
) -> None:
    for turns in played("tools"):
        first, second = turns.answers
        assert outline(first) == [
            *("text: Let me look.", *[f"tool-weather failed: {NOT_RUN}"] * 2),
        ]
        cities = [part["input"]["city"] for part in first.parts if part["type"] == "tool-weather"]
        assert cities == ["Paris", "Rome"]
        assert outline(second) == ["text: Hello wörld 👋, how are you?"]
        assert (turns.errors, turns.posts) == ([], 2)


def test_reasoning(played: Each) -> None:
    for thought in played("reasoning"):
        (message,) = thought.answers
        assert outline(message) == [
            *("reasoning: First I consider the question.", "text: Then I answer."),
        ]


def test_an_answer_that_breaks_off_has_one_error(played: Each) -> None:
    for cut in played("cut"):
        (message,) = cut.answers
        (shown,) = (part["text"] for part in message.parts if part["type"] == "text")
        assert shown
        assert CUT.startswith(shown)
        (error,) = cut.errors
        assert "payload is not completed" in error
        assert cut.status == "error"


async def test_429_is_503_with_the_time_to_wait(proxy: Served, wire: str) -> None:
    async with (
        proxy.gateway(wire) as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
    ):
        url = "/api/sessions/s1/chat"
        refused = await client.post(url, json=ask("be slow"), headers=bearer())

    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert "retry-after" in refused.headers
    assert len(proxy.model.requests("be slow")) >= 1
