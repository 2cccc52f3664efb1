"""What a released client loads as its history is what it would hold after a live run."""

import asyncio
from typing import Final

import pytest

from conformance.clients import CLIENTS, Job
from conformance.live import Live, converse, job, normalized
from turnwire_lab.agents.v2.frames import Habits

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

PROMPTS: Final = {
    "words": "hello there",
    "thoughts": "think about rivers",
    "tool": "what is 12*7?",
    "failed tool": "divide 1 by 0",
    "search": "search for keepalive",
    "file": "send me a file",
    "sources": "cite two sources",
    "question": "ask me: tea or coffee?",
    "two questions": "ask two things",
    "approval": "approve 12*7",
    "failed turn": "make the turn fail",
    "empty turn": "say nothing",
}
SUM: Final = {"send": "what is 1+2?"}


def jobs(client: str) -> list[Job]:
    check, reload = {"check": True}, {"reload": True}
    held = [
        job(client, kind, {"send": prompt, "answer": "tea"}, check, reload, check)
        for kind, prompt in PROMPTS.items()
    ]
    return [
        *held,
        job(client, "two turns", SUM, {"send": PROMPTS["words"]}, check, reload, check),
        job(client, "regenerated", SUM, {"regenerate": True}, check, reload, check),
        job(client, "goes on", SUM, reload, {"send": PROMPTS["tool"]}, reload, check),
        job(client, "the last two", SUM, {"send": "hi"}, {"reload": True, "query": "?limit=2"}),
        job(
            client,
            "how it ended",
            {"send": PROMPTS["failed turn"]},
            {"reload": True, "query": "?finish=true"},
            check,
            SUM,
        ),
        job(client, "the last one", SUM, {"reload": True, "query": "?limit=1"}),
    ]


@pytest.fixture(scope="module")
def live() -> Live:
    return asyncio.run(converse(jobs, Habits()))


every_client = pytest.mark.parametrize("client", CLIENTS)


@every_client
def test_nothing_is_left_unhandled(client: str, live: Live) -> None:
    report = live.reports[client]

    assert report.unhandled == []
    assert [one.name for one in report.jobs if one.timed_out] == []
    failed = {one.name: one.errors for one in report.jobs if one.errors}
    why = ["The agent was told to fail this turn."]
    assert failed == {"failed turn": why, "how it ended": why}


@every_client
@pytest.mark.parametrize("name", [*PROMPTS, "two turns", "regenerated"])
def test_the_history_is_what_the_client_held(name: str, client: str, live: Live) -> None:
    played = live.reports[client].job(name)
    (before,) = played.earlier

    assert normalized(client, played.messages) == normalized(client, before)
    assert [m.id for m in played.messages] == [m.id for m in before]
    # As the client's own functions see it: a model would be told the same.
    assert played.checked[0] == played.checked[1]


@every_client
def test_a_chat_that_began_with_a_history_goes_on(client: str, live: Live) -> None:
    played = live.reports[client].job("goes on")

    assert [m.role for m in played.messages] == ["user", "assistant"] * 2
    assert normalized(client, played.messages) == normalized(client, played.earlier[1])


@every_client
def test_a_history_that_says_how_turns_ended_is_taken(client: str, live: Live) -> None:
    played = live.reports[client].job("how it ended")
    (before,) = played.earlier

    assert normalized(client, played.messages[:2]) == normalized(client, before)
    assert [m.metadata for m in played.messages[:2]] == [
        None,
        {"finish": {"reason": "error", "errorText": "The agent was told to fail this turn."}},
    ]
    assert played.checked == [["user", "assistant"]]
    assert [m.role for m in played.messages[2:]] == ["user", "assistant"]


@every_client
def test_a_part_of_the_history(client: str, live: Live) -> None:
    report = live.reports[client]
    two, one = report.job("the last two"), report.job("the last one")

    assert normalized(client, two.messages) == normalized(client, two.earlier[0][2:])
    assert normalized(client, one.messages) == normalized(client, one.earlier[0][1:])
