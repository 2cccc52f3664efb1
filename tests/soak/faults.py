"""What breaks during a soak, by dice: lines, and the agent."""

import asyncio
import random
from collections.abc import Callable
from typing import Final

from soak.lives import Lives
from turnwire_lab.faultproxy import FaultProxy, Harm, Way

_CUTS: Final = (Harm.CLOSE, Harm.RESET, Harm.HALF_CLOSE)
LONGEST_LIFE_S: Final = 12.0
SHORTEST_LIFE_S: Final = 5.0
LONGEST_DEATH_S: Final = 1.0


class Dicey(FaultProxy):
    """Each connection goes its own way."""

    def __init__(self, port: int, draw: Callable[[], tuple[Way, Way]]) -> None:
        super().__init__(port)
        self.cuts = 0
        """Lines that were to break, if they lasted so long."""
        self._draw = draw

    async def _ways(self) -> tuple[Way, Way]:
        ways = self._draw()
        self.cuts += any(way.cut_after is not None for way in ways)
        return ways


def to_the_agent(dice: random.Random) -> tuple[Way, Way]:
    """Nearly always a good line."""
    lot = dice.random()
    if lot < 0.06:
        return Way(), Way(cut_after=_bytes(dice), harm=dice.choice(_CUTS))
    if lot < 0.09:
        return Way(), Way(latency_s=0.05)
    if lot < 0.11:
        return Way(), Way(piece_bytes=50, pause_s=0.0005)
    return Way(), Way()


def to_the_gateway(dice: random.Random) -> tuple[Way, Way]:
    """A line that breaks, sometimes in the middle of the request."""
    harm = dice.choice(_CUTS[:2])
    if dice.random() < 0.2:
        return Way(cut_after=dice.randrange(1, 900), harm=harm), Way()
    return Way(), Way(cut_after=_bytes(dice), harm=harm)


async def kill_now_and_then(agent: Lives, dice: random.Random) -> None:
    while True:
        await asyncio.sleep(dice.uniform(SHORTEST_LIFE_S, LONGEST_LIFE_S))
        await agent.kill()
        await asyncio.sleep(dice.uniform(0, LONGEST_DEATH_S))
        await agent.start()


def _bytes(dice: random.Random) -> int:
    """From one to some ten thousand; each order of magnitude as often."""
    return int(10 ** dice.uniform(0, 4.5))
