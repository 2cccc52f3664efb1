"""Hermes, whose tools run on this machine, behind the gateway and released clients: both wires."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

import httpx
import pytest

from agents.before import converse, job, outline
from agents.served import UPSTREAM, Served, prompts, served
from conformance.clients import CLIENTS, Job, Played, Report
from gateway.clients import ask
from gateway.tokens import bearer

# The first test of each wire waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

WIRES: Final = ("openai-chat", "openai-responses")
HELLO: Final = "Hello wörld 👋, how are you?"
HIDDEN: Final = "(The agent does not show what its tool returned.)"
SHOWN: Final = {"output": "hi there", "exit_code": 0, "error": None}
CARDS: Final = {
    "openai-chat": ({"label": "echo hi there"}, HIDDEN),
    "openai-responses": ({"command": "echo hi there"}, SHOWN),
}
"""The input and the output of the tool, as far as each wire tells them."""
SENT: Final = {
    "openai-chat": ["run it", "say hello"],
    # It takes each item of a response that is no message for an empty message of the user.
    "openai-responses": ["run it", "", "say hello"],
}
"""What users said before the second answer, as Hermes tells its model."""
KEPT: Final = {
    "openai-chat": ["run it, please", "say hello"],
    # Its store of responses tells the first prompt twice, as one message.
    "openai-responses": ["run it, please\n\nrun it, please", "say hello"],
}
"""The same, where Hermes keeps the conversation."""
SETTLED_S: Final = 2.0


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served("hermes", tmp_path_factory.mktemp("hermes"), UPSTREAM / "hermes.json") as hermes:
        yield hermes


def jobs(client: str) -> list[Job]:
    return [
        job(client, "tool", {"send": "run it"}, {"send": "say hello"}, autoSend=True),
        job(client, "cut", {"send": "break off"}),
    ]


@pytest.fixture(scope="module", params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def reports(hermes: Served, wire: str) -> dict[str, Report]:
    async def converse_with_all() -> dict[str, Report]:
        async with hermes.gateway(wire) as gateway:
            return await converse(gateway, jobs)

    return asyncio.run(converse_with_all())


Each = Callable[[str], list[Played]]


@pytest.fixture
def played(reports: dict[str, Report]) -> Each:
    """A job as the user of each client saw it."""
    assert [report.unhandled for report in reports.values()] == [[]] * len(CLIENTS)
    return lambda name: [report.job(name) for report in reports.values()]


def test_a_tool_that_runs_is_a_card_and_the_text_behind_it_is_told_once(
    played: Each, wire: str
) -> None:
    given, returned = CARDS[wire]
    for turns in played("tool"):
        first, second = turns.answers
        assert outline(first) == [
            *("text: I will run it.", f"tool-terminal: {returned}", "text: It said hi."),
        ]
        (card,) = (part for part in first.parts if part["type"] == "tool-terminal")
        assert card["input"] == given
        assert outline(second) == [f"text: {HELLO}"]
        assert (turns.errors, turns.posts) == ([], 2)


def test_what_the_client_keeps_is_sent_to_the_model(
    played: Each, hermes: Served, wire: str
) -> None:
    assert played("tool")

    *_, last = hermes.model.requests("say hello")
    assert prompts(last) == SENT[wire]
    assert "It said hi." in str(last["body"]["messages"])


def test_an_answer_that_breaks_off(played: Each, wire: str) -> None:
    """On the Responses API, Hermes calls it complete."""
    errors = ["HTTP 400: The model is gone"] if wire == "openai-chat" else []
    for cut in played("cut"):
        (message,) = cut.answers
        assert outline(message) == ["text: This will be cut somewhe"]
        assert cut.errors == errors


async def test_what_the_agent_keeps_is_known_in_its_chat_alone(hermes: Served, wire: str) -> None:
    async with (
        hermes.gateway(wire, TURNWIRE_HISTORY="agent") as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
    ):
        asked = [("one", "run it, please"), ("one", "say hello"), ("two", "say hello")]
        for session, prompt in asked:
            url = f"/api/sessions/{wire}-{session}/chat"
            answer = await client.post(url, json=ask(prompt), headers=bearer())
            assert answer.text.count('"type":"finish"') == 1
            assert '"type":"error"' not in answer.text

    *_, known, other = hermes.model.requests("say hello")
    assert prompts(known) == KEPT[wire]
    assert "hi there" in str(known["body"]["messages"]), "what the tool returned, too"
    assert prompts(other) == ["say hello"]


async def test_a_hang_up_ends_the_turn_of_the_agent(hermes: Served, wire: str) -> None:
    """Its tool would come behind the story, and then a second request to the model."""
    heard, left = f"a long story that {wire} tells", f"a long story that {wire} begins"
    async with (
        hermes.gateway(wire) as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
    ):
        url = f"/api/sessions/{wire}-heard/chat"
        hearing = asyncio.create_task(client.post(url, json=ask(heard), headers=bearer()))
        url = f"/api/sessions/{wire}-left/chat"
        async with client.stream("POST", url, json=ask(left), headers=bearer()) as response:
            async for piece in response.aiter_text():
                if "text-delta" in piece:
                    break
        assert "The end." in (await hearing).text
        await asyncio.sleep(SETTLED_S)

    assert len(hermes.model.requests(heard)) == 2
    assert len(hermes.model.requests(left)) == 1
