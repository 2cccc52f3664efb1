"""Many lives at once: most of each is waiting for a lease.

A journal has one life at a time. Its agents look for sessions that nobody holds, and would find
those of others.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.postgres_server import PostgresServer
from runtime.kill.mortal import Death
from runtime.kill.promises import judge
from runtime.kill.provider import Provider
from runtime.kill.scene import Scene
from runtime.kill.story import Story
from runtime.kill.zygote import Zygote
from turnwire.testing.client_model import BrokenPromiseError

LANES = 3
SAMPLE = int(os.environ.get("KILLS") or "3")
"""Deaths of each scene in each store. 0: every one that there is."""

Address = Callable[[int], str]
"""The address of the journal of a lane."""


class Lives:
    """Lives of sessions in one store."""

    def __init__(self, zygote: Zygote, provider: str, folder: Path, address: Address) -> None:
        self._zygote = zygote
        self._provider = provider
        self._folder = folder
        self._address = address
        self._number = 0

    async def live(self, scene: Scene, death: Death, lane: int = 0) -> Story:
        """Live one life, and judge it."""
        self._number += 1
        session = f"s{self._number}"
        story = Story(self._zygote, self._provider, self._folder, self._address(lane), session)
        try:
            await story.live(scene, death)
            await judge(story, scene)
        except (AssertionError, BrokenPromiseError, TimeoutError, OSError) as error:
            pytest.fail(f"{scene}, {death}: {error!r}")
        return story

    async def live_all(self, scene: Scene, deaths: Sequence[Death]) -> list[Story]:
        """Live a life for each death."""
        stories: list[Story] = []

        async def one_lane(lane: int) -> None:
            for death in deaths[lane::LANES]:
                story = await self.live(scene, death, lane)
                stories.append(story)

        async with asyncio.TaskGroup() as lanes:
            for lane in range(LANES):
                lanes.create_task(one_lane(lane))
        return stories


def spread(deaths: Sequence[Death], most: int) -> Sequence[Death]:
    """Some of them, from the first to the last. 0: all."""
    if not most or len(deaths) <= most:
        return deaths
    step = (len(deaths) - 1) / max(1, most - 1)
    return [deaths[round(number * step)] for number in range(most)]


@asynccontextmanager
async def lives(
    folder: Path, store: str, postgres: Callable[[], PostgresServer]
) -> AsyncIterator[Lives]:
    """Begin with empty journals."""

    def in_files(lane: int) -> str:
        return f"sqlite:{folder / f'journal-{lane}.db'}"

    address: Address = in_files
    if store == "postgres":
        server = postgres()
        for lane in range(LANES):
            server.ask(f"drop database if exists lane{lane} with (force)")
            server.ask(f"create database lane{lane}")
        address = lambda lane: server.url().removesuffix("postgres") + f"lane{lane}"  # noqa: E731
    async with Zygote() as zygote, Provider() as provider:
        yield Lives(zygote, provider.url, folder, address)
