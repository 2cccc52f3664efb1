"""A server that is restarted, killed, stopped, or refuses."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from gateway.postgres_server import PostgresServer
from gateway.waiting import until
from runtime.journal.stores import claimed, command, eventually, row
from turnwire_agent.journal.port import (
    Journal,
    LeaseLostError,
    NewerSchemaError,
    UnavailableError,
)
from turnwire_agent.journal.postgres import listening
from turnwire_agent.journal.postgres.journal import PostgresJournal
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

TIMEOUT_S = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that tests harm, and leave as it was."""
    with PostgresServer() as server:
        yield server


@asynccontextmanager
async def opened(server: PostgresServer, connections: int = 2) -> AsyncIterator[PostgresJournal]:
    journal = PostgresJournal(server.url(), connections=connections, timeout_s=TIMEOUT_S)
    await journal.start()
    try:
        yield journal
    finally:
        await journal.aclose()


@pytest_asyncio.fixture
async def journal(server: PostgresServer) -> AsyncIterator[PostgresJournal]:
    await asyncio.to_thread(server.empty)
    async with opened(server) as journal:
        yield journal


async def test_after_a_restart_the_next_call_works(
    journal: Journal, server: PostgresServer
) -> None:
    lease = await claimed(journal, "s")
    await journal.append(lease, [row(b"before")])
    await journal.put("s", command("c"))
    await asyncio.to_thread(server.stop)
    with pytest.raises(UnavailableError, match="cannot be used"):
        await journal.claim("t", "a", 60)
    await asyncio.to_thread(server.start)

    assert not await journal.put("s", command("c"))
    await journal.append(lease, [row(b"after")], take=["c"])

    assert [each.body for each in await journal.read("s")] == [b"before", b"after"]
    assert list(await journal.commands("s")) == []


async def test_a_connection_that_died_while_it_was_idle_is_not_noticed(
    journal: PostgresJournal, server: PostgresServer
) -> None:
    """By what may be done twice, or was not committed."""
    lease = await claimed(journal, "s")
    killed = "select pg_terminate_backend(pid) from pg_stat_activity where application_name <> ''"

    for number in range(3):
        await asyncio.to_thread(server.ask, killed + " and pid <> pg_backend_pid()")
        await journal.put("s", command(f"c{number}"))
        await asyncio.to_thread(server.ask, killed + " and pid <> pg_backend_pid()")
        assert len(await journal.commands("s")) == number + 1
    await asyncio.to_thread(server.ask, killed + " and pid <> pg_backend_pid()")
    with suppress(UnavailableError):  # rows could be there twice
        await journal.append(lease, [row()])
    await journal.append(lease, [row()])

    assert len(await journal.read("s")) in {1, 2}


async def test_a_crash_in_the_middle_of_writes_leaves_no_gap_and_no_half(
    journal: Journal, server: PostgresServer
) -> None:
    leases = [await claimed(journal, f"s{number}") for number in range(6)]
    heads = dict.fromkeys((lease.session for lease in leases), 0)

    async def write(number: int) -> None:
        lease = leases[number]
        with suppress(UnavailableError):
            while True:
                take = ["never"] if number % 2 else []
                appended = await journal.append(lease, [row(), row()], take=take)
                heads[lease.session] = appended.head

    writing = [asyncio.create_task(write(number)) for number in range(6)]
    await until(lambda: min(heads.values()) >= 10)
    await asyncio.to_thread(server.kill)
    await asyncio.gather(*writing)
    await asyncio.to_thread(server.start)

    for lease in leases:
        rows = await journal.read(lease.session, limit=100_000)
        assert [each.seq for each in rows] == list(range(1, len(rows) + 1))
        assert len(rows) % 2 == 0
        assert len(rows) >= heads[lease.session]
        await journal.append(lease, [row()])


