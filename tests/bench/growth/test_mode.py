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
    values = run.rounds.values
    assert values(MODE, f"{OPEN} 100", TURNWIRE, "descriptors_per_stream") == {0: 2.0}
    assert values(MODE, f"{OPEN} 100", TURNWIRE, "dialled_per_stream") == {0: 1.0}
    assert values(MODE, f"{OPEN} 100", TURNWIRE, "series")[0] > 50
    assert values(MODE, f"{CLIENTS} 32", TURNWIRE, "log_lines_per_turn") == {0: 1.0}
    assert values(MODE, f"{PACED} 100", TURNWIRE, "wire_bytes_per_frame")[0] > 200
    assert values(MODE, HISTORY.case(500), TURNWIRE, "us_per_message")[0] > 0
    if missing(AG_UI_REDIS) is None:
        calls = values(MODE, f"{LOGGED} 32", AG_UI_REDIS, "redis_calls_per_stream_s")
        assert calls[0] > 0 or f"{LOGGED} 32" in voids


def test_growth_has_a_run_of_its_own() -> None:
    """`make bench` publishes its table elsewhere, from a run of its own."""
    assert MODE not in GATEWAY_MODES


def test_each_part_has_a_price_and_two_checks_around_it() -> None:
    for part in PARTS:
        assert len({part.price_at, *part.checked_at}) == 3
        assert part.checked_at[0] < part.checked_at[1]
    assert counts_of(OPEN) == [100, 300, 1_000]
    assert counts_of(CLIENTS) == [16, 32, 100]
