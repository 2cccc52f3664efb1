"""A short run: one death, one restart of the database, one rolling restart."""

from runtime.chaos.run import run


async def test_nobody_loses_an_answer() -> None:
    books = await run(seconds=24, sessions=8)

    assert books.wrong == [], books.report()
    assert books.kills > 0
    assert books.compared > 0
