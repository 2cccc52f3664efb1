"""Released clients reload in the middle of a turn, and end with what they would have had."""

import asyncio
from random import Random
from typing import Final

import pytest

from conformance.clients import CLIENTS, Job, Played
from conformance.live import Live, converse, job, normalized
from turnwire_lab.agents.v2.frames import Habits

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

PROMPTS: Final = {
    "words": "hello there",
    "thoughts": f"think about {'rivers and mills, ' * 20}and a harbour",
    "tool": "what is 12*7?",
    "failed tool": "divide 1 by 0",
    "file": "send me a file",
    "question": "ask me: tea or coffee?",
    "approval": "approve 12*7",
    "failed turn": "make the turn fail",
}
MOMENTS: Final[dict[str, tuple[str, int | str]]] = {
    "in mid-text": ("words", 20),
    "in mid-thought": ("thoughts", "reasoning-delta"),
    "at the start": ("words", "start"),
    # It waits for the approval, so it cannot be over too soon.
    "as a tool begins": ("approval", "tool-input-start"),
    "while a tool runs": ("approval", "tool-input-available"),
    "while a question is open": ("question", "data-question"),
    "while an approval is open": ("approval", "data-question"),
}
NEWEST: Final = ["v5.0.277", "v6.0.326", "v7.0.173"]
CUTS: Final = 200
LONGEST: Final = {"words": 140, "thoughts": 140}
"""Records in which to cut; the others are shorter."""
PACE_S: Final = 0.006


OLD: Final = {"v5.0.0", "v6.0.0", "v7.0.0"}
DOUBLES: Final[dict[str, set[str]]] = {
    "in the same page": OLD,
    "in the same page, dropped": set(),
    "after a broken stream": {*OLD, "v5.0.277"},
    "after a broken stream, dropped": {"v5.0.277"},
}
"""Clients that add a resumed stream to what they hold, where the chat is not a new one."""


def whole(client: str, kind: str) -> Job:
    return job(client, f"whole {kind}", {"send": PROMPTS[kind], "answer": "tea"})


def cut(client: str, name: str, kind: str, at: int | str) -> Job:
    # A reader that hangs up at the question leaves it to the one that resumes.
    answers = {"answer": "tea"} if isinstance(at, int) else {}
    return job(
        client,
        name,
        {"send": PROMPTS[kind], "cut": at, **answers},
        {"reload": True},
        {"resume": True, "answer": "tea"},
    )


def cuts(client: str) -> list[tuple[str, int]]:
    dice = Random(client)  # noqa: S311
    kinds = [dice.choice(list(PROMPTS)) for _ in range(CUTS)]
    return [(kind, dice.randrange(1, LONGEST.get(kind, 25))) for kind in kinds]


def jobs(client: str) -> list[Job]:
    wanted = [whole(client, kind) for kind in PROMPTS]
    wanted += [cut(client, name, kind, at) for name, (kind, at) in MOMENTS.items()]
    wanted.append(
        job(client, "after the end", {"send": PROMPTS["tool"]}, {"reload": True}, {"resume": True})
    )
    interrupted = {"send": PROMPTS["words"], "cut": 20}
    broken, drop, resume = interrupted | {"broken": True}, {"drop": True}, {"resume": True}
    wanted += [
        job(client, "in the same page", interrupted, resume),
        job(client, "in the same page, dropped", interrupted, drop, resume),
        job(client, "after a broken stream", broken, resume),
        job(client, "after a broken stream, dropped", broken, drop, resume),
    ]
    if client in NEWEST:
        wanted += [
            cut(client, f"cut {number}", kind, at) for number, (kind, at) in enumerate(cuts(client))
        ]
    return wanted


@pytest.fixture(scope="module")
def live() -> Live:
    return asyncio.run(converse(jobs, Habits(pace_s=PACE_S)))


every_client = pytest.mark.parametrize("client", CLIENTS)


def unlike(live: Live, client: str, kind: str, played: Played) -> list[str]:
    """What is wrong with a chat that was reloaded, beside one that was not."""
    right = live.reports[client].job(f"whole {kind}")
    found = []
    if played.timed_out:
        found.append("timed out")
    if normalized(client, played.messages) != normalized(client, right.messages):
        found.append(
            f"shows {normalized(client, played.messages)}, not {normalized(client, right.messages)}"
        )
    if (played.status, played.error) not in {("ready", None), (right.status, right.error)}:
        found.append(f"is {played.status}: {played.error}")
    if played.responses not in ([200, 200], [200, 204]):
        found.append(f"heard {played.responses}")
    return found


@every_client
def test_nothing_is_left_unhandled(client: str, live: Live) -> None:
    assert live.reports[client].unhandled == []


@every_client
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_reload(moment: str, client: str, live: Live) -> None:
    kind, _ = MOMENTS[moment]
    played = live.reports[client].job(moment)

    assert unlike(live, client, kind, played) == []
    assert played.responses == [200, 200]
    (before,) = played.earlier
    assert len(before) == 2, "the first chat had begun to show the answer"


@every_client
def test_a_reload_after_the_end_finds_nothing_to_resume(client: str, live: Live) -> None:
    played = live.reports[client].job("after the end")

    assert played.responses == [200, 204]
    assert normalized(client, played.messages) == normalized(client, played.earlier[0])
    # 5.0.0 and 5.0.1 take a 204 for a stream that has yet to begin.
    assert played.status == ("submitted" if client == "v5.0.0" else "ready")


@every_client
@pytest.mark.parametrize("how", DOUBLES)
def test_which_clients_double_what_they_hold(how: str, client: str, live: Live) -> None:
    """Their defect, which no server can cure: docs/resume.md says what an app does."""
    report = live.reports[client]
    (_, right), (_, shown) = report.job("whole words").messages, report.job(how).messages

    texts = [part["text"] for part in shown.parts if part["type"] == "text"]
    assert texts[-1] == right.parts[-1]["text"]
    assert len(texts) == (2 if client in DOUBLES[how] else 1)
    assert report.job(how).responses == [200, 200]


@pytest.mark.parametrize("client", NEWEST)
def test_a_reload_at_any_record_loses_and_doubles_nothing(client: str, live: Live) -> None:
    report = live.reports[client]
    played = [report.job(f"cut {number}") for number in range(CUTS)]

    faults = {
        one.name: found
        for one, (kind, _) in zip(played, cuts(client), strict=True)
        if (found := unlike(live, client, kind, one))
    }
    assert faults == {}
    resumed = [one for one in played if one.responses[1] == 200]
    assert len(resumed) > CUTS / 4, "many came back in time, or this shows nothing"


def test_no_hang_up_stopped_a_turn(live: Live) -> None:
    assert [run for run in live.runs if run.aborted] == []
