"""A gateway, an agent and a line to them, for clients that are tested in Node.

The first line of the output has the address and tokens. Then each line of the input is a command,
and is answered with one line. It ends with its input.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.faultproxy import FaultProxy, Harm, Way
from turnwire_lab.stage import Stage

PACE_S: Final = 0.01
NO_PAGE: Final = Path("/nonexistent")
KEEPALIVE_S: Final = 1
"""So that a test waits only a little for a line that is silent."""
GRACE_S: Final = 60
"""Longer than a client on a busy machine takes to come back."""
SETTINGS: Final = {
    "TURNWIRE_KEEPALIVE_S": str(KEEPALIVE_S),
    "TURNWIRE_GRACE_S": str(GRACE_S),
    "TURNWIRE_LAG_S": "0",  # a busy machine is no reason to be refused
}


async def done(command: list[Any], stage: Stage, line: FaultProxy) -> object:
    """Do it, and return what is answered."""
    match command:
        case ["restart"]:
            await stage.gateway.restart()
        case ["crash"]:
            stage.gateway.kill()
            await stage.gateway.restart()
        case ["cut"]:
            line.cut()
        case ["swallow", int(after)]:
            line.back = Way(cut_after=after, harm=Harm.SWALLOW)
        case ["mend"]:
            line.back = Way()
        case ["runs", str(session)]:
            assert isinstance(stage.agent, ReferenceAgent)
            return [run.reason for run in stage.agent.journal.of(session)]
        case _:
            raise ValueError(command)
    return None


async def main() -> None:
    agent = ReferenceAgent(Habits(pace_s=PACE_S))
    async with Stage(agent, settings=SETTINGS, built=NO_PAGE) as stage:
        port = urlsplit(stage.gateway.url).port
        assert port is not None
        async with FaultProxy(port) as line:
            url = f"http://127.0.0.1:{line.port}"
            _tell({"url": url, "token": stage.token, "expired": stage.new_token(-3600)})
            while text := await asyncio.to_thread(sys.stdin.readline):
                _tell(await done(json.loads(text), stage, line))


def _tell(answer: object) -> None:
    print(json.dumps(answer), flush=True)  # noqa: T201 (whoever started this reads it)


if __name__ == "__main__":
    asyncio.run(main())
