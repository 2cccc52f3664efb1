"""The mode, small: real tools, a real turnwire, and each part of it has what it counts."""

from pathlib import Path

import pytest

from turnwire_lab.bench.contenders import AG_UI_REDIS, TURNWIRE, missing
from turnwire_lab.bench.effort import Effort
from turnwire_lab.bench.growth.axes import AXES, HISTORY, MODE, OUTPUT
from turnwire_lab.bench.growth.parts import CLIENTS, LOGGED, OPEN, PACED, PARTS, counts_of
from turnwire_lab.bench.modes import GATEWAY_MODES, MODES
from turnwire_lab.bench.run import Run
from turnwire_lab.bench.tools import Tools

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

SMALL = Effort(rounds=1, seconds=0.1, minutes=0, most_streams=100, streams_of_memory=100)


def test_the_mode_has_each_axis_and_each_part(load_tools: Tools, tmp_path: Path) -> None:
    run = Run(load_tools, SMALL, tmp_path, lambda _: None)
    until = run.until

    MODES[MODE](run)

    voids = {each.case: each.void for each in run.rounds if each.void}
    cases = set(run.rounds.cases(MODE))
    # A window of a tenth of a second may be over before it is looked at.
    assert set(voids.values()) <= {"the client ended too early"}, voids
    assert run.until == until
    for axis in AXES:
        assert axis.case(axis.counts[0]) in cases
    assert {axis.case(count) for axis in (HISTORY, OUTPUT) for count in axis.counts} <= cases

    def figure(case: str, name: str, contender: str = TURNWIRE) -> float | None:
        return run.rounds.values(MODE, case, contender, name).get(0)

    assert figure(f"{OPEN} 100", "descriptors_per_stream") == pytest.approx(2, abs=0.1)
    assert figure(f"{OPEN} 100", "dialled_per_stream") == 1
    assert (figure(f"{OPEN} 100", "series") or 0) > 50
    assert figure(f"{CLIENTS} 32", "log_lines_per_turn") == pytest.approx(1, abs=0.1)
    assert (figure(HISTORY.case(500), "us_per_message") or 0) > 0
    if f"{PACED} 100" not in voids:
        assert (figure(f"{PACED} 100", "wire_bytes_per_frame") or 0) > 200
    if missing(AG_UI_REDIS) is None and f"{LOGGED} 32" not in voids:
        assert (figure(f"{LOGGED} 32", "redis_calls_per_stream_s", AG_UI_REDIS) or 0) > 0


def test_growth_has_a_run_of_its_own() -> None:
    """`make bench` publishes its table elsewhere, from a run of its own."""
    assert MODE not in GATEWAY_MODES


def test_each_part_has_a_price_and_two_checks_around_it() -> None:
    for part in PARTS:
        assert len({part.price_at, *part.checked_at}) == 3
        assert part.checked_at[0] < part.checked_at[1]
    assert counts_of(OPEN) == [100, 300, 1_000]
    assert counts_of(CLIENTS) == [16, 32, 100]
