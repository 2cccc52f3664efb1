"""The stores that all have one suite of tests: each opens journals on one and the same data."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Protocol, TypeVar

from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Command, Journal, Lease, Row
from turnwire_agent.journal.postgres.journal import PostgresJournal
from turnwire_agent.journal.sqlite.journal import SqliteJournal

T = TypeVar("T")


class Store(Protocol):
    """Where journals keep their rows."""

    shared: bool
    """Whether other processes see it."""

    async def open(self) -> Journal:
        """A journal that was started, and is closed with the store."""
        ...


class MemoryStore:
    shared = False

    def __init__(self, closing: AsyncExitStack) -> None:
        self._journal = MemoryJournal()
        self._closing = closing

    async def open(self) -> Journal:
        """The same one each time."""
        await self._journal.start()
        self._closing.push_async_callback(self._journal.aclose)
        return self._journal


class SqliteStore:
    shared = True

    def __init__(self, closing: AsyncExitStack, path: Path) -> None:
        self._closing = closing
        self.path = path

    async def open(self) -> Journal:
        journal = SqliteJournal(self.path, synchronous="normal")
        await journal.start()
        self._closing.push_async_callback(journal.aclose)
        return journal


class PostgresStore:
    shared = True

    def __init__(self, closing: AsyncExitStack, url: str) -> None:
        self._closing = closing
        self.url = url

    async def open(self) -> Journal:
        journal = PostgresJournal(self.url, connections=4)
        await journal.start()
        self._closing.push_async_callback(journal.aclose)
        return journal


def command(id_: str, body: bytes = b"{}") -> Command:
    return Command(id=id_, kind="prompt", body=body)


def row(body: bytes = b"{}", *, detail: bool = False) -> Row:
    return Row(kind="streamed.1" if detail else "prompted.1", body=body, detail=detail)


async def claimed(journal: Journal, session: str, owner: str = "a", lease_s: float = 60) -> Lease:
    lease = await journal.claim(session, owner, lease_s)
    assert lease is not None
    return lease


async def eventually(ask: Callable[[], Awaitable[T]]) -> T:
    """What it answers once the answer is something. The time limit of the test is its own."""
    while True:
        answer = await ask()
        if answer:
            return answer


async def woken(journal: Journal, session: str, ask: Callable[[], Awaitable[T]]) -> T:
    """The same, asked only when a follower is woken."""
    async with aclosing(journal.follow(session)) as wakes:
        async for _ in wakes:
            answer = await ask()
            if answer:
                return answer
    raise AssertionError("the journal was closed")
