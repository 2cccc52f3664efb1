"""The tables of a journal in SQLite, and how several processes make them once."""

import sqlite3
from typing import Final

from turnwire_agent.journal.port import NewerSchemaError, UnavailableError

VERSION: Final = 1
"""`pragma user_version` of the file."""

APPLICATION: Final = 0x74776A31
"""`pragma application_id` of the file: `twj1`. A file of another program is left alone."""

TABLES: Final = (
    """
create table journal_session (
    id text primary key,
    owner text,
    epoch integer not null default 0,
    due_at real,
    head integer not null default 0,
    settled integer not null default 0,
    arrivals integer not null default 0
) strict, without rowid
""",
    """
create index journal_session_due on journal_session (due_at, id) where due_at is not null
""",
    """
create index journal_session_owner on journal_session (owner) where owner is not null
""",
    """
create table journal_row (
    session text not null,
    seq integer not null,
    epoch integer not null,
    kind text not null,
    body blob not null,
    detail integer not null,
    primary key (session, seq)
) strict
""",
    """
create index journal_row_kept on journal_row (session, seq) where not detail
""",
    """
create table journal_command (
    session text not null,
    id text not null,
    number integer not null,
    kind text not null,
    body blob,
    taken integer not null default false,
    primary key (session, id)
) strict, without rowid
""",
    """
create index journal_command_waiting on journal_command (session, number) where not taken
""",
    """
create index journal_command_taken on journal_command (session, number) where taken
""",
    """
create table journal_effect (
    key text primary key,
    call text not null,
    input_hash text not null,
    state text not null,
    result blob not null
) strict, without rowid
""",
)


def check(database: sqlite3.Connection) -> None:
    """Look whether the file is still one of this version. One page in memory is read for it.

    Raises:
        NewerSchemaError: a newer program made it another.

    """
    ((version,),) = database.execute("pragma user_version").fetchall()
    if version != VERSION:
        raise NewerSchemaError(
            f"The journal has tables of version {version}; this program knows {VERSION}."
        )


def make(database: sqlite3.Connection) -> None:
    """Make the tables in a file that has none, under the write lock.

    A file that has them is opened without that lock: somebody may be stopped while holding it.

    Raises:
        NewerSchemaError: a newer program made them.
        UnavailableError: it is the file of another program.

    """
    if _empty(database):
        database.execute("begin immediate")
        if _empty(database):  # and nobody was faster
            for statement in TABLES:
                database.execute(statement)
            database.execute(f"pragma application_id = {APPLICATION}")
            database.execute(f"pragma user_version = {VERSION}")
        database.execute("commit")
    ((application,),) = database.execute("pragma application_id").fetchall()
    if application != APPLICATION:
        raise UnavailableError("The file is of another program: it is not touched.")
    check(database)


def _empty(database: sqlite3.Connection) -> bool:
    ((found,),) = database.execute("select count(*) from sqlite_schema").fetchall()
    return not found
