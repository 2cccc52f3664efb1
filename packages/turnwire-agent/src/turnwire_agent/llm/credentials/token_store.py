"""Tokens in a SQLite file that several processes of one machine share.

Every call is one short transaction under the write lock of SQLite, on a thread of the store's own.
The lock is never held over a network call. What is held over that is a *lease*: a random name in
the row, with the seconds that its holder may take (`stored_token.LeaseWatch` says when it is dead).
A lease only keeps others from asking the token server meanwhile. What a process may write is
decided by the *version* alone: new tokens, and the note that a refresh was refused, are written if
the row still has the version they came from. So a process that was stopped in the middle, and goes
on later, spoils nothing.

The file is made with mode 0600, and refused with any other right for group or others, or if it is
another user's. It belongs on a local disk: SQLite's locks do not hold on NFS.
"""

import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, ParamSpec, Protocol, TypeVar

import msgspec
from msgspec import Struct

from turnwire_agent.llm.credentials.concurrency import OwnThread
from turnwire_agent.llm.credentials.port import CredentialError, Failure, unless_failed
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.stored_token import Step, StoredToken, Tokens
from turnwire_agent.private_file import make_private

P = ParamSpec("P")
T = TypeVar("T")

_SCHEMA_VERSION: Final = 1
_TABLE: Final = """
create table token (
    key text primary key,
    version text not null,
    tokens blob,
    sealed integer not null default 0,
    issued_at real,
    expires_at real,
    lease text not null default '',
    lease_s real not null default 0,
    refused integer not null default 0
) strict, without rowid
"""
_PASSING: Final = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
)
"""Errors that may be gone a moment later."""


class _Pair(Struct):
    """What is sealed: with its key, so that a row cannot be passed off as another."""

    key: str
    access_token: Secret | None
    refresh_token: Secret | None


class Seal(Protocol):
    """Encrypts what the store writes. `fernet.FernetSeal` is one."""

    def encrypt(self, clear: bytes) -> bytes:
        """The bytes to write. They cannot be changed without notice."""
        ...

    def decrypt(self, sealed: bytes) -> bytes | None:
        """What was sealed. None: it was sealed with another key, or changed."""
        ...


