"""A few rows of the matrix, in a short form; `make hostile` measures all of them."""

from pathlib import Path
from typing import Final

import pytest

from gateway.needed import program
from hostile.measured import Limits, broken
from hostile.rig import Effort, Rig
from hostile.run import named
from turnwire_lab.bench.tools import tools

pytestmark = [pytest.mark.sockets, pytest.mark.long, pytest.mark.no_cover]

EFFORT: Final = Effort(streams=40, client_s=2.0, agent_s=2.0, short_s=2.5)
WIDE: Final = Limits(added_p99=200.0, first_byte=2_000.0, growth_mib=80.0)
"""A busy machine is late too, the latest of ten new requests is all that a short row has of them,
and where the peak of memory falls is chance. What has no bound breaks these many times over."""
ROUNDS: Final = 3
"""What has no bound breaks its limit in each round."""

AGENTS: Final = (
    "agent v2 `init` of 32 MiB: empty objects",
    "agent v2 `init` of 32 MiB: many parts in one message",
    "agent v2 empty text frames",
    "agent v2 ids of 1 MiB in `complete`",
    "agent v2 its own deltas",
    "agent session-agent snapshots of a million texts",
)
CLIENTS: Final = (
    "client v2 16 MiB of brackets, no token",
    "client v2 16 MiB in chunks of a byte, no token",
    "client v2 60 slow readers of a history of 4 MB",
    "client v2 20 slow readers of a stream of 3 MB",
    "client v2 20 pictures of 12 MB",
    "client v2 heads without end",
)


async def others_notice(name: str, folder: Path) -> None:
    program("cc")
    load_tools = tools()
    attack = named(name)
    rows = []
    for number in range(ROUNDS):
        (folder / str(number)).mkdir()
        async with Rig(load_tools, folder / str(number), EFFORT) as rig:
            rows.append(await rig.measure(attack))
        if not broken(rows[-1], None, WIDE):
            return

    pytest.fail("\n".join(f"{broken(row, None, WIDE)}: {row}" for row in rows))


@pytest.mark.attack(
    "a hostile agent beside a hundred good streams: an `init` that is large in memory, noise, "
    "endless ids, floods",
    "frames that no honest agent sends end their stream; the other streams hardly notice it",
)
@pytest.mark.parametrize("name", AGENTS)
async def test_a_hostile_agent_is_hardly_noticed(name: str, tmp_path: Path) -> None:
    await others_notice(name, tmp_path)


@pytest.mark.attack(
    "a hostile client beside a hundred good streams: bodies that are refused, heads without end",
    "the other streams hardly notice the attack",
)
@pytest.mark.parametrize("name", CLIENTS)
async def test_a_hostile_client_is_hardly_noticed(name: str, tmp_path: Path) -> None:
    await others_notice(name, tmp_path)
