"""Released clients whose turn is stopped at a random moment while they read it."""

import asyncio
from random import Random
from typing import Final

import pytest

from conformance.clients import CLIENTS, Job
from conformance.live import Live, converse, job, normalized
from conformance.verdict import OPEN_STATES
from turnwire_lab.agents.v2.frames import Habits

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

PROMPTS: Final = (
    "hello there",
    f"think about {'rivers and mills, ' * 10}and a harbour",
    "what is 12*7?",
    "search for keepalive",
    "ask me: tea or coffee?",
    "approve 12*7",
)
STOPS: Final = 17
"""For each client."""
MOST_RECORDS: Final = 12
"""Before the question of those prompts that ask one, after which nothing comes."""


def jobs(client: str) -> list[Job]:
    dice = Random(client)  # noqa: S311
    return [
        job(
            client,
            f"stop {number}",
            {
                "send": PROMPTS[number % len(PROMPTS)],
                "stop": dice.randrange(1, MOST_RECORDS),
                "named": dice.random() < 0.5,
            },
            {"reload": True},
            {"send": "what is 1+2?"},
        )
        for number in range(STOPS)
    ]


@pytest.fixture(scope="module")
def live() -> Live:
    return asyncio.run(converse(jobs, Habits(pace_s=0.005)))


every_client = pytest.mark.parametrize("client", CLIENTS)


@every_client
def test_a_stopped_turn_is_over_and_whole(client: str, live: Live) -> None:
    report = live.reports[client]
    reasons = {run.turn_id: run.reason for run in live.runs}
    faults = []
    for played in report.jobs:
        (before,), (receipt,) = played.earlier, played.receipts
        _, answer = before
        if (played.status, played.errors, played.timed_out) != ("ready", [], False):
            faults.append(f"{played.name}: {played.status} {played.errors} {played.timed_out}")
        if [part for part in answer.parts if part.get("state") in OPEN_STATES]:
            faults.append(f"{played.name}: something is left open in {answer.parts}")
        if receipt["stopped"] != (reasons[answer.id] == "canceled"):
            faults.append(f"{played.name}: {receipt}, but it ended {reasons[answer.id]}")
        if normalized(client, played.messages[:2]) != normalized(client, before):
            faults.append(f"{played.name}: the history is not what was shown")
        if "is **3**" not in played.messages[-1].parts[-1]["text"]:
            faults.append(f"{played.name}: the next prompt was not answered")

    assert faults == []
    assert report.unhandled == []
    stopped = [played for played in report.jobs if played.receipts[0]["stopped"]]
    assert len(stopped) > STOPS / 2, "most were stopped, or this shows nothing"
