# ruff: noqa: ASYNC240 - a file on this machine blocks nobody
import asyncio
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.stored_token import Step, StoredToken, Tokens
from turnwire_agent.llm.credentials.token_store import TokenStore

TOKENS: Final = Tokens(
    access_token=Secret("canary-a"),
    refresh_token=Secret("canary-r"),
    issued_at=1.5,
    expires_at=3601.5,
)
OTHER: Final = Tokens(
    access_token=Secret("other"), refresh_token=None, issued_at=2.5, expires_at=None
)


class Backwards:
    """A seal that a test can read."""

    def __init__(self, key: bytes = b"key:") -> None:
        self._key = key

    def encrypt(self, clear: bytes) -> bytes:
        return self._key + clear[::-1]

    def decrypt(self, sealed: bytes) -> bytes | None:
        if not sealed.startswith(self._key):
            return None
        return sealed.removeprefix(self._key)[::-1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


def refresh(_: StoredToken | None) -> Step:
    return Step.REFRESH


def change(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(sql, values)


async def failure(store: TokenStore) -> tuple[str, str]:
    with pytest.raises(CredentialError) as raised:
        await store.read("k")
    return raised.value.failure.reason, str(raised.value)


async def test_what_is_saved_is_read_by_another(path: Path) -> None:
    store = TokenStore(path)
    assert await store.read("k") is None

    saved = await store.save("k", None, TOKENS)

    assert saved.version
    assert await TokenStore(path).read("k") == saved
    assert saved.tokens == TOKENS
    assert await store.read("other") is None
    assert (await store.save("k", None, TOKENS)).version != saved.version


async def test_tokens_are_written_over_their_own_version_alone(path: Path) -> None:
    store = TokenStore(path)
    first = await store.save("k", None, TOKENS)
    second = await store.save("k", first.version, OTHER)

    late = await store.save("k", first.version, TOKENS)

    assert second.tokens == OTHER
    assert late == second == await store.read("k")


async def test_tokens_whose_row_is_gone_are_written(path: Path) -> None:
    store = TokenStore(path)
    first = await store.save("k", None, TOKENS)
    path.unlink()

    assert (await store.save("k", first.version, OTHER)).tokens == OTHER
    assert (await store.read("k") or first).tokens == OTHER


async def test_a_lease_is_taken_if_that_is_decided_under_the_lock(path: Path) -> None:
    store = TokenStore(path)
    saved = await store.save("k", None, TOKENS)
    seen: list[StoredToken | None] = []

    def wait(row: StoredToken | None) -> Step:
        seen.append(row)
        return Step.WAIT

    assert await store.claim("k", wait, "lease", 15) is None
    claimed = await store.claim("k", refresh, "lease", 15)

    assert seen == [saved]
    assert claimed is not None
    assert claimed == await store.read("k")
    assert (claimed.version, claimed.tokens) == (saved.version, TOKENS)
    assert (claimed.lease, claimed.lease_s) == ("lease", 15)
    await store.release("k", "of another")
    assert await store.read("k") == claimed
    await store.release("k", "lease")
    assert (await store.read("k") or claimed).lease == ""


async def test_a_lease_for_the_first_token_has_a_row(path: Path) -> None:
    store = TokenStore(path)

    claimed = await store.claim("k", refresh, "lease", 15)

    assert claimed == StoredToken(version="", lease="lease", lease_s=15)
    saved = await store.save("k", "", TOKENS)
    assert await store.read("k") == saved
    assert saved.lease == ""


async def test_of_many_at_once_one_has_the_lease(path: Path) -> None:
    def free(row: StoredToken | None) -> Step:
        return Step.WAIT if row is not None and row.lease else Step.REFRESH

    stores = [TokenStore(path) for _ in range(8)]
    claims = (store.claim("k", free, f"l{number}", 15) for number, store in enumerate(stores))

    claimed = [row for row in await asyncio.gather(*claims) if row is not None]

    assert len(claimed) == 1


async def test_a_refusal_is_noted_for_its_version_until_there_is_a_new_one(path: Path) -> None:
    store = TokenStore(path)
    first = await store.save("k", None, TOKENS)
    assert not await store.refuse("k", "another")
    await store.claim("k", refresh, "lease", 15)

    assert await store.refuse("k", first.version)

    noted = await store.read("k")
    assert noted is not None
    assert (noted.refused, noted.lease, noted.tokens) == (True, "", TOKENS)
    second = await store.save("k", None, OTHER)
    assert await store.read("k") == second
    assert not second.refused


async def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        await TokenStore(path).read("k")
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602, 0o610])
async def test_a_file_that_others_can_use_is_not_opened(path: Path, mode: int) -> None:
    store = TokenStore(path)
    await store.save("k", None, TOKENS)
    path.chmod(mode)

    reason, message = await failure(store)

    assert reason == "unusable"
    assert message == (
        f"The token store {path} is not used: its mode is {mode:04o}, so that others can use its "
        f"tokens. Say `chmod 600 {path}`, and log in again if somebody may have read it."
    )
    path.chmod(0o600)
    assert (await store.read("k")) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_a_file_of_another_user_is_not_opened(path: Path) -> None:
    path.touch(0o600)
    os.chown(path, 12345, 12345)

    assert await failure(TokenStore(path)) == (
        "unusable",
        f"The token store {path} is not used: it belongs to another user.",
    )