async def test_a_server_that_falls_silent_is_given_up_and_found_again(
    journal: Journal, server: PostgresServer
) -> None:
    lease = await claimed(journal, "s")
    server.pause()
    try:
        outcomes = await asyncio.gather(
            journal.append(lease, [row()]),
            journal.put("s", command("c")),
            journal.read("t"),
            return_exceptions=True,
        )
    finally:
        server.unpause()
    assert {type(each) for each in outcomes} == {UnavailableError}

    await journal.append(lease, [row()])
    rows = await journal.read("s")
    assert [each.seq for each in rows] == list(range(1, len(rows) + 1))


async def test_a_caller_that_is_cancelled_while_the_server_is_silent_breaks_nothing(
    journal: Journal, server: PostgresServer
) -> None:
    lease = await claimed(journal, "s")
    server.pause()
    try:
        writing = [asyncio.create_task(journal.append(lease, [row()])) for _ in range(3)]
        await asyncio.sleep(0.05)
        for task in writing:
            task.cancel()
        await asyncio.wait(writing)
    finally:
        server.unpause()

    await journal.append(lease, [row(b"last")])
    rows = await journal.read("s")
    assert rows[-1].body == b"last"
    assert [each.seq for each in rows] == list(range(1, len(rows) + 1))


async def test_a_process_that_stopped_in_a_transaction_is_not_waited_for(
    journal: Journal, server: PostgresServer
) -> None:
    """Its locks are on the session of somebody else, too."""
    await claimed(journal, "s", "a")
    other = await claimed(journal, "other", "a")
    async with await psycopg.AsyncConnection.connect(server.url()) as stopped:
        await stopped.execute("update journal_session set head = head where id = 's'")

        with pytest.raises(UnavailableError, match="57014"):
            await journal.claim("s", "a", 60)
        await journal.append(other, [row()])

    await claimed(journal, "s", "a")


async def test_our_own_process_that_is_stopped_in_a_transaction_is_ended(
    journal: PostgresJournal,
) -> None:
    connection = await journal._address.connect()
    await connection.execute("begin")

    with pytest.raises(psycopg.Error):  # the server ends it after half of the timeout
        async for _ in connection.notifies():
            pass
    await connection.close()


NO_MORE_LISTENING = "select pg_terminate_backend(pid) from pg_stat_activity where query ~ '^listen'"


async def test_followers_are_woken_while_nobody_can_listen(
    journal: PostgresJournal, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "AGAIN_S", 3_600)
    async with opened(server) as there:
        await until_listening(journal)
        lease = await claimed(there, "s")
        await asyncio.to_thread(server.ask, NO_MORE_LISTENING)
        await until(lambda: not journal._listener.listening)

        async with aclosing(journal.follow("s")) as changes:
            await anext(changes)
            await journal._poller.look()
            for number in range(3):
                await there.append(lease, [row()])
                while len(await journal.read("s")) <= number:
                    await anext(changes)
                await there.put("s", command(f"c{number}"))
                while not (await anext(changes)).commands:
                    pass


async def test_who_listens_again_looks_for_what_was_missed(
    journal: PostgresJournal, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "AGAIN_S", 0.05)
    _, polling = journal._background
    polling.cancel()
    async with opened(server) as there, aclosing(journal.follow("s")) as changes:
        await until_listening(journal)
        await anext(changes)
        await asyncio.to_thread(server.ask, NO_MORE_LISTENING)
        await until(lambda: not journal._listener.listening)
        await there.append(await claimed(there, "s"), [row()])

        assert (await anext(changes)).rows
        await until_listening(journal)


async def until_listening(journal: PostgresJournal) -> None:
    async def listens() -> bool:
        await asyncio.sleep(0.01)
        return journal._listener.listening

    await eventually(listens)


