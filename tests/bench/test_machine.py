import os
import shlex
import subprocess
import sys
import time

from turnwire_lab.bench import machine

STAT = """\
cpu  100 0 50 900 30 0 5 2 0 0
cpu0 60 0 30 400 20 0 5 2 0 0
cpu1 40 0 20 500 10 0 0 0 0 0
intr 5
"""
TICKS = os.sysconf("SC_CLK_TCK")


def test_a_core_is_busy_unless_it_is_idle_or_waits_for_a_disk() -> None:
    assert machine._busy(STAT) == {0: 97 / TICKS, 1: 60 / TICKS}


def test_processor_time_is_that_of_the_whole_tree() -> None:
    spin = "import time\nwhile time.process_time() < 0.2: pass\nprint('spun', flush=True)\ninput()"
    shell = f'{shlex.quote(sys.executable)} -c "{spin}"; true'
    child = subprocess.Popen(["sh", "-c", shell], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()

    assert len(machine.tree(child.pid)) == 2
    assert machine.cpu_s(child.pid) >= 0.2
    assert machine.pss_bytes(child.pid) > 1_000_000
    child.communicate(b"\n")
    assert machine.cpu_s(child.pid) == 0


def test_what_is_started_meanwhile_is_pinned_and_nothing_else() -> None:
    before = os.sched_getaffinity(0)
    one = {min(before)}
    shown = "import os; print(sorted(os.sched_getaffinity(0)))"

    with machine.pinned(one):
        out = subprocess.check_output([sys.executable, "-c", shown])

    assert out.decode().strip() == str(sorted(one))
    assert os.sched_getaffinity(0) == before


def test_where_there_are_two_cores_the_gateway_has_one_to_itself() -> None:
    cores = machine.cores()

    assert cores.are_apart is (len(os.sched_getaffinity(0)) > 1)
    assert machine.busy_s().keys() >= cores.gateway | cores.rig
    assert machine.model()
    assert machine.raise_descriptors() > 0
    assert time.process_time() > 0