async def test_a_path_that_cannot_be_a_file_is_named(path: Path) -> None:
    assert await failure(TokenStore(path / "none")) == (
        "unusable",
        f"The token store {path}/none is not used: No such file or directory.",
    )
    path.write_text("canary" * 1000)
    path.chmod(0o600)
    assert await failure(TokenStore(path)) == (
        "unusable",
        f"The token store {path} cannot be used (SQLITE_NOTADB).",
    )


async def test_a_file_that_is_busy_may_be_free_later(path: Path) -> None:
    store = TokenStore(path, busy_s=0.05)
    await store.read("k")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")

        assert await failure(store) == (
            "unavailable",
            f"The token store {path} cannot be used (SQLITE_BUSY).",
        )
    assert await store.read("k") is None


async def test_a_newer_file_is_left_alone(path: Path) -> None:
    store = TokenStore(path)
    await store.read("k")
    change(path, "pragma user_version = 2")

    assert await failure(store) == (
        "unusable",
        f"The token store {path} is not used: a newer version of this program made it.",
    )


async def test_what_was_overwritten_is_gone_from_the_file(path: Path) -> None:
    store = TokenStore(path)
    long = Tokens(
        access_token=Secret("canary" * 5000), refresh_token=None, issued_at=0, expires_at=None
    )
    await store.save("k", None, long)
    assert b"canary" in path.read_bytes()

    await store.save("k", None, OTHER)

    assert b"canary" not in path.read_bytes()


async def test_sealed_tokens_are_not_in_the_file_and_are_read_with_the_key(path: Path) -> None:
    store = TokenStore(path, seal=Backwards())
    saved = await store.save("k", None, TOKENS)

    assert b"canary" not in path.read_bytes()
    assert await TokenStore(path, seal=Backwards()).read("k") == saved


async def test_sealed_tokens_are_not_read_without_the_key_or_with_another(path: Path) -> None:
    await TokenStore(path, seal=Backwards()).save("k", None, TOKENS)

    assert await failure(TokenStore(path)) == (
        "unusable",
        f"The token store {path} is not used: its tokens are sealed, and no key is set.",
    )
    assert await failure(TokenStore(path, seal=Backwards(b"another"))) == (
        "unusable",
        f"The token store {path} is not used: its tokens were sealed with another key, or changed.",
    )


async def test_a_row_is_not_passed_off_as_another(path: Path) -> None:
    store = TokenStore(path, seal=Backwards())
    await store.save("another", None, TOKENS)
    change(path, "update token set key = 'k'")

    assert (await failure(store))[1].endswith("sealed with another key, or changed.")


@pytest.mark.parametrize("pair", [b"", b"{", b'{"key": "k", "access_token": 7}', b"\xff"])
async def test_a_row_that_was_changed_is_not_used(path: Path, pair: bytes) -> None:
    store = TokenStore(path)
    await store.save("k", None, TOKENS)
    change(path, "update token set tokens = ?", pair)

    assert (await failure(store))[1].endswith("sealed with another key, or changed.")


async def test_tokens_from_before_the_seal_are_read_and_sealed_when_they_change(
    path: Path,
) -> None:
    first = await TokenStore(path).save("k", None, OTHER)
    store = TokenStore(path, seal=Backwards())

    assert await store.read("k") == first
    await store.save("k", first.version, TOKENS)
    assert b"canary" not in path.read_bytes()
