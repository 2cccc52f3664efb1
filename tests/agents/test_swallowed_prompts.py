"""A prompt to a real graph that waits for an answer is never lost without a word.

The graph takes no prompt then, and tells its interrupt again, in one spelling or in two.
"""

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

from agents.spelled_langgraph import SPELLINGS
from gateway.asking_agent import call, prompting
from gateway.clients import Json, ask, chunks, errors, said
from gateway.needed import lacking
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.dialects.ag_ui.turn import NOT_TAKEN
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(120)]

KEY: Final = "a key that signs approvals and nothing else"
ASKS: Final = (b'"state":"open"', b"tool-approval-request")
PROFILES: Final[Mapping[str, Mapping[str, str]]] = {
    "portable": {},
    "native": {"x-turnwire-profile": "7"},
}


class Spelled(FrameworkAgent):
    """The agent, with an endpoint for each spelling."""

    async def _serve(
        self, stack: AsyncExitStack, python: Path, _application: str, port: int
    ) -> None:
        folder = Path(__file__).parent
        options = ("--app-dir", str(folder), "--factory", "--log-level", "error")
        name = "spelled_langgraph:application"
        await self._run(
            stack, (python, "-m", "uvicorn", name, "--port", str(port), *options), name, port
        )


@pytest.fixture
async def agent() -> AsyncIterator[Spelled]:
    FRAMEWORKS["langgraph"].python.exists() or lacking("langgraph is not installed: `make agents`")
    async with Spelled("langgraph") as agent:
        yield agent


async def test_each_prompt_to_a_graph_that_waits_asks_again_or_gets_an_error(
    agent: Spelled,
) -> None:
    """Whatever the spelling, the turn log and the profile are."""
    for spelling, turn_log in itertools.product(SPELLINGS, ("memory", "off")):
        async with Gateway(
            f"{agent.url}{spelling}",
            dialect="ag-ui",
            history="agent",
            threads="chat",
            turn_log=turn_log,
            signing_keys=KEY,
        ) as gateway:
            lose_no_prompt = ask_again if turn_log == "memory" else say_why
            for profile, headers in PROFILES.items():
                await lose_no_prompt(gateway, f"{spelling}-{turn_log}-{profile}", headers)


def prompt(text: str, chat_id: str, message_id: str = "m1") -> Json:
    """A body whose message has an id of its own: the adapter goes back to one that it knows."""
    parts = [{"type": "text", "text": text}]
    return ask(id=chat_id) | {"messages": [{"id": message_id, "role": "user", "parts": parts}]}


async def ask_again(gateway: Gateway, chat_id: str, headers: Mapping[str, str]) -> None:
    """Prompt when the stream that asks is over, hang up, prompt again, and answer."""
    async with prompting(
        gateway, body=prompt("delete notes.txt", chat_id), headers=headers
    ) as first:
        await until(lambda: any(asks in first.body for asks in ASKS))
    await until(lambda: not gateway.streams.open)
    async with prompting(gateway, body=prompt("hello", chat_id, "m2"), headers=headers) as left:
        await until(lambda: ASKS[0] in left.body)
    await until(lambda: not gateway.streams.open)
    async with prompting(gateway, body=prompt("hello", chat_id, "m3"), headers=headers) as again:
        await until(lambda: ASKS[0] in again.body)
        asked = [each["data"] for each in chunks(again.body) if each["type"] == "data-question"]
        assert [each["text"] for each in asked] == [f"{NOT_TAKEN}: Delete notes.txt?"], chat_id
        named = {key: asked[0][key] for key in ("questionId", "approvalId") if key in asked[0]}
        answer = named | {"answer": {"approved": True}}
        answered = await call(gateway, "answer", answer, params={"chatId": chat_id})
        assert answered.status_code == 202, (chat_id, answered.text)
        body = await again.end()
    assert errors(body) == [], chat_id
    assert said(body), chat_id


async def say_why(gateway: Gateway, chat_id: str, headers: Mapping[str, str]) -> None:
    """Prompt beside the stream that asks, if it is open, and when it is over."""
    async with prompting(
        gateway, body=prompt("delete notes.txt", chat_id), headers=headers
    ) as first:
        await until(lambda: any(asks in first.body for asks in ASKS))
        beside = await call(gateway, "chat", prompt("hello", chat_id, "m2"), headers=headers)
    await until(lambda: not gateway.streams.open)
    again = await call(gateway, "chat", prompt("hello", chat_id, "m3"), headers=headers)

    for answer in (beside, again):
        assert answer.status_code == 200, (chat_id, answer.text)
        assert errors(answer.text) == [f"{NOT_TAKEN}: Delete notes.txt?"], chat_id
        assert said(answer.text) == ""
