"""The lab's agent as a process that writes its journal down: `python -m soak.agent PORT FILE`.

Each change of a run is one line, written in the breath after it was told; so the
last changes before a SIGKILL may be missing.
"""

import asyncio
import sys
from itertools import takewhile
from pathlib import Path
from typing import Final

import msgspec

from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent

HABITS: Final = Habits(pace_s=0.002, quick_s=1.0)


async def _main(port: int, file: Path) -> None:
    async with ReferenceAgent(HABITS, port=port) as agent:
        runs = agent.journal.runs
        known: Run | None = None
        going_on: dict[str, tuple[Run, bytes]] = {}

        def is_never_over() -> bool:
            nonlocal known
            for run in takewhile(lambda run: run is not known, reversed(runs)):
                going_on[run.turn_id] = run, b""
            known = runs[-1] if runs else None
            for turn_id, (run, before) in list(going_on.items()):
                now = msgspec.json.encode(run)
                if now != before:
                    journal.write(now + b"\n")
                    going_on[turn_id] = run, now
                if run.reason is not None:
                    del going_on[turn_id]
            return False

        with file.open("ab", buffering=0) as journal:
            sys.stdout.write(f"{agent.port}\n")
            sys.stdout.flush()
            await agent.until(is_never_over)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), Path(sys.argv[2])))
