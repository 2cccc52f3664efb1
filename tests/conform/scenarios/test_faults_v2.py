"""Each planted fault of an agent of `v2` is named by its scenario, and by no other."""

import asyncio
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from conform import faulty_v2 as f
from conform.trials import PROMPTS, Trial, big_result, failures, notes
from turnwire.conform.run import Report
from turnwire_lab.agents.v2.frames import Habits

pytestmark = [pytest.mark.sockets, pytest.mark.no_cover]

AT_ONCE = 10
SHORT = replace(PROMPTS, unicode=PROMPTS.plain, big_output="", lost_attempt="")
UNICODE = replace(SHORT, unicode=PROMPTS.unicode)
BIG = replace(SHORT, big_output=PROMPTS.big_output)
LOST = replace(SHORT, lost_attempt=PROMPTS.lost_attempt)
QUICK = Habits(pace_s=0.001, slow_s=0.008, spellings=("text-delta",))
PROMPTED = {"unicode": UNICODE, "big-tool-output": BIG, "lost-attempt": LOST}
"""What a fault of these scenarios needs."""
FAULTS: dict[type[f.Sound], str] = {
    f.Sound: "",
    f.GreetsLate: "greets",
    f.NeverEnds: "one-turn",
    f.SaysNothing: "one-turn",
    f.TalksAfterTheEnd: "quiet-after-the-end",
    f.HoldsTextBack: "many-deltas",
    f.RepeatsADelta: "each-delta-once",
    f.LosesADelta: "each-delta-once",
    f.CutsBytes: "unicode",
    f.ReplacesCharacters: "unicode",
    f.ReadsLatin1: "unicode",
    f.ForgetsHistory: "history",
    f.LeavesToolsOpen: "tool-life",
    f.AnswersNoPings: "answers-pings",
    f.FailsWithItsTool: "failing-tool",
    f.CutsBigResults: "big-tool-output",
    f.DropsTheLineAtBigResults: "big-tool-output",
    f.TakesNothingBack: "lost-attempt",
    f.RepeatsALostAttempt: "lost-attempt",
    f.KillsTheFirst: "two-prompts",
    f.DropsTheSecond: "two-prompts",
    f.IgnoresAborts: "hang-up-aborts",
    f.AbortsLate: "hang-up-aborts",
    f.KeepsLateAborts: "late-abort",
    f.TellsFromTheMiddle: "resume-in-mid-turn",
    f.TellsTwice: "resume-in-mid-turn",
    f.SaysThatNothingRuns: "resume-in-mid-turn",
    f.NamesADeadTurn: "resume-after-the-end",
    f.TakesEveryAnswer: "answered-twice",
    f.TakesNoAnswer: "answered-twice",
}
HABITS: dict[type[f.Sound], str] = {
    f.TellsFailuresAsSuccess: "failing-tool",
    f.RefusesTheSecond: "two-prompts",
}


async def played(kinds: Mapping[type[f.Sound], str], habits: Habits = QUICK) -> list[Report]:
    """Play all scenarios with each of these agents, whose fault is one of that scenario."""
    places = asyncio.Semaphore(AT_ONCE)

    async def play(kind: type[f.Sound]) -> Report:
        async with places, f.FaultyAgent(kind, habits) as agent:
            agent._tools = {**agent._tools, "search": big_result}
            return await Trial("v2", PROMPTED.get(kinds[kind], SHORT)).report(agent.url)

    return await asyncio.gather(*map(play, kinds))


async def test_each_fault_is_named_by_its_scenario_alone() -> None:
    reports = await played(FAULTS)
    seen = {kind: failures(report) for kind, report in zip(FAULTS, reports, strict=True)}
    for kind, expected in FAULTS.items():
        if set(seen[kind]) != {expected} - {""}:  # on a busy machine: once more, and alone
            (again,) = await played({kind: expected})
            seen[kind] = failures(again)
    assert {kind.__name__: set(found) for kind, found in seen.items()} == {
        kind.__name__: {expected} - {""} for kind, expected in FAULTS.items()
    }, seen


async def test_a_habit_is_a_note() -> None:
    reports = await played(HABITS)
    for kind, report in zip(HABITS, reports, strict=True):
        assert not failures(report)
        assert HABITS[kind] in notes(report)


async def test_a_stop_in_a_tool_needs_a_tool_that_runs() -> None:
    slow = Habits(pace_s=0.06, slow_s=0.008, spellings=("text-delta",))
    faults: dict[type[f.Sound], str] = {
        f.Sound: "",
        f.IgnoresAbortsInTools: "stop-in-a-tool",
        f.StopsInSilence: "stop-in-a-tool",
    }
    reports = await played(faults, slow)
    for kind, report in zip(faults, reports, strict=True):
        assert set(failures(report)) == {faults[kind]} - {""}, kind
        assert "slower" not in str(notes(report))
