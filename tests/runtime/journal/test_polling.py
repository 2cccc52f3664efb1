import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from gateway.waiting import until
from turnwire_agent.journal import polling
from turnwire_agent.journal.followers import Followers
from turnwire_agent.journal.polling import Poller, Position
from turnwire_agent.journal.port import Change, NewerSchemaError, UnavailableError


class Stage:
    """A poller, and what the store answers it next."""

    def __init__(self) -> None:
        self.followers = Followers()
        self.poller = Poller(self.followers, self._positions)
        self.answer: Sequence[Position] | Exception | None = None
        self.asked: list[Sequence[str]] = []

    async def _positions(self, followed: Sequence[str]) -> Sequence[Position] | None:
        self.asked.append(followed)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def look(self, *positions: Position) -> Change | None:
        """What its only follower is woken with."""
        self.answer = positions
        await self.poller.look()
        (follower,) = self.followers._followers["s"]
        return follower.take() if follower.changed.is_set() else None


async def test_only_what_moved_wakes() -> None:
    stage = Stage()
    async with aclosing(stage.followers.follow("s")) as changes:
        await anext(changes)

        assert await stage.look(("s", 3, 1)) == Change(rows=True, commands=True)
        assert await stage.look(("s", 3, 1)) is None
        assert await stage.look(("s", 4, 1)) == Change(rows=True, commands=False)
        assert await stage.look(("s", 4, 2)) == Change(rows=False, commands=True)
        assert await stage.look() is None
        assert await stage.look(("s", 4, 2)) is None
        assert set(stage.asked) == {("s",)}


async def test_a_write_of_this_process_wakes_once() -> None:
    stage = Stage()
    async with aclosing(stage.followers.follow("s")) as changes:
        await anext(changes)
        stage.poller.advance("s", head=1)
        assert await anext(changes) == Change(rows=True, commands=False)
        await stage.look(("s", 1, 0))

        stage.poller.advance("s", head=2)
        assert await anext(changes) == Change(rows=True, commands=False)
        stage.poller.advance("s", arrivals=1)
        assert await anext(changes) == Change(rows=False, commands=True)
        assert await stage.look(("s", 2, 1)) is None
        assert await stage.look(("s", 1, 1)) is None  # asked before the write, answered after it


async def test_a_session_that_nobody_follows_any_more_is_forgotten() -> None:
    stage = Stage()
    async with aclosing(stage.followers.follow("s")) as changes:
        await anext(changes)
        await stage.look(("s", 3, 1))
    stage.answer = ()
    await stage.poller.look()

    assert stage.poller._seen == {}


@pytest.mark.parametrize("error", [UnavailableError("away"), NewerSchemaError("newer")])
async def test_a_store_that_does_not_answer_is_asked_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "POLL_S", 0)
    stage = Stage()
    stage.answer = error
    async with aclosing(stage.followers.follow("s")) as changes:
        await anext(changes)
        running = asyncio.create_task(stage.poller.run())
        await until(lambda: len(stage.asked) > 2)
        stage.answer = (("s", 1, 0),)
        assert (await anext(changes)).rows
        running.cancel()


async def test_it_looks_only_while_somebody_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "POLL_S", 0)
    stage = Stage()
    running = asyncio.create_task(stage.poller.run())
    for _ in range(5):
        await asyncio.sleep(0)
    assert stage.asked == []

    async with aclosing(stage.followers.follow("s")) as changes:
        await anext(changes)
        await until(lambda: stage.asked)
    running.cancel()
