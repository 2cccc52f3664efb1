"""A token server on loopback, and what tests of credentials share."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx
import pytest

from turnwire_agent.llm.credentials.grant import Grant
from turnwire_agent.llm.credentials.port import Credential, CredentialError, Failure
from turnwire_agent.llm.credentials.refreshing import Clock, Refreshing
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.stored_token import StoredToken, Tokens
from turnwire_agent.llm.credentials.token_store import TokenStore

NAME: Final = "work"


@dataclass(frozen=True)
class Canned:
    """An answer that is given whatever was asked."""

    status: int
    body: str = ""
    headers: str = ""


@dataclass
class Asked:
    form: dict[str, str]
    headers: dict[str, str]


@dataclass
class TokenServer:
    """Rotates refresh tokens. A second use of one revokes all that came from the same log-in.

    With `grace`, a used one gives tokens once more. Without `family`, a second use is refused, and
    what was given before stays good.
    """

    grace: bool = False
    family: bool = True
    lifetime_s: float | None = 3600
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    canned: list[Canned] = field(default_factory=list)
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    """Answers wait for it."""
    good: set[str] = field(default_factory=set)
    """Access tokens that a provider would take."""
    used: set[str] = field(default_factory=set)
    current: str = "refresh-0"
    revoked: bool = False

    def answer(self, form: dict[str, str]) -> Canned:
        if self.canned:
            return self.canned.pop(0)
        if form["grant_type"] == "refresh_token":
            shown = form["refresh_token"]
            if shown in self.used and not self.grace:
                self.revoked |= self.family
                if self.family:
                    self.good.clear()
                return Canned(400, '{"error": "invalid_grant"}')
            if self.revoked or shown not in {self.current, *self.used}:
                return Canned(400, '{"error": "invalid_grant"}')
            self.used.add(shown)
            self.current = f"refresh-{len(self.asked)}"
        access = f"access-{len(self.asked)}"
        self.good.add(access)
        given: dict[str, object] = {"access_token": access, "token_type": "bearer"}
        if self.lifetime_s is not None:
            given["expires_in"] = self.lifetime_s
        if form["grant_type"] == "refresh_token":
            given["refresh_token"] = self.current
        return Canned(200, json.dumps(given))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = [line.partition(": ") for line in head.split("\r\n")[1:] if line]
            headers = {name.lower(): value for name, _, value in lines}
            body = await reader.readexactly(int(headers["content-length"]))
            form = dict(parse_qsl(body.decode(), keep_blank_values=True))
            self.asked.append(Asked(form, headers))
            given = self.answer(form)
            await self.answering.wait()
            writer.write(
                f"HTTP/1.1 {given.status} x\r\nconnection: close\r\n{given.headers}"
                f"content-length: {len(given.body.encode())}\r\n\r\n{given.body}".encode()
            )
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a client that connects, and sends nothing or dies
        finally:
            writer.close()


@asynccontextmanager
async def serving(server: TokenServer) -> AsyncGenerator[TokenServer]:
    server.answering.set()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/token"
    try:
        yield server
    finally:
        server.answering.set()
        listening.close()


@dataclass
class SetClock:
    """Two clocks that a test sets: what is added to those of the machine, in seconds."""

    wall_s: float = 0.0
    monotonic_s: float = 0.0

    @property
    def clock(self) -> Clock:
        return Clock(
            wall=lambda: time.time() + self.wall_s,
            monotonic=lambda: time.monotonic() + self.monotonic_s,
        )

    def forward(self, seconds: float) -> None:
        self.wall_s += seconds
        self.monotonic_s += seconds


class CountedStore(TokenStore):
    """Counts the looks at the row, so that a test knows when somebody waits, and may be full."""

    looks = 0
    full = False

    async def read(self, key: str) -> StoredToken | None:
        self.looks += 1
        return await super().read(key)

    async def save(self, key: str, instead_of: str | None, tokens: Tokens) -> StoredToken:
        if self.full:
            raise CredentialError(Failure("unavailable", "full"))
        return await super().save(key, instead_of, tokens)


def open_client() -> httpx.AsyncClient:
    """A client for loopback. It reads no certificates, which would take most of a test's time."""
    return httpx.AsyncClient(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


def refresh_grant(url: str) -> Grant:
    return Grant(kind="refresh_token", token_url=url, client_id="client")


async def logged_in(path: Path, url: str) -> None:
    """Store the first refresh token of the server, and an access token that is over."""
    await Refreshing(NAME, refresh_grant(url), TokenStore(path)).log_in(
        access_token=Secret("access-0"), refresh_token=Secret("refresh-0"), lifetime_s=0.001
    )


async def bearer(credential: Credential) -> str:
    """The token that an attempt would send."""
    return (await credential.headers()).headers["authorization"].removeprefix("Bearer ")


async def both(first: Credential, second: Credential) -> list[str]:
    return [*await asyncio.gather(bearer(first), bearer(second))]


async def failure(asked: Awaitable[Any]) -> Failure:
    with pytest.raises(CredentialError) as raised:
        await asked
    return raised.value.failure


async def until(true: Callable[[], bool]) -> None:
    """Wait for it. The time limit of every test is that of this."""
    while not true():  # noqa: ASYNC110 - what is waited for may be in another process
        await asyncio.sleep(0.005)
