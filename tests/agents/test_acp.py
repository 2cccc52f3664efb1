"""An agent of the protocol's own SDK, in Python, behind the gateway and released clients."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest

from agents.before import SETTINGS, converse, job, outline
from conformance.clients import CLIENTS, Job, Played, Report
from gateway.clients import ask, chunks
from gateway.needed import lacking
from gateway.tokens import KEY, bearer
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import OTHER_AGENTS
from turnwire_lab.gateway import Gateway
from turnwire_lab.process import HOST, free_port

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

ACP: Final = SETTINGS | {"TURNWIRE_DIALECT": "acp", "TURNWIRE_AGENT_CWD": "/srv/project"}
HELLO: Final = "text: Hello! I am a small agent, and no model is behind me."
BEGUN: Final = "text: Let me see."
ASK: Final = {"send": "delete notes.txt"}


@asynccontextmanager
async def gateway(**settings: str) -> AsyncIterator[Gateway]:
    OTHER_AGENTS["acp"].python.exists() or lacking("the agent is not installed: `make tools`")
    async with FrameworkAgent("acp") as agent:
        url = f"ws://127.0.0.1:{agent.port}/?session={{session_id}}"
        async with Gateway(agent_url=url, jwt_key=KEY, settings=ACP | settings) as found:
            yield found


def jobs(client: str) -> list[Job]:
    return [
        job(client, "tool", {"send": "what is 12*7?"}, {"send": "hello"}, autoSend=True),
        job(client, "tool failed", {"send": "make the tool fail"}),
        job(client, "failed", {"send": "make the turn fail"}),
        job(client, "yes", {**ASK, "answer": True}),
        job(client, "no", {**ASK, "answer": False}),
    ]


async def converse_with_all() -> dict[str, Report]:
    async with gateway() as found:
        return await converse(found, jobs)


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return asyncio.run(converse_with_all())


Each = Callable[[str], list[Played]]


@pytest.fixture
def played(reports: dict[str, Report]) -> Each:
    """A job as the user of each client saw it."""
    assert [report.unhandled for report in reports.values()] == [[]] * len(CLIENTS)
    return lambda name: [report.job(name) for report in reports.values()]


def test_a_call_and_the_next_prompt_of_the_session(played: Each) -> None:
    for turns in played("tool"):
        first, second = turns.answers
        assert outline(first) == [
            *(BEGUN, "tool-execute: 12*7 is 84", "text: So: 12*7 is 84."),
        ]
        assert outline(second) == [HELLO]  # no notice: it is the same session
        assert (turns.errors, turns.posts) == ([], 2)


def test_a_tool_that_fails_is_a_card_that_failed(played: Each) -> None:
    for failed in played("tool failed"):
        (message,) = failed.answers
        assert outline(message)[1] == "tool-execute failed: calculator: float division by zero"
        assert failed.errors == []


def test_a_turn_that_fails_has_one_error(played: Each) -> None:
    for failed in played("failed"):
        assert (failed.errors, failed.status) == (["the model is overloaded"], "error")


def test_a_permission_is_a_question_and_its_answer_counts(played: Each) -> None:
    for yes, no in zip(played("yes"), played("no"), strict=True):
        (allowed,), (rejected,) = yes.answers, no.answers
        assert "tool-delete: notes.txt is deleted" in outline(allowed)
        assert "tool-delete failed: The user said no" in outline(rejected)
        assert (yes.errors, yes.posts, no.errors, no.posts) == ([], 1, [], 1)


def texts(history: Any) -> list[str]:
    return [
        "".join(part.get("text", "") for part in message["parts"]).strip() for message in history
    ]


async def test_the_session_has_the_history_and_another_chat_has_another() -> None:
    async with (
        gateway() as found,
        httpx.AsyncClient(base_url=found.url, trust_env=False, timeout=30) as client,
    ):
        url = "/api/sessions/s1"
        empty = await client.get(f"{url}/messages", headers=bearer())
        for prompt in ("what is 12*7?", "hello"):
            await client.post(f"{url}/chat", json=ask(prompt), headers=bearer())
        whole = await client.get(f"{url}/messages", headers=bearer())
        other = await client.get("/api/sessions/s2/messages", headers=bearer())

    assert (empty.json(), other.json()) == ([], [])
    assert texts(whole.json()) == [
        *("what is 12*7?", "Let me see. So: 12*7 is 84."),
        *("hello", HELLO.removeprefix("text: ")),
    ]


async def test_a_stop_cancels_the_turn_and_the_session_goes_on() -> None:
    async with (
        gateway() as found,
        httpx.AsyncClient(base_url=found.url, trust_env=False, timeout=30) as client,
    ):
        url = "/api/sessions/s1"
        story = ask("tell me a long story")
        asking = asyncio.create_task(client.post(f"{url}/chat", json=story, headers=bearer()))
        await asyncio.sleep(0.5)
        stopped = await client.post(f"{url}/stop", json={}, headers=bearer())
        told = chunks((await asking).content)
        after = await client.post(f"{url}/chat", json=ask("hello"), headers=bearer())

    assert stopped.status_code == 200
    assert [each["type"] for each in told[-2:]] == ["abort", "finish"]
    assert "data-notice" not in after.text
    assert after.text.count("small ") == 1


async def test_an_agent_that_lost_its_sessions_begins_anew_and_says_so() -> None:
    OTHER_AGENTS["acp"].python.exists() or lacking("the agent is not installed: `make tools`")
    port = free_port()
    url = f"ws://{HOST}:{port}/?session={{session_id}}"
    async with (
        Gateway(agent_url=url, jwt_key=KEY, settings=ACP) as found,
        httpx.AsyncClient(base_url=found.url, trust_env=False, timeout=30) as client,
    ):
        answers = []
        for _ in range(2):
            async with FrameworkAgent("acp", port=port):
                path = "/api/sessions/s1/chat"
                answers.append(await client.post(path, json=ask("hello"), headers=bearer()))

    notices = [
        [each["data"]["notice"] for each in chunks(answer.content) if each["type"] == "data-notice"]
        for answer in answers
    ]
    assert notices == [[], ["new_session"]]
    assert "small " in answers[1].text
