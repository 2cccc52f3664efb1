"""opencode behind a bridge, the gateway and released clients: each turn is a process.

The bridge is `turnwire bridge`, and for the first tests one that is made of the SDK's parts, too.
"""

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from agents.before import NEWEST, converse, job, outline
from agents.bridged import Bridged, bridged
from agents.served import prompts
from conformance.clients import Job
from gateway.clients import ask, chunks
from gateway.tokens import bearer
from gateway.waiting import until

# Each turn waits for the start of a process, which takes three seconds.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(240)]

TRIED: Final = ("v5.0.0", NEWEST)
STORY: Final = (
    "Once upon a time there was a small agent that told a story, "
    "and the story took a while to tell."
)
HELLO: Final = "Hello wörld 👋, how are you?"
REJECTED: Final = "The user rejected permission to use this specific tool call."
PATIENCE_S: Final = 110
LIMIT_MS: Final = PATIENCE_S * 1000


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridged]:
    with bridged(tmp_path_factory.mktemp("opencode")) as opencode:
        yield opencode


@pytest.fixture(scope="module", params=["turnwire bridge", "SDK"])
def either(request: pytest.FixtureRequest) -> Iterator[Bridged]:
    """Behind our bridge, and behind the other one."""
    if request.param == "SDK":
        with bridged(request.getfixturevalue("tmp_path_factory").mktemp("sdk"), by_sdk=True) as sdk:
            yield sdk
    else:
        yield request.getfixturevalue("opencode")


def printed(text: str) -> dict[str, Any]:
    """The output of its shell."""
    return {"output": text, "metadata": {"output": text, "exit": 0, "truncated": False}}


RAN: Final = printed("hi there\n")
GONE: Final = printed("it is gone\n")


def text(message: Any) -> str:
    """What a message of the history says."""
    return "".join(part.get("text", "") for part in message["parts"])


async def test_a_tool_runs_and_the_next_prompt_goes_on_in_the_same_session(
    either: Bridged,
) -> None:
    def jobs(client: str) -> list[Job]:
        actions = [{"send": "run it"}, {"send": f"think about {client}"}]
        return [job(client, "chat", *actions, limitMs=LIMIT_MS)]

    async with either.gateway() as gateway:
        reports = await converse(gateway, jobs, TRIED)

    for client, report in reports.items():
        chat = report.job("chat")
        ran, thought = chat.answers
        assert outline(ran) == [
            *("text: I will run it.", f"tool-execute: {RAN}", "text: It said hi."),
        ]
        assert outline(thought) == [
            *("reasoning: First I consider the question.", "text: Then I answer."),
        ]
        assert (chat.errors, chat.posts, report.unhandled) == ([], 2, [])
        *_, known = either.model.requests(f"think about {client}")
        assert prompts(known) == ["run it", f"think about {client}"]
        assert "hi there" in str(known["body"]["messages"]), "what the tool returned, too"


async def test_a_permission_is_a_question_and_its_answer_counts(either: Bridged) -> None:
    def jobs(client: str) -> list[Job]:
        return [
            job(client, name, {"send": "delete notes.txt", "answer": answer}, limitMs=LIMIT_MS)
            for name, answer in (("yes", True), ("no", False))
        ]

    async with either.gateway() as gateway:
        reports = await converse(gateway, jobs, TRIED)

    for report in reports.values():
        allowed, rejected = report.job("yes"), report.job("no")
        assert outline(*allowed.answers) == [
            *("text: Shall I?", f"tool-execute: {GONE}", "question resolved"),
            "text: It is deleted.",
        ]
        # It ends a turn whose call was rejected: its model is not asked again.
        assert outline(*rejected.answers) == [
            *("text: Shall I?", f"tool-execute failed: {REJECTED}", "question resolved"),
        ]
        assert (allowed.errors, allowed.posts, rejected.errors, rejected.posts) == ([], 1, [], 1)


async def test_a_stop_cancels_the_turn_and_the_session_has_the_history(opencode: Bridged) -> None:
    async with (
        opencode.gateway() as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=PATIENCE_S) as client,
    ):
        url = "/api/sessions/s1"
        body = ask("tell a long story")
        async with client.stream("POST", f"{url}/chat", json=body, headers=bearer()) as response:
            shown = ""
            stopping = None
            async for piece in response.aiter_text():
                shown += piece
                if stopping is None and "text-delta" in shown:
                    stop = client.post(f"{url}/stop", json={}, headers=bearer())
                    stopping = asyncio.create_task(stop)
        assert stopping is not None
        stopped = await stopping
        after = await client.post(f"{url}/chat", json=ask("say hello"), headers=bearer())
        history = await client.get(f"{url}/messages", headers=bearer())
        other = await client.get("/api/sessions/s2/messages", headers=bearer())

    assert stopped.status_code == 200
    assert [each["type"] for each in chunks(shown)[-2:]] == ["abort", "finish"]
    assert "data-notice" not in after.text
    *_, known = opencode.model.requests("say hello")
    assert prompts(known) == ["tell a long story", "say hello"]
    assert other.json() == []
    assert [message["role"] for message in history.json()] == ["user", "assistant"] * 2
    story, first, hello, last = (text(message) for message in history.json())
    assert (story, hello, last) == ("tell a long story", "say hello", HELLO)
    assert STORY.startswith(first.strip())
    await until(lambda: opencode.processes("began") == opencode.processes("ended"))
