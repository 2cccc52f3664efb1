"""The agent runtime under measure: each mode runs to its end, and each figure has its row."""

from pathlib import Path

import pytest

from turnwire_lab.bench import report
from turnwire_lab.bench.agent_loop.cases import (
    FOLLOWED,
    JOURNALS,
    KILLED,
    MEMORY,
    TURNS_CASE,
)
from turnwire_lab.bench.agent_loop.stamps import STAMP_CHARS, ages_us, stamp
from turnwire_lab.bench.effort import Effort
from turnwire_lab.bench.model_calls import readers
from turnwire_lab.bench.model_calls.readers import LITELLM, OPENAI_AGENTS, PYDANTIC_AI, RUNTIME
from turnwire_lab.bench.modes import MODES
from turnwire_lab.bench.modes.agent_loop import AGENT_LOOP_MODES
from turnwire_lab.bench.modes.agent_sessions import AGENT_SESSION_MODES
from turnwire_lab.bench.rounds import Round, Rounds
from turnwire_lab.bench.run import Run
from turnwire_lab.bench.tools import Tools

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(240)]

TINY = Effort(rounds=1, seconds=0.01, minutes=0, most_streams=3, streams_of_memory=5)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(readers, "_ENVIRONMENTS", tmp_path)
    return Run(Tools(agent=(), client=()), TINY, tmp_path, lambda _: None)


def test_a_chunk_tells_its_age() -> None:
    text = stamp() + stamp()

    assert len(text) == 2 * STAMP_CHARS
    assert all(0 <= age < 1_000_000 for age in ages_us(text))
    assert len(list(ages_us(text))) == 2


@pytest.mark.parametrize("mode", AGENT_LOOP_MODES)
def test_turns_are_whole_with_each_journal(run: Run, mode: str) -> None:
    AGENT_LOOP_MODES[mode](run)

    assert [each.contender for each in run.rounds] == [*JOURNALS]
    assert [each.void for each in run.rounds] == [None] * len(JOURNALS)
    assert all(each.figures["us_per_chunk"] > 0 for each in run.rounds)
    peers = {PYDANTIC_AI, OPENAI_AGENTS, LITELLM}
    assert set(run.absent) == (peers if mode == "agent-loop" else set())


@pytest.mark.parametrize(
    ("mode", "cases"),
    [
        ("agent-memory", ["running", "parked", "idle"]),
        ("agent-open", ["3 sessions", FOLLOWED, KILLED]),
    ],
)
def test_sessions_are_opened_held_and_recovered(run: Run, mode: str, cases: list[str]) -> None:
    AGENT_SESSION_MODES[mode](run)

    assert [each.case for each in run.rounds] == cases
    assert [each.void for each in run.rounds] == [None] * len(cases)


def test_each_figure_has_its_row() -> None:
    found = Rounds()

    def add(mode: str, case: str, contender: str, **figures: float) -> None:
        for number in range(3):
            found.add(
                Round(mode=mode, case=case, contender=contender, number=number, figures=figures)
            )

    add("agent-loop", "burst", MEMORY, us_per_chunk=20.0)
    add("agent-loop", "burst", PYDANTIC_AI, us_per_chunk=100.0)
    add("agent-loop", "burst", OPENAI_AGENTS, us_per_chunk=200.0)
    add("agent-turns", TURNS_CASE, MEMORY, us_per_chunk=60.0, added_p50_ms=1.0, added_p99_ms=11.0)
    add("agent-memory", "parked", RUNTIME, kb_per_turn=4.0)
    add("agent-open", KILLED, RUNTIME, s_after_lease=0.5)

    rows = {row.what: (row.measured, row.verdict) for row in report.rows(found)}

    assert rows["Loop, journal in memory: CPU/chunk, to the socket"] == ("20.0 µs", "met")
    assert rows["… vs `pydantic-ai`, which only reads it"] == ("0.20x", "missed")
    assert rows["… vs `openai-agents`, whose loop keeps nothing"] == ("0.10x", "")
    assert rows["200 x 50/s, journal in memory: added latency p99"] == ("11.0 ms", "missed")
    assert rows["Memory of a turn that waits for a person"] == ("4.00 KB", "met")
    assert rows["A turn goes on after SIGKILL: after the end of its lease"] == ("0.50 s", "met")
    assert {*AGENT_LOOP_MODES, *AGENT_SESSION_MODES} < MODES.keys()
