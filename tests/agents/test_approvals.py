"""Users of released clients approve and deny what agents of real frameworks ask them."""

import asyncio
from collections.abc import Callable
from typing import Final

import pytest

from agents.before import NATIVE, TESTED, Approved, approve, converse, gateway_before, job, outline
from agents.habits import HABITS, card, denied
from agents.scenarios import SILENT_APPROVALS
from conformance.clients import CLIENTS, Job, Played, Report

# The first test of a framework waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

ASKING: Final = [framework for framework in TESTED if framework not in SILENT_APPROVALS]
NOT_NOW: Final = "Not now"
ASK: Final = {"send": "delete notes.txt"}
YES: Final = {"approved": True}
NO: Final = {"approved": False, "reason": NOT_NOW}
STEPS: Final[dict[str, list[Job]]] = {
    "approved": [ASK, {"respond": [YES]}],
    "denied": [ASK, {"respond": [NO]}],
    "next turn": [ASK, {"respond": [YES]}, {"send": "hello"}],
}
BEGUN: Final = "text: Let me see."


def deleted(framework: str) -> list[str]:
    done = "notes.txt is deleted"
    return [card(framework, "delete_file", done), f"text: So: {done}."]


def jobs(client: str) -> list[Job]:
    return [
        job(client, "answered yes", {**ASK, "answer": True}),
        job(client, "answered no", {**ASK, "answer": False}),
    ]


async def converse_with(framework: str) -> tuple[dict[str, dict[str, Approved]], dict[str, Report]]:
    turns = asyncio.Semaphore(2)
    async with gateway_before(framework) as gateway:

        async def native(client: str) -> dict[str, Approved]:
            async with turns:
                return await asyncio.to_thread(approve, gateway, client, STEPS)

        approved = await asyncio.gather(*(native(client) for client in NATIVE))
        return dict(zip(NATIVE, approved, strict=True)), await converse(
            gateway, jobs, at_once=HABITS[framework].jobs_at_once
        )


@pytest.fixture(scope="module", params=ASKING)
def framework(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def both(framework: str) -> tuple[dict[str, dict[str, Approved]], dict[str, Report]]:
    return asyncio.run(converse_with(framework))


Cards = Callable[[str, str], Approved]
Questions = Callable[[str, str], Played]


@pytest.fixture
def cards(both: tuple[dict[str, dict[str, Approved]], dict[str, Report]]) -> Cards:
    return lambda client, name: both[0][client][name]


@pytest.fixture
def questions(both: tuple[dict[str, dict[str, Approved]], dict[str, Report]]) -> Questions:
    return lambda client, name: both[1][client].job(name)


native_client = pytest.mark.parametrize("client", NATIVE)
every_client = pytest.mark.parametrize("client", CLIENTS)


@native_client
def test_a_card_waits_for_its_user(client: str, cards: Cards) -> None:
    (_, answer) = cards(client, "approved").shown[0]

    assert outline(answer) == [BEGUN, "tool-delete_file approval-requested"]


@native_client
def test_what_is_approved_is_done_on_the_same_card(
    client: str, cards: Cards, framework: str
) -> None:
    played = cards(client, "approved")

    assert [message.role for message in played.messages] == ["user", "assistant"]
    assert outline(played.messages[1]) == [BEGUN, *deleted(framework)]
    assert (played.statuses, played.errors) == ([200, 200], [])


@native_client
def test_what_is_denied_is_not_done(client: str, cards: Cards, framework: str) -> None:
    played = cards(client, "denied")

    assert outline(played.messages[1]) == [BEGUN, *denied(framework, NOT_NOW)]
    assert (played.statuses, played.errors) == ([200, 200], [])


@native_client
def test_the_next_turn_knows_what_was_approved(client: str, cards: Cards, framework: str) -> None:
    played = cards(client, "next turn")

    assert [message.role for message in played.messages] == ["user", "assistant"] * 2
    assert outline(played.messages[1]) == [BEGUN, *deleted(framework)]
    assert outline(played.messages[3])[0].startswith("text: Hello!")
    assert played.statuses == [200, 200, 200]


@every_client
def test_a_question_that_is_answered_goes_on_in_the_same_stream(
    client: str, questions: Questions, framework: str
) -> None:
    yes, no = questions(client, "answered yes"), questions(client, "answered no")

    for played, ending in ((yes, deleted(framework)), (no, denied(framework))):
        (message,) = played.answers
        shown = [each for each in outline(message) if not each.startswith("question")]
        assert shown == [BEGUN, *ending]
    assert (yes.errors, yes.posts, no.errors, no.posts) == ([], 1, [], 1)
