"""No representation, exception or log of credentials holds a secret: each class, each way to fail.

Frames of the package are looked at with their variables, as some loggers show them.
"""

import asyncio
import base64
import json
import logging
import sqlite3
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus

import pytest
from cryptography.fernet import Fernet

from runtime.llm.credentials.token_server import Canned, TokenServer, open_client, serving, until
from turnwire_agent.llm.credentials.api_key import ApiKey
from turnwire_agent.llm.credentials.fernet import FernetSeal, fernet_seal
from turnwire_agent.llm.credentials.grant import Grant, token_request
from turnwire_agent.llm.credentials.key_command import KeyCommand
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.key_header import BEARER, KEY_HEADERS
from turnwire_agent.llm.credentials.port import Credential, CredentialError, Failure, Granted
from turnwire_agent.llm.credentials.refreshing import Refreshing, RefreshTimes
from turnwire_agent.llm.credentials.secret import Secret, SecretHeaders
from turnwire_agent.llm.credentials.sources import KeySource, KeyValue, KeyVariable
from turnwire_agent.llm.credentials.stored_token import StoredToken, Tokens
from turnwire_agent.llm.credentials.token_answer import Issued, read_answer
from turnwire_agent.llm.credentials.token_store import TokenStore

pytestmark = pytest.mark.sockets

CANARY: Final = "cAnArY-8d1f"
SPELLINGS: Final = (
    CANARY,
    quote_plus(CANARY),
    base64.b64encode(CANARY.encode()).decode().rstrip("="),
    base64.b64encode(f"me:{CANARY}".encode()).decode().rstrip("="),
)


def shows(text: str) -> bool:
    return any(spelling in text for spelling in SPELLINGS)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def assert_hides(error: BaseException) -> None:
    """Neither the text nor any variable of the package, of this exception or of those before it."""
    for one in chain(error):
        assert not shows(f"{one!s} {one!r} {one.args!r}")
        found = traceback.TracebackException.from_exception(one, capture_locals=True)
        for frame in found.stack:
            if "site-packages" in frame.filename or "turnwire_agent" in frame.filename:
                assert not shows(f"{frame.locals}"), frame


