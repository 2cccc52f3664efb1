"""Each planted fault of an agent of `ag-ui` is named by its scenario, and by no other."""

import asyncio
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from conform.trials import PROMPTS, Trial, big_result, failures, notes
from gateway import faulty_ag_ui as f
from turnwire.conform.run import Report

pytestmark = [pytest.mark.sockets, pytest.mark.no_cover]

FAULTS: dict[type[f.SoundAgent], str] = {
    f.SoundAgent: "",
    f.NeverEnds: "one-turn",
    f.Hangs: "one-turn",
    f.Fails: "one-turn",
    f.TalksAfterTheEnd: "quiet-after-the-end",
    f.HoldsTextBack: "many-deltas",
    f.TellsTwice: "each-delta-once",
    f.CutsBytes: "unicode",
    f.LosesHalves: "unicode",
    f.CallsNothing: "tool-life",
    f.LosesResults: "tool-life",
    f.CutsBigResults: "big-tool-output",
    f.KillsTheFirst: "two-prompts",
    f.GoesOnAndRefuses: "prompt-after-a-hang-up",
}
HABITS: dict[type[f.SoundAgent], str] = {
    f.Refuses: "two-prompts",
    f.GoesOnAndQueues: "prompt-after-a-hang-up",
    f.StaysOpen: "quiet-after-the-end",
    f.SplitsCharacters: "unicode",
}


async def played(kinds: Mapping[type[f.SoundAgent], str]) -> list[Report]:
    async def play(kind: type[f.SoundAgent]) -> Report:
        is_big = kinds[kind] == "big-tool-output"
        prompts = PROMPTS if is_big else replace(PROMPTS, big_output="")
        async with kind() as agent:
            agent._tools = {**agent._tools, "search": big_result}
            return await Trial("ag-ui", prompts).report(agent.url)

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
        assert not failures(report), kind
        assert HABITS[kind] in notes(report), kind
