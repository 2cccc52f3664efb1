"""Rows of a session: their numbers, and which of them are read."""

import asyncio

import pytest

from runtime.journal.stores import Store, claimed, row
from turnwire_agent.journal.port import Journal, LeaseLostError, UnavailableError


async def test_a_session_that_does_not_exist_has_nothing(journal: Journal) -> None:
    assert await journal.read("s") == []
    assert list(await journal.commands("s")) == []
    assert await journal.sessions() == []


async def test_rows_are_numbered_from_1_and_keep_their_content(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    body = bytes(range(256))

    first = await journal.append(lease, [row(body), row(b"")])
    second = await journal.append(lease, [row(b"3", detail=True)])
    nothing = await journal.append(lease, [])

    assert (first.head, second.head, nothing.head) == (2, 3, 3)
    rows = await journal.read("s")
    assert [(each.seq, each.epoch, each.kind, each.body, each.detail) for each in rows] == [
        (1, 1, "prompted.1", body, False),
        (2, 1, "prompted.1", b"", False),
        (3, 1, "streamed.1", b"3", True),
    ]


async def test_reading_goes_on_after_a_row_and_stops_at_a_limit(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    await journal.append(lease, [row(detail=number % 2 == 0) for number in range(10)])

    assert [each.seq for each in await journal.read("s", limit=4)] == [1, 2, 3, 4]
    assert [each.seq for each in await journal.read("s", after=4, limit=4)] == [5, 6, 7, 8]
    assert [each.seq for each in await journal.read("s", after=8, limit=4)] == [9, 10]
    assert await journal.read("s", after=10) == []
    assert await journal.read("s", after=11) == []


async def test_details_are_left_out_up_to_where_the_session_is_settled(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    await journal.append(lease, [row(), row(detail=True), row(detail=True)])
    assert [each.seq for each in await journal.read("s")] == [1, 2, 3]

    await journal.append(lease, [row(detail=True), row()], settle=True)
    await journal.append(lease, [row(detail=True)])

    assert [each.seq for each in await journal.read("s")] == [1, 5, 6]
    assert [each.seq for each in await journal.read("s", after=1)] == [5, 6]
    assert [each.seq for each in await journal.read("s", after=5)] == [6]
    assert [each.seq for each in await journal.read("s", limit=2)] == [1, 5]
    assert [each.seq for each in await journal.read("s", details=True)] == [1, 2, 3, 4, 5, 6]
    assert [each.seq for each in await journal.read("s", details=True, after=2, limit=2)] == [3, 4]


async def test_settling_without_rows_settles_all_before(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    await journal.append(lease, [row(detail=True)])

    await journal.append(lease, [], settle=True)

    assert await journal.read("s") == []


async def test_sessions_do_not_mix(journal: Journal) -> None:
    one, other = await claimed(journal, "one"), await claimed(journal, "other", "b")

    await journal.append(one, [row(b"1"), row(b"2")])
    await journal.append(other, [row(b"3")], settle=True)

    assert [each.body for each in await journal.read("one")] == [b"1", b"2"]
    assert [(each.seq, each.body) for each in await journal.read("other")] == [(1, b"3")]


async def test_a_second_journal_reads_what_the_first_wrote(store: Store) -> None:
    first, second = await store.open(), await store.open()

    await first.append(await claimed(first, "s"), [row(b"kept")])

    assert [each.body for each in await second.read("s")] == [b"kept"]


async def test_sessions_are_listed_in_the_order_of_their_code_points(journal: Journal) -> None:
    for session in ("b", "a", "ä", "B", "z", "\U0001f600", "￮"):
        await claimed(journal, session)

    listed = ["B", "a", "b", "z", "ä", "￮", "\U0001f600"]
    assert await journal.sessions() == listed
    assert await journal.sessions(limit=3) == listed[:3]
    assert await journal.sessions(after="b", limit=2) == ["z", "ä"]


@pytest.mark.parametrize("session", ["", "s" * 513, "a\0b", "\ud800"])
async def test_an_id_that_no_store_keeps_is_refused(journal: Journal, session: str) -> None:
    with pytest.raises(ValueError, match="An id"):
        await journal.claim(session, "a", 1)

    assert await journal.sessions() == []


async def test_the_longest_id_is_kept(journal: Journal) -> None:
    session = "\U0001f600" * 512

    await journal.append(await claimed(journal, session), [row()])

    assert await journal.sessions() == [session]


async def test_no_number_is_missing_or_twice_in_fifty_sessions_at_once(store: Store) -> None:
    """Each is written by two owners in turn, on two journals."""
    journals = [await store.open(), await store.open()]

    async def write(session: str) -> None:
        for turn in range(6):
            writer = journals[turn % 2]
            lease = await claimed(writer, session)
            for number in range(4):
                await writer.append(lease, [row(b"%d.%d" % (turn, number)), row(detail=True)])
            await writer.append(lease, [], release=True)
            with pytest.raises(LeaseLostError):
                await writer.append(lease, [row(b"late")])

    await asyncio.gather(*(write(f"session-{number}") for number in range(50)))

    for number in range(50):
        rows = await journals[0].read(f"session-{number}")
        assert [each.seq for each in rows] == list(range(1, 49))
        assert [each.body for each in rows if not each.detail] == [
            b"%d.%d" % (turn, number) for turn in range(6) for number in range(4)
        ]
        assert [each.epoch for each in rows] == sorted(each.epoch for each in rows)


async def test_a_closed_journal_refuses(store: Store) -> None:
    journal = await store.open()
    await journal.aclose()
    await journal.aclose()

    with pytest.raises(UnavailableError, match="closed"):
        await journal.read("s")
    with pytest.raises(UnavailableError, match="closed"):
        await journal.claim("s", "a", 1)
