"""The tables of a journal in Postgres, and how several processes make them once."""

from typing import Any, Final

from psycopg import AsyncConnection

from turnwire_agent.journal.port import NewerSchemaError

VERSION: Final = 1

LOCK: Final = 0x74776A31
"""Of those who make the tables, one after another."""

TABLES: Final = b"""
create table journal_schema (version integer not null);
insert into journal_schema values (1);

create table journal_session (
    id text collate "C" primary key,
    owner text,
    epoch bigint not null default 0,
    due_at double precision,
    head bigint not null default 0,
    settled bigint not null default 0,
    arrivals bigint not null default 0
);
create index journal_session_due on journal_session (due_at, id) where due_at is not null;
create index journal_session_owner on journal_session (owner) where owner is not null;

create table journal_row (
    session text collate "C" not null,
    seq bigint not null,
    epoch bigint not null,
    kind text not null,
    body bytea not null,
    detail boolean not null,
    primary key (session, seq)
);
create index journal_row_kept on journal_row (session, seq) where not detail;

create table journal_command (
    session text collate "C" not null,
    id text not null,
    number bigint not null,
    kind text not null,
    body bytea,
    taken boolean not null default false,
    primary key (session, id)
);
create index journal_command_waiting on journal_command (session, number) where not taken;
create index journal_command_taken on journal_command (session, number) where taken;

create table journal_effect (
    key text collate "C" primary key,
    call text not null,
    input_hash text not null,
    state text not null,
    result bytea not null
);
"""


async def make(connection: AsyncConnection[Any]) -> None:
    """Make the tables where there are none.

    Raises:
        NewerSchemaError: a newer program made them.

    """
    async with connection.transaction():
        await connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
        found = await connection.execute("select to_regclass('journal_schema')::text")
        if await found.fetchone() == (None,):
            # Without parameters several statements are one message.
            await connection.execute(TABLES)
    await check(connection)


async def check(connection: AsyncConnection[Any]) -> None:
    """Look whether the tables are still of this version.

    Raises:
        NewerSchemaError: a newer program made them others.

    """
    found = await connection.execute("select version from journal_schema")
    row = await found.fetchone()
    if row != (VERSION,):
        version = row[0] if row else "none"
        raise NewerSchemaError(
            f"The journal has tables of version {version}; this program knows {VERSION}."
        )
