"""How the process keeps its memory."""

import subprocess
import sys
from textwrap import dedent

FRAMES = 200


def faults(*, settled: bool) -> int:
    """Pages that the kernel had to give while large frames came and went, again and again."""
    program = f"""
        import resource
        from turnwire.web.server.memory_tuning import tune_memory
        if {settled}:
            tune_memory()
        def count():
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for rounds in (3, {FRAMES}):
            before = count()
            for _ in range(rounds):
                frames = [bytes(600_000) for _ in range(4)]
                del frames
        print(count() - before)
    """
    ran = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=True
    )
    return int(ran.stdout)


def test_what_large_frames_need_is_not_given_back_each_time() -> None:
    assert faults(settled=True) < FRAMES
    # Or it would be no use: without, it is all given back and taken again.
    assert faults(settled=False) > 10 * FRAMES
