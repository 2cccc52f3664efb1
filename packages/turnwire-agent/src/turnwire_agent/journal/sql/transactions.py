"""The transactions of a journal: which statements, and what is decided between them.

A transaction is a generator. It yields statements that may be sent together, and is sent what rows
each of them returned. What it raises undoes all of it.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from turnwire_agent.journal.port import (
    COMMANDS_MAX,
    TAKEN_IDS_MIN,
    Appended,
    Command,
    Effect,
    KeyTakenError,
    Lease,
    LeaseLostError,
    Row,
)
from turnwire_agent.journal.room import check_room
from turnwire_agent.journal.sql import statements as sql

T = TypeVar("T")

Rows = Sequence[tuple[Any, ...]]


class KnownCommandError(Exception):
    """The session has, or had, a command with this id. It undoes the transaction."""


class Query(NamedTuple):
    """A statement with its parameters."""

    statement: str
    parameters: Mapping[str, object]


Transaction = Generator[Sequence[Query], Sequence[Rows], T]
Begin = Callable[[], Transaction[T]]
"""Makes the generator of a transaction."""


def read(session: str, *, after: int, details: bool, limit: int) -> Transaction[Sequence[Row]]:
    (rows,) = yield [
        Query(
            sql.READ,
            {"session": session, "after": after, "details": details, "limit": limit},
        )
    ]
    return [
        Row(seq=seq, epoch=epoch, kind=kind, body=bytes(body), detail=bool(detail))
        for seq, epoch, kind, body, detail in rows
    ]


def put(session: str, command: Command) -> Transaction[int]:
    """Return the number of the command."""
    (arrived,) = yield [Query(sql.ARRIVE, {"session": session})]
    ((number,),) = arrived
    new, ((waiting, size),) = yield [
        Query(
            sql.PUT,
            {
                "session": session,
                "id": command.id,
                "number": number,
                "kind": command.kind,
                "body": command.body,
            },
        ),
        Query(sql.WAITING, {"session": session}),
    ]
    if not new:
        raise KnownCommandError
    check_room(command, number=waiting, size=size)
    return int(number)


def commands(session: str, limit: int) -> Transaction[Sequence[Command]]:
    (rows,) = yield [Query(sql.COMMANDS, {"session": session, "limit": limit})]
    return [
        Command(id=each, kind=kind, body=bytes(body), number=number)
        for each, kind, body, number in rows
    ]


def claim(session: str, owner: str, lease_s: float) -> Transaction[Lease | None]:
    (rows,) = yield [Query(sql.CLAIM, {"session": session, "owner": owner, "lease_s": lease_s})]
    return Lease(session, owner, *rows[0]) if rows else None


def renew(owner: str, lease_s: float) -> Transaction[frozenset[str]]:
    (rows,) = yield [Query(sql.RENEW, {"owner": owner, "lease_s": lease_s})]
    return frozenset(session for (session,) in rows)


def append(
    lease: Lease,
    rows: Sequence[Row],
    *,
    take: Sequence[str],
    effects: Sequence[Effect],
    settle: bool,
    release: bool,
    wake_at: float | None,
) -> Transaction[Appended]:
    session = lease.session
    (fence,) = yield [
        Query(
            sql.ADVANCE,
            {
                "session": session,
                "owner": lease.owner,
                "epoch": lease.epoch,
                "rows": len(rows),
                "settle": settle,
            },
        )
    ]
    if not fence:
        raise LeaseLostError
    ((head, arrivals),) = fence
    # In the order of their keys: two sessions that want the same keys do not wait for each other.
    recorded = [
        Query(
            sql.RECORD,
            {
                "key": each.key,
                "call": each.call,
                "input_hash": each.input_hash,
                "state": each.state,
                "result": each.result,
            },
        )
        for each in sorted(effects, key=lambda each: each.key)
    ]
    written = [
        Query(
            sql.WRITE,
            {
                "session": session,
                "seq": seq,
                "epoch": lease.epoch,
                "kind": row.kind,
                "body": row.body,
                "detail": row.detail,
            },
        )
        for seq, row in enumerate(rows, head - len(rows) + 1)
    ]
    queries = recorded + written
    queries += [Query(sql.TAKE, {"session": session, "id": each}) for each in take]
    # Numbers have no gaps, and at most COMMANDS_MAX of those behind this one wait.
    forgotten = arrivals - COMMANDS_MAX - TAKEN_IDS_MIN
    if take and forgotten > 0:
        queries.append(Query(sql.FORGET, {"session": session, "number": forgotten}))
    if release:
        queries.append(Query(sql.RELEASE, {"session": session, "wake_at": wake_at}))
    if queries:
        answers = yield queries
        if not all(answers[: len(recorded)]):
            raise KeyTakenError
    return Appended(head)


def effect(key: str) -> Transaction[Effect | None]:
    (rows,) = yield [Query(sql.EFFECT, {"key": key})]
    for found, call, input_hash, state, result in rows:
        return Effect(found, call, input_hash, state, bytes(result))
    return None


def due(limit: int) -> Transaction[Sequence[str]]:
    (rows,) = yield [Query(sql.DUE, {"limit": limit})]
    return [session for (session,) in rows]


def sessions(*, after: str, limit: int) -> Transaction[Sequence[str]]:
    (rows,) = yield [Query(sql.SESSIONS, {"after": after, "limit": limit})]
    return [session for (session,) in rows]


def positions(followed: Sequence[str]) -> Transaction[Sequence[tuple[str, int, int]]]:
    """Return id, head and number of commands of the sessions that exist."""
    answers = yield [Query(sql.POSITION, {"session": session}) for session in followed]
    return [
        (session, head, arrivals)
        for session, rows in zip(followed, answers, strict=True)
        for head, arrivals in rows
    ]
