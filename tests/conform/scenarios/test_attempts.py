"""What stands of a turn in which attempts were taken back, as a scenario counts it."""

import pytest
from msgspec.structs import replace

from conform.trials import PROMPTS, Trial
from support.shown import tool
from turnwire.conform.run import Verdict
from turnwire.conform.scenarios.attempts import standing_text
from turnwire.core.events import (
    Event,
    FilePart,
    PartsRetracted,
    Phase,
    ReasoningDelta,
    StepStarted,
    TextDelta,
)
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

A, B, STEP = TextDelta("a"), TextDelta("b"), StepStarted()
RUNS, DONE = tool(Phase.RUNNING), tool(Phase.COMPLETED)


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([A, TextDelta(""), B], "ab"),
        ([A, STEP, B, PartsRetracted(1), STEP, A], "aa"),
        ([A, RUNS, B, DONE, B, PartsRetracted(2), A], "aa"),
        ([ReasoningDelta("hm"), A, PartsRetracted(1), B], "b"),
        ([FilePart("data:,", "x"), A, PartsRetracted(1), B], "b"),
        ([A, PartsRetracted(7), B], "ab"),
        ([PartsRetracted(0)], ""),
    ],
)
def test_the_text_that_stands(events: list[Event], text: str) -> None:
    assert standing_text(events) == text


@pytest.mark.sockets
async def test_without_a_prompt_nothing_is_tried() -> None:
    async with ReferenceAgent(Habits(pace_s=0.001)) as agent:
        (sound,) = (await Trial("v2").report(agent.url, ["lost-attempt"])).results
        untried = Trial("v2", replace(PROMPTS, lost_attempt=""))
        (reason,) = (await untried.report(agent.url, ["lost-attempt"])).results

    assert (sound.verdict, list(sound.notes)) == (Verdict.PASSED, [])
    assert reason.reason == "no --lost-attempt-prompt was given"
