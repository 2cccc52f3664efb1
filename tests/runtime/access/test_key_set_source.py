import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from gateway.waiting import PATIENCE_S
from runtime.access.key_sets import key_set
from runtime.llm.scripted_server import (
    Connection,
    Script,
    ScriptedServer,
    head,
    response,
    sends,
    sends_then_silent,
)
from turnwire_agent.access import key_set_source
from turnwire_agent.access.key_set_source import BYTES_MAX, FileSource, UrlSource
from turnwire_agent.access.public_keys import NoKeySetError
from turnwire_agent.llm.call.http import http_client

BODY = key_set()


async def endless(connection: Connection) -> bool:
    await connection.send(head())
    while True:
        await connection.send(b" " * 65_536)


async def dripping(connection: Connection) -> bool:
    await connection.send(head())
    while True:
        await connection.send(b" ")
        await connection.pause(0.02)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client() as client:
        yield client


@pytest.mark.parametrize(
    "url",
    [
        "http://issuer.example/keys",
        "http://127.0.0.1.evil.example/keys",
        "https://user:password@issuer.example/keys",
        "https://issuer.example/keys#part",
        "https://",
        "https://[::1",
        "ftp://issuer.example/keys",
        "file:///keys.json",
        "issuer.example",
    ],
)
async def test_an_address_that_others_could_answer_for_is_refused(
    url: str, client: httpx.AsyncClient
) -> None:
    with pytest.raises(ValueError, match=r"."):
        UrlSource(url, client)


async def test_an_address_of_https_or_of_this_machine_is_taken(client: httpx.AsyncClient) -> None:
    for url in ("https://issuer.example/keys?tenant=1", "http://localhost:1/", "http://[::1]:1/k"):
        UrlSource(url, client)


@pytest.mark.sockets
async def test_it_is_asked_for_without_a_credential(client: httpx.AsyncClient) -> None:
    async with ScriptedServer([sends(response(200, BODY))]) as server:
        assert await UrlSource(server.url, client).read() == BODY

    (asked,) = server.asked
    assert asked.line == "GET /v1 HTTP/1.1"
    assert asked.headers["accept-encoding"] == "identity"
    assert "authorization" not in asked.headers


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("script", "why"),
    [
        (endless, f"more than {BYTES_MAX} bytes"),
        (dripping, "no answer within 0.3 s"),
        (sends_then_silent(), "no answer within 0.3 s"),
        (sends(response(302, location="/v1")), "answers 302"),
        (sends(response(500)), "answers 500"),
        (sends(b"no HTTP\r\n\r\n"), "RemoteProtocolError"),
        (sends(head(200, {"content-length": "9"})), "RemoteProtocolError"),
    ],
)
async def test_a_hostile_server_costs_little(
    monkeypatch: pytest.MonkeyPatch, client: httpx.AsyncClient, script: Script, why: str
) -> None:
    monkeypatch.setattr(key_set_source, "TIMEOUT_S", 0.3)
    async with ScriptedServer([script]) as server:
        began = time.monotonic()
        with pytest.raises(NoKeySetError, match=why) as raised:
            await UrlSource(server.url, client).read()

    assert time.monotonic() - began < 30
    assert len(server.asked) == 1
    assert raised.value.__cause__ is None


async def test_nobody_there(client: httpx.AsyncClient) -> None:
    with pytest.raises(NoKeySetError, match="ConnectError"):
        await UrlSource("http://127.0.0.1:9/keys", client).read()


async def test_a_file_is_read_as_it_is_now(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    source = FileSource(file)
    with pytest.raises(NoKeySetError, match="no such file"):
        await source.read()
    for body in (BODY, BODY * 2, b" " * BYTES_MAX):
        file.write_bytes(body)
        assert await source.read() == body


async def test_what_is_no_file_or_too_long_is_refused(tmp_path: Path) -> None:
    large, fifo = tmp_path / "large", tmp_path / "fifo"
    large.write_bytes(b" " * (BYTES_MAX + 1))
    os.mkfifo(fifo)

    for path, why in ((large, "more than"), (fifo, "no such file"), (tmp_path, "no such file")):
        with pytest.raises(NoKeySetError, match=why):
            async with asyncio.timeout(PATIENCE_S):
                await FileSource(path).read()


async def test_a_file_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys.json"
    file.touch()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(NoKeySetError, match="cannot be read: Permission denied"):
        await FileSource(file).read()