class TokenStore:
    """The file.

    Each method raises `CredentialError` if the file cannot be used, or is busy for too long.

    Args:
        path: The file. It is made if it is not there; its folder is not.
        seal: Encrypts the tokens. None: they stand in the file as they are.
        busy_s: How long a transaction waits for those of other processes.
    """

    def __init__(self, path: Path, *, seal: Seal | None = None, busy_s: float = 5.0) -> None:
        self._path = path
        self._seal = seal
        self._busy_s = busy_s
        self._thread = OwnThread("token-store")

    def __repr__(self) -> str:
        return f"TokenStore({self._path})"

    async def read(self, key: str) -> StoredToken | None:
        return await self._run(self._read, key)

    async def claim(
        self, key: str, decide: Callable[[StoredToken | None], Step], lease: str, lease_s: float
    ) -> StoredToken | None:
        """Take the lease if that is the decision, seen under the lock.

        Returns:
            The row with the lease, or None: something else is to be done.
        """
        return await self._run(self._claim, key, decide, lease, lease_s)

    async def save(self, key: str, instead_of: str | None, tokens: Tokens) -> StoredToken:
        """Write new tokens, if the row still has that version, or None: whatever is there.

        A lease and the note of a refusal are gone with it.

        Returns:
            The row as it is now: ours, or that of whoever was first.
        """
        return await self._run(self._save, key, instead_of, tokens)

    async def refuse(self, key: str, version: str) -> bool:
        """Note that the refresh token of this version was refused. False: there is a newer one."""
        return await self._run(self._refuse, key, version)

    async def release(self, key: str, lease: str) -> None:
        """Give the lease back, if it is still ours."""
        await self._run(self._release, key, lease)

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """On the thread. An exception drops the frames there: their variables are tokens."""

        def caught() -> T | Failure:
            try:
                return call(*args, **kwargs)
            except CredentialError as error:
                return error.failure

        return unless_failed(await self._thread.run(caught))

    def _read(self, key: str) -> StoredToken | None:
        with self._transaction() as database:
            return self._row(database, key)

    def _claim(
        self, key: str, decide: Callable[[StoredToken | None], Step], lease: str, lease_s: float
    ) -> StoredToken | None:
        with self._transaction() as database:
            row = self._row(database, key)
            if decide(row) is not Step.REFRESH:
                return None
            database.execute(
                "insert into token (key, version, lease, lease_s) values (?, '', ?, ?) "
                "on conflict do update set lease = excluded.lease, lease_s = excluded.lease_s",
                (key, lease, lease_s),
            )
            return self._row(database, key)

    def _save(self, key: str, instead_of: str | None, tokens: Tokens) -> StoredToken:
        with self._transaction() as database:
            row = self._row(database, key)
            if instead_of is not None and row is not None and row.version != instead_of:
                return row
            pair = msgspec.json.encode(
                _Pair(key, tokens.access_token, tokens.refresh_token), enc_hook=_revealed
            )
            version = secrets.token_hex(8)
            database.execute(
                "insert or replace into token "
                "(key, version, tokens, sealed, issued_at, expires_at) values (?, ?, ?, ?, ?, ?)",
                (
                    key,
                    version,
                    pair if self._seal is None else self._seal.encrypt(pair),
                    self._seal is not None,
                    tokens.issued_at,
                    tokens.expires_at,
                ),
            )
            return StoredToken(version=version, tokens=tokens)

    def _refuse(self, key: str, version: str) -> bool:
        with self._transaction() as database:
            return bool(
                database.execute(
                    "update token set refused = 1, lease = '' where key = ? and version = ?",
                    (key, version),
                ).rowcount
            )

    def _release(self, key: str, lease: str) -> None:
        with self._transaction() as database:
            database.execute(
                "update token set lease = '' where key = ? and lease = ?", (key, lease)
            )

    def _row(self, database: sqlite3.Connection, key: str) -> StoredToken | None:
        found = database.execute(
            "select version, tokens, sealed, issued_at, expires_at, lease, lease_s, refused "
            "from token where key = ?",
            (key,),
        ).fetchone()
        if found is None:
            return None
        version, pair, sealed, issued_at, expires_at, lease, lease_s, refused = found
        return StoredToken(
            version=version,
            tokens=None
            if pair is None
            else self._tokens(key, pair, issued_at, expires_at, sealed=bool(sealed)),
            lease=lease,
            lease_s=lease_s,
            refused=bool(refused),
        )

    def _tokens(
        self, key: str, pair: bytes, issued_at: float, expires_at: float | None, *, sealed: bool
    ) -> Tokens:
        clear: bytes | None = pair
        if sealed:
            if self._seal is None:
                raise self._unusable("its tokens are sealed, and no key is set")
            clear = self._seal.decrypt(pair)
        try:
            opened = _pair(clear or b"")
        except msgspec.DecodeError:
            opened = None
        if opened is None or opened.key != key:
            raise self._unusable("its tokens were sealed with another key, or changed")
        return Tokens(
            access_token=opened.access_token,
            refresh_token=opened.refresh_token,
            issued_at=issued_at,
            expires_at=expires_at,
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """The write lock, from the first read to the commit.

        A connection of its own each time: this is needed once an hour, and a file that was replaced
        is noticed.
        """
        self._guard()
        try:
            with closing(
                sqlite3.connect(self._path, timeout=self._busy_s, isolation_level=None)
            ) as database:
                # What is overwritten is gone from the file, and what is committed is on the disk.
                database.execute("pragma secure_delete = on")
                database.execute("pragma synchronous = extra")
                database.execute("begin immediate")
                self._migrate(database)
                yield database
                database.execute("commit")
                return
        except sqlite3.Error as error:
            number, name = error.sqlite_errorcode & 0xFF, error.sqlite_errorname
        passing = number in _PASSING
        raise CredentialError(
            Failure(
                "unavailable" if passing else "unusable",
                f"The token store {self._path} cannot be used ({name}).",
            )
        )

    def _migrate(self, database: sqlite3.Connection) -> None:
        (version,) = database.execute("pragma user_version").fetchone()
        if version == 0:
            database.execute(_TABLE)
            database.execute(f"pragma user_version = {_SCHEMA_VERSION}")
        elif version != _SCHEMA_VERSION:
            raise self._unusable("a newer version of this program made it")

    def _guard(self) -> None:
        """Make the file if need be, and look at who may read it.

        SQLite gives the journal beside it the same rights.
        """
        try:
            make_private(self._path)
            found = self._path.stat()
        except OSError as error:
            failure = self._unusable(f"{error.strerror}")
        else:
            if found.st_uid != os.geteuid():
                raise self._unusable("it belongs to another user")
            if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise self._unusable(
                    f"its mode is {stat.S_IMODE(found.st_mode):04o}, so that others can use its "
                    f"tokens. Say `chmod 600 {self._path}`, and log in again if somebody may have "
                    "read it"
                )
            return
        raise failure

    def _unusable(self, why: str) -> CredentialError:
        return CredentialError(
            Failure("unusable", f"The token store {self._path} is not used: {why}.")
        )


def _revealed(value: object) -> str:
    assert isinstance(value, Secret)
    return value.reveal()


def _wrapped(_: type, found: object) -> Secret:
    if not isinstance(found, str):
        raise TypeError("A token is a string.")
    return Secret(found)


# Made once: a `Struct` that two threads read for the first time at once ends the process.
_pair = msgspec.json.Decoder(_Pair, dec_hook=_wrapped).decode