@pytest.fixture(autouse=True)
async def quiet(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> AsyncGenerator[None]:
    """Every logger tells everything, and asyncio every callback with its arguments."""
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    loop.slow_callback_duration = 0
    with caplog.at_level(logging.DEBUG):
        yield
    assert not shows(caplog.text)
    assert not any(shows(repr(record.args)) for record in caplog.records)
    assert not any(map(shows, capfd.readouterr()))


@pytest.fixture
async def server() -> AsyncGenerator[TokenServer]:
    async with serving(TokenServer()) as server:
        yield server


def grant_of(server: TokenServer, **fields: Any) -> Grant:
    return Grant(
        kind="refresh_token",
        token_url=server.url,
        client_id="me",
        client_secret=KeyValue(CANARY),
        extra={"password": CANARY},
        **fields,
    )


TOKENS: Final = Tokens(
    access_token=Secret(CANARY), refresh_token=Secret(CANARY), issued_at=0, expires_at=1
)


def test_no_class_shows_what_it_holds(tmp_path: Path) -> None:
    grant = Grant(
        kind="refresh_token",
        token_url=f"https://auth.example.com/?key={CANARY}",
        client_id="me",
        client_secret=KeyValue(CANARY),
        extra={"password": CANARY},
    )
    command = KeyCommand(["/bin/echo", CANARY])
    store = TokenStore(tmp_path / "tokens", seal=FernetSeal(Fernet(Fernet.generate_key())))
    held: list[object] = [
        Secret(CANARY),
        SecretHeaders({"authorization": CANARY}),
        BEARER.headers(Secret(CANARY)),
        Granted({"authorization": CANARY}, "1"),
        KeyValue(CANARY),
        KeyVariable("K", environ={"K": CANARY}),
        KeyFile(tmp_path / "key"),
        command,
        ApiKey(command, KEY_HEADERS["chat"]),
        ApiKey(KeyValue(CANARY), KEY_HEADERS["chat"]),
        grant,
        token_request(grant, client_secret=Secret(CANARY), refresh_token=Secret(CANARY)),
        store,
        Refreshing("work", grant, store),
        TOKENS,
        StoredToken(version="1", tokens=TOKENS),
        read_answer(200, json.dumps({"access_token": CANARY, "refresh_token": CANARY}).encode()),
    ]

    assert isinstance(held[-1], Issued)
    for one in (*held, held):
        assert not shows(f"{one!r} {one!s} {one}")


async def key_of(source: KeySource) -> Granted:
    return await ApiKey(source, KEY_HEADERS["google"]).headers()


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


BAD_KEYS: Final[dict[str, Callable[[Path], Awaitable[object]]]] = {
    "value": lambda _: key_of(KeyValue(f"{CANARY} x")),
    "variable": lambda _: key_of(KeyVariable("K", environ={"K": f"{CANARY}\n"})),
    "file": lambda path: key_of(KeyFile(written(path, f"{CANARY}\nx"))),
    "long file": lambda path: key_of(KeyFile(written(path, CANARY * 10_000))),
    "output": lambda _: key_of(KeyCommand(["/bin/echo", f"{CANARY} x"])),
    "status": lambda _: key_of(
        KeyCommand(["/bin/sh", "-c", f"echo {CANARY}; echo {CANARY} >&2; exit 1"])
    ),
    "time": lambda _: key_of(
        KeyCommand(["/bin/sh", "-c", f"echo {CANARY}; sleep 60"], timeout_s=0.3)
    ),
    "no program": lambda path: key_of(KeyCommand([str(path), CANARY])),
    "seal": lambda _: fernet_seal(KeyValue(CANARY)),
}


@pytest.mark.parametrize("way", BAD_KEYS)
async def test_a_bad_key_is_not_shown(way: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="key") as raised:
        await BAD_KEYS[way](tmp_path / "key")

    assert_hides(raised.value)


@pytest.mark.parametrize(
    "canned",
    [
        Canned(400, json.dumps({"error": CANARY})),
        Canned(400, json.dumps({"error": "invalid_grant", "error_description": CANARY})),
        Canned(401, json.dumps({"error": "invalid_client", "error_description": CANARY})),
        Canned(400, f"<html>{CANARY}"),
        Canned(500, CANARY),
        Canned(429, CANARY, f"retry-after: {CANARY}\r\n"),
        Canned(302, CANARY, f"location: https://auth.example.com/{CANARY}\r\n"),
        Canned(200, f'{{"access_token": "{CANARY}"'),
        Canned(200, json.dumps({"access_token": f"{CANARY} x"})),
        Canned(200, json.dumps({"access_token": [CANARY]})),
        Canned(200, json.dumps({"access_token": CANARY, "token_type": CANARY})),
        Canned(200, CANARY * 50_000),
        Canned(200, CANARY, "content-encoding: gzip\r\n"),
        Canned(200, CANARY, "transfer-encoding: chunked\r\n"),
    ],
    ids=lambda canned: f"{canned.status} {canned.body[:20]}",
)
@pytest.mark.parametrize("client_auth", ["basic", "post"])
async def test_an_answer_is_not_shown(
    server: TokenServer, tmp_path: Path, canned: Canned, client_auth: str
) -> None:
    server.canned = [canned]
    async with open_client() as client:
        credential = Refreshing(
            "work",
            grant_of(server, client_auth=client_auth),
            TokenStore(tmp_path / "tokens"),
            client=client,
        )
        await credential.log_in(access_token=None, refresh_token=Secret(CANARY), lifetime_s=None)
        with pytest.raises(Exception, match="work") as raised:
            await credential.headers()

    assert_hides(raised.value)
    assert server.asked[0].form["refresh_token"] == CANARY


async def test_a_server_that_does_not_answer_learns_it_alone(
    server: TokenServer, tmp_path: Path
) -> None:
    server.answering.clear()
    times = RefreshTimes(answer_s=0.2)
    async with open_client() as client:
        credential = Refreshing(
            "work", grant_of(server), TokenStore(tmp_path / "tokens"), client=client, times=times
        )
        await credential.log_in(
            access_token=Secret(CANARY), refresh_token=Secret(CANARY), lifetime_s=0.001
        )
        with pytest.raises(Exception, match="not refreshed") as raised:
            await credential.headers()

    assert_hides(raised.value)


async def test_a_refresh_that_goes_well_shows_nothing(server: TokenServer, tmp_path: Path) -> None:
    given = {"access_token": CANARY, "refresh_token": CANARY + "2", "expires_in": 3600}
    server.canned = [Canned(200, json.dumps(given))] * 2
    async with open_client() as client:
        credential: Credential = Refreshing(
            "work", grant_of(server), store := TokenStore(tmp_path / "tokens"), client=client
        )
        assert isinstance(credential, Refreshing)
        await credential.log_in(access_token=None, refresh_token=Secret(CANARY), lifetime_s=None)
        granted = await credential.headers()
        assert await credential.refused(granted.version)

    assert granted.headers["authorization"] == f"Bearer {CANARY}"
    row = await store.read(credential._key)
    assert not shows(f"{granted} {credential} {row} {credential._held} {credential.__dict__}")


@pytest.mark.parametrize(
    "change",
    [
        "update token set tokens = x'00'",
        "update token set tokens = null",
        "update token set sealed = 1",
        "update token set key = 'another'",
    ],
)
async def test_a_store_that_was_changed_shows_nothing(
    server: TokenServer, tmp_path: Path, change: str
) -> None:
    path = tmp_path / "tokens"
    credential = Refreshing("work", grant_of(server), store := TokenStore(path))
    await credential.log_in(access_token=Secret(CANARY), refresh_token=None, lifetime_s=None)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)

    with pytest.raises(Exception, match="token") as raised:
        await credential.headers()
    assert_hides(raised.value)
    for key in (credential._key, "another"):
        try:
            await store.read(key)
        except CredentialError as error:
            assert_hides(error)


async def test_a_store_that_is_busy_shows_nothing(server: TokenServer, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    credential = Refreshing("work", grant_of(server), TokenStore(path, busy_s=0.05))
    tokens = {"access_token": Secret(CANARY), "refresh_token": Secret(CANARY)}
    await credential.log_in(**tokens, lifetime_s=0.001)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("begin immediate")
        for asking in (credential.headers(), credential.log_in(**tokens, lifetime_s=1)):
            with pytest.raises(Exception, match="SQLITE_BUSY") as raised:
                await asking
            assert_hides(raised.value)


async def test_a_run_that_is_cut_off_shows_nothing(server: TokenServer, tmp_path: Path) -> None:
    """The loop ends while a token server has not answered."""
    server.answering.clear()
    grant = grant_of(server)
    path = tmp_path / "tokens"

    async def cut_off() -> None:
        credential = Refreshing("work", grant, TokenStore(path))
        await credential.log_in(access_token=None, refresh_token=Secret(CANARY), lifetime_s=None)
        asking = asyncio.create_task(credential.headers())
        await until(lambda: bool(server.asked))
        assert not asking.done()

    await asyncio.to_thread(asyncio.run, cut_off(), debug=True)
    assert server.asked[0].form["refresh_token"] == CANARY


def test_a_failure_has_no_room_for_a_secret() -> None:
    assert Failure.__struct_fields__ == ("reason", "message", "retry_after_s")
