"""What streams notice of one beside them whose client does not read: `make load`."""

import statistics
import sys
from pathlib import Path

import pytest

from gateway.needed import program
from turnwire_lab.bench.contenders import TURNWIRE
from turnwire_lab.bench.farm import Farm
from turnwire_lab.bench.load import Load, Plan
from turnwire_lab.bench.programs import wait_for
from turnwire_lab.bench.tools import tools

OTHERS = Load(plan=Plan(deltas=201, rate=50, hold=True), streams=50)
UNREAD = Load(plan=Plan(deltas=400_000, size=40), nap_us=5_000_000, read_bytes=4_096)
ROUNDS = 5


@pytest.mark.timeout(240)
def test_the_others_are_hardly_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program("cc")
    ratios = []
    with Farm(tools(), [TURNWIRE], tmp_path) as farm:

        def p99_us() -> float:
            found, _ = farm.run_held(TURNWIRE, OTHERS, 4)
            assert found.fault is None
            assert found.latency_us is not None
            return found.latency_us.p99

        for _ in range(ROUNDS):
            alone = p99_us()
            unread = farm.start(TURNWIRE, UNREAD)
            try:
                wait_for(lambda: farm.stats().deltas > 0, 30, "the flood")
                beside = p99_us()
                assert farm.stats().open, "the flood is still held back"
            finally:
                unread.kill()
            wait_for(lambda: not farm.stats().sockets, 30, "the agent's sockets to close")
            ratios.append(beside / alone)
            with capsys.disabled():
                sys.stderr.write(f"\np99 alone {alone:.0f} us, beside {beside:.0f} us\n")

    assert statistics.median(ratios) < 2