async def test_a_follower_is_not_woken_by_the_notification_of_its_own_write(
    journal: PostgresJournal, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = await claimed(journal, "s")
    async with opened(server) as there, aclosing(journal.follow("other")) as changes:
        other = await claimed(there, "other")
        await until_listening(journal)
        await anext(changes)
        woken: list[str] = []
        wake = journal._followers.wake

        def counted(session: str, **what: Any) -> None:
            woken.append(session)
            wake(session, **what)

        monkeypatch.setattr(journal._followers, "wake", counted)
        await journal.append(lease, [row()])
        await journal.put("s", command("c"))
        await there.append(other, [row()])
        await anext(changes)  # its notification comes behind those of ours

        assert woken == ["s", "s", "other"]


async def test_a_server_that_is_not_there_is_unavailable_and_its_password_is_not_told() -> None:
    address = f"postgresql://me:secret-canary@127.0.0.1:{free_port()}/db"
    journal = PostgresJournal(address)
    with pytest.raises(UnavailableError) as refused:
        await journal.start()
    await journal.aclose()

    assert "canary" not in f"{refused.value} {refused.value!r} {journal!r}"
    assert refused.value.__cause__ is None


async def test_a_caller_that_is_cancelled_while_it_connects_leaves_no_connection(
    server: PostgresServer,
) -> None:
    async def cancel_after(pause_s: float) -> None:
        connecting = asyncio.create_task(PostgresJournal(server.url())._address.connect())
        await asyncio.sleep(pause_s)
        connecting.cancel()
        await asyncio.wait([connecting])
        if not connecting.cancelled():
            await connecting.result().close()

    for part in range(30):
        await cancel_after(part / 2_000)
    gc.collect()  # what it frees, a traceback held: a connection that nobody closed warns

    def ended() -> bool:
        count = "select count(*) from pg_stat_activity where application_name = 'turnwire-agent'"
        return server.ask(count) == "0"

    await until(ended)


async def test_a_server_that_takes_no_writes_is_unavailable(server: PostgresServer) -> None:
    await asyncio.to_thread(
        server.ask, "alter database postgres set default_transaction_read_only = on"
    )
    try:
        with pytest.raises(UnavailableError):
            await PostgresJournal(server.url()).start()
    finally:
        await asyncio.to_thread(
            server.ask,
            "begin read write; alter database postgres reset default_transaction_read_only; commit",
        )


async def test_tables_of_a_newer_program_are_not_touched(
    journal: PostgresJournal, server: PostgresServer
) -> None:
    lease = await claimed(journal, "s")
    await asyncio.to_thread(server.ask, "update journal_schema set version = 2")

    with pytest.raises(NewerSchemaError, match="version 2"):
        await PostgresJournal(server.url()).start()
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    with suppress(UnavailableError):  # its connection is gone
        await journal.append(lease, [row()])
    with pytest.raises(NewerSchemaError, match="version 2"):
        await journal.append(lease, [row()])


async def test_what_the_server_refuses_is_told_without_content(journal: PostgresJournal) -> None:
    lease = await claimed(journal, "s")

    with pytest.raises(UnavailableError) as refused:
        await journal.append(lease, [row(b"canary"), row("canary")])  # type: ignore[arg-type]

    assert "canary" not in str(refused.value)
    await journal.append(lease, [row()])
    with pytest.raises(LeaseLostError):
        await journal.append(lease.__class__("s", "a", 7), [row()])


async def test_a_process_that_is_stopped_in_a_pipeline_does_not_keep_its_session(
    journal: Journal, server: PostgresServer
) -> None:
    await claimed(journal, "s", "a", 0.01)
    stopped = psycopg.pq.PGconn.connect(f"{server.url()}?application_name=turnwire-agent".encode())
    stopped.enter_pipeline_mode()
    stopped.send_query_params(b"begin", None)
    stopped.send_query_params(b"update journal_session set head = 7 where id = 's'", None)
    stopped.flush()
    # It sends nothing more: the server takes it for busy, and not for idle in a transaction.
    locks = "select count(*) from pg_locks where mode = 'RowExclusiveLock'"
    while await asyncio.to_thread(server.ask, locks) == "0":
        pass

    with pytest.raises(UnavailableError, match="QueryCanceled"):
        await journal.claim("s", "b", 60)
    assert await journal.claim("s", "b", 60) is not None
    assert await journal.read("s") == []
    stopped.finish()
