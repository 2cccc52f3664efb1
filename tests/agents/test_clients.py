"""Released clients talk with agents of real frameworks, through the gateway."""

import asyncio
from collections.abc import Callable
from typing import Final

import pytest

from agents.before import TESTED, converse, gateway_before, job, outline
from agents.habits import HABITS, SILENT_CARDS, card, failed_card, thoughts
from conformance.clients import CLIENTS, Job, Played, Report

# The first test of a framework waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

HELLO: Final = "text: Hello! I am a small agent, and no model is behind me."
BEGUN: Final = "text: Let me see."
SILENT: Final = [framework for framework in TESTED if framework in SILENT_CARDS]


def jobs(client: str) -> list[Job]:
    return [
        job(client, "text", {"send": "hello"}),
        job(client, "tool", {"send": "what is 12*7?"}, autoSend=True),
        job(client, "tools", {"send": "what is 12*7 and what time is it in Tokyo?"}),
        job(client, "tool failed", {"send": "make the tool fail"}),
        job(client, "reasoning", {"send": "think about rivers"}),
        job(client, "failed", {"send": "make the turn fail"}),
        job(client, "two prompts", {"send": "what is 12*7?"}, {"send": "hello"}),
        job(client, "regenerated", {"send": "hello"}, {"regenerate": True}),
        job(client, "hung up", {"send": "tell me a story of 20 lines"}, stopAfterMs=300),
        job(client, "not let in", {"send": "hello"}, headers={}),
    ]


async def converse_with(framework: str) -> dict[str, Report]:
    def all_jobs(client: str) -> list[Job]:
        silent = [job(client, "silent", {"send": "delete notes.txt"})]
        return jobs(client) + (silent if framework in SILENT_CARDS else [])

    async with gateway_before(framework) as gateway:
        return await converse(gateway, all_jobs, at_once=HABITS[framework].jobs_at_once)


@pytest.fixture(scope="module", params=TESTED)
def framework(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def played(framework: str) -> Callable[[str, str], Played]:
    reports = asyncio.run(converse_with(framework))
    assert [report.unhandled for report in reports.values()] == [[]] * len(CLIENTS)
    return lambda client, name: reports[client].job(name)


every_client = pytest.mark.parametrize("client", CLIENTS)
Jobs = Callable[[str, str], Played]


@every_client
def test_a_text_is_shown_once_and_whole(client: str, played: Jobs) -> None:
    text = played(client, "text")

    assert [outline(message) for message in text.answers] == [[HELLO]]
    assert (text.errors, text.posts, text.status) == ([], 1, "ready")


@every_client
def test_a_call_is_shown_with_its_result_and_sent_by_nobody_again(
    client: str, played: Jobs, framework: str
) -> None:
    tool = played(client, "tool")

    calculated = card(framework, "calculator", "12*7 is 84")
    assert [outline(m) for m in tool.answers] == [[BEGUN, calculated, "text: So: 12*7 is 84."]]
    assert tool.errors == []


@every_client
def test_two_calls_at_once_have_their_own_results(
    client: str, played: Jobs, framework: str
) -> None:
    (message,) = played(client, "tools").answers

    first, *cards, last = outline(message)
    assert first == BEGUN
    assert sorted(cards) == [
        card(framework, "calculator", "12*7 is 84"),
        card(framework, "clock", "it is 12:00 in Tokyo"),
    ]
    assert last == "text: So: 12*7 is 84 and it is 12:00 in Tokyo."
    inputs = {p["type"]: p["input"] for p in message.parts if p["type"].startswith("tool-")}
    assert inputs == {
        "tool-calculator": {"expression": "12*7"},
        "tool-clock": {"city": "Tokyo"},
    }


@every_client
def test_a_tool_that_fails_is_a_card_that_says_so(
    client: str, played: Jobs, framework: str
) -> None:
    (message,) = played(client, "tool failed").answers

    assert outline(message) == [
        BEGUN,
        failed_card(framework),
        f"text: So: {HABITS[framework].failure}.",
    ]


@every_client
def test_thoughts_are_no_text(client: str, played: Jobs, framework: str) -> None:
    (message,) = played(client, "reasoning").answers

    assert outline(message) == [*thoughts(framework), HELLO]


@every_client
def test_a_turn_that_fails_keeps_its_text_and_has_one_error(
    client: str, played: Jobs, framework: str
) -> None:
    failed = played(client, "failed")

    assert failed.status == "error"
    habits = HABITS[framework]
    (error,) = failed.errors
    assert error.endswith(habits.error)
    begun = ["text: I begin well, and then"] if habits.begins else []
    assert [outline(message) for message in failed.answers] == [begun]


@every_client
def test_the_second_prompt_comes_with_the_first_turn(client: str, played: Jobs) -> None:
    two = played(client, "two prompts")

    assert [outline(message)[-1] for message in two.answers] == ["text: So: 12*7 is 84.", HELLO]
    assert two.errors == []


@every_client
def test_an_answer_that_is_asked_for_again_takes_the_place_of_the_first(
    client: str, played: Jobs, framework: str
) -> None:
    again = played(client, "regenerated")

    anew = [HELLO] if HABITS[framework].answers_again else []
    assert [outline(message) for message in again.answers] == [anew]
    assert again.posts == 2


@every_client
def test_a_client_that_hangs_up_keeps_what_it_was_shown(client: str, played: Jobs) -> None:
    (message,) = played(client, "hung up").answers

    assert outline(message)[0].startswith("text: Line 1 of the story.")
    assert "Line 20 " not in outline(message)[0]


@every_client
def test_who_has_no_token_is_not_let_in(client: str, played: Jobs) -> None:
    assert played(client, "not let in").responses == [401]


@pytest.mark.parametrize("framework", SILENT, indirect=True, scope="module")
@every_client
def test_where_no_approval_can_be_asked_for_nothing_is_done_and_nothing_waits(
    client: str, played: Jobs, framework: str
) -> None:
    silent = played(client, "silent")

    assert [outline(message) for message in silent.answers] == [SILENT_CARDS[framework]]
    assert (silent.errors, silent.status) == ([], "ready")
