"""The connections of a process: how many wait for one, and in which order."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.postgres_server import PostgresServer
from runtime.journal.stores import claimed, row
from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.journal.postgres import lanes
from turnwire_agent.journal.postgres.connection import sever
from turnwire_agent.journal.postgres.journal import PostgresJournal

pytestmark = pytest.mark.sockets


@pytest_asyncio.fixture
async def journal(postgres: PostgresServer) -> AsyncIterator[PostgresJournal]:
    journal = PostgresJournal(await asyncio.to_thread(postgres.empty), connections=3)
    await journal.start()
    yield journal
    await journal.aclose()


async def test_too_much_that_waits_is_refused(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "WAITING_MAX", 3)
    lease = await claimed(journal, "s")

    outcomes = await asyncio.gather(
        *(journal.append(lease, [row()]) for _ in range(10)), return_exceptions=True
    )

    refused = [each for each in outcomes if isinstance(each, UnavailableError)]
    assert len(refused) == 7
    assert {str(each) for each in refused} == {"Too many transactions wait for the journal."}
    assert len(await journal.read("s")) == 3


async def test_appends_of_both_kinds_keep_the_order_of_the_calls(journal: PostgresJournal) -> None:
    lease = await claimed(journal, "s")

    await asyncio.gather(
        *(
            journal.append(lease, [row(b"%d" % number)], take=["none"] if number % 3 else [])
            for number in range(30)
        )
    )

    assert [each.body for each in await journal.read("s")] == [b"%d" % n for n in range(30)]


async def test_it_has_no_more_connections_than_it_may(
    journal: PostgresJournal, postgres: PostgresServer
) -> None:
    leases = [await claimed(journal, f"s{number}") for number in range(30)]
    await asyncio.gather(*(journal.append(lease, [row()]) for lease in leases))
    await asyncio.gather(*(journal.due() for _ in range(30)))

    counted = "select count(*) from pg_stat_activity where application_name = 'turnwire-agent'"
    assert int(await asyncio.to_thread(postgres.ask, counted)) <= 3 + 1


async def test_a_connection_that_is_cut_in_the_middle_fails_its_caller_alone(
    journal: PostgresJournal,
) -> None:
    lease = await claimed(journal, "s")
    (lane,) = [each for each in journal._lanes._lanes if each.backend]
    assert lane._connection is not None
    writing = asyncio.create_task(journal.append(lease, [row(b"1")]))
    later = asyncio.create_task(journal.append(lease, [row(b"2")]))
    await asyncio.sleep(0)
    sever(lane._connection)

    with pytest.raises(UnavailableError):
        await writing
    await later
    assert b"2" in [each.body for each in await journal.read("s")]


async def test_connections_wait_for_nobody_once_they_are_closed(journal: PostgresJournal) -> None:
    lease = await claimed(journal, "s")
    writing = [asyncio.create_task(journal.append(lease, [row()])) for _ in range(20)]
    await asyncio.sleep(0)

    await journal.aclose()

    assert [appended.head for appended in await asyncio.gather(*writing)] == list(range(1, 21))
