import asyncio
from contextlib import aclosing

from turnwire_agent.journal.followers import Followers
from turnwire_agent.journal.port import Change


async def test_changes_before_it_looks_are_one() -> None:
    followers = Followers()
    async with aclosing(followers.follow("s")) as changes:
        await anext(changes)
        followers.wake("s", rows=True)
        followers.wake("s", rows=True)
        assert await anext(changes) == Change(rows=True, commands=False)
        followers.wake("s", commands=True)
        followers.wake("s", rows=True)
        assert await anext(changes) == Change(rows=True, commands=True)


async def test_an_owner_is_not_told_what_it_wrote_itself() -> None:
    followers = Followers()
    async with (
        aclosing(followers.follow("s", "ours")) as own,
        aclosing(followers.follow("s")) as other,
    ):
        await anext(own)
        await anext(other)
        followers.wake("s", rows=True, by="ours")
        assert await anext(other) == Change(rows=True, commands=False)
        followers.wake("s", commands=True)
        assert await anext(own) == Change(rows=False, commands=True)
        followers.wake("s", rows=True, by="theirs")
        assert await anext(own) == Change(rows=True, commands=False)


async def test_all_are_woken_when_nobody_knows_what_was_missed() -> None:
    followers = Followers()
    async with aclosing(followers.follow("s")) as one, aclosing(followers.follow("t")) as other:
        await anext(one)
        await anext(other)
        followers.wake_all()
        assert await anext(one) == await anext(other) == Change(rows=True, commands=True)


async def test_who_does_not_follow_any_more_is_forgotten() -> None:
    followers = Followers()
    async with aclosing(followers.follow("s")) as one:
        await anext(one)
        async with aclosing(followers.follow("s")) as another:
            await anext(another)
        assert followers.sessions() == ("s",)
        async with aclosing(followers.follow("t")) as other:
            await anext(other)
            assert followers.sessions() == ("s", "t")
        await followers.wanted()

    assert followers.sessions() == ()
    waiting = asyncio.ensure_future(followers.wanted())
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
