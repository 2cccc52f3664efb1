import asyncio
import socket
from collections.abc import AsyncGenerator, Callable

import httpx
import pytest

from runtime.llm.credentials.token_server import Canned, TokenServer, open_client, serving, until
from turnwire_agent.llm.credentials.exchange import exchange
from turnwire_agent.llm.credentials.grant import TokenRequest
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.token_answer import (
    Answer,
    Issued,
    NotSent,
    SettingsRefused,
    Unavailable,
)

pytestmark = pytest.mark.sockets


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async with open_client() as client:
        yield client


async def ask(
    client: httpx.AsyncClient,
    url: str,
    *,
    may_send: Callable[[], bool] = lambda: True,
    timeout_s: float = 30,
) -> Answer | NotSent:
    request = TokenRequest(b"grant_type=client_credentials", {"x-one": "1"})
    return await exchange(
        client, url, request, may_send=may_send, connect_s=30, timeout_s=timeout_s
    )


async def test_a_form_is_posted_and_the_answer_read(client: httpx.AsyncClient) -> None:
    async with serving(TokenServer()) as server:
        answer = await ask(client, server.url)

        assert answer == Issued(Secret("access-1"), None, 3600)
        assert server.asked[0].form == {"grant_type": "client_credentials"}
        assert server.asked[0].headers["x-one"] == "1"


async def test_a_redirect_is_not_followed(client: httpx.AsyncClient) -> None:
    async with serving(TokenServer()) as server:
        server.canned = [Canned(307, headers=f"location: {server.url}\r\n")]

        assert await ask(client, server.url) == SettingsRefused("answers 307")
        assert len(server.asked) == 1


async def test_retry_after_is_read(client: httpx.AsyncClient) -> None:
    async with serving(TokenServer(canned=[Canned(429, headers="retry-after: 7\r\n")])) as server:
        assert await ask(client, server.url) == Unavailable("answers 429", 7.0)


async def test_too_long_an_answer_is_not_read(client: httpx.AsyncClient) -> None:
    async with serving(TokenServer(canned=[Canned(200, " " * 300_000)])) as server:
        assert await ask(client, server.url) == Unavailable("sends too long an answer")


async def test_a_server_that_does_not_answer_is_given_up(client: httpx.AsyncClient) -> None:
    async with serving(TokenServer()) as server:
        server.answering.clear()

        found = await ask(client, server.url, timeout_s=0.05)
        assert found == Unavailable("does not answer within 0.05 s")


async def test_a_server_that_is_not_there(client: httpx.AsyncClient) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"

        assert await ask(client, url) == Unavailable("cannot be reached (ConnectError)")
    assert await ask(client, "http://127.0.0.1:x/") == Unavailable("cannot be reached (InvalidURL)")


async def test_a_connection_that_does_not_come_about() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("canary", request=request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(refuse)) as client:
        found = await ask(client, "https://auth.example.com/")

    assert found == Unavailable("cannot be reached within 30 s")


@pytest.mark.parametrize("times", [0, 1])
async def test_what_may_not_be_sent_any_more_is_held_back(
    client: httpx.AsyncClient, times: int
) -> None:
    """Before the head of the request, or between it and the body."""
    answers = [True] * times + [False]

    async with serving(TokenServer()) as server:
        assert await ask(client, server.url, may_send=lambda: answers.pop(0)) == NotSent()
        await asyncio.sleep(0)

        assert server.asked == []
        assert answers == []


async def test_it_is_asked_when_the_connection_stands(client: httpx.AsyncClient) -> None:
    connected: list[bool] = []
    accepted = False

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted = True
        await until(lambda: bool(connected))
        writer.close()

    def may_send() -> bool:
        connected.append(True)
        return True

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        found = await ask(client, f"http://127.0.0.1:{port}/", may_send=may_send)

    assert accepted
    assert isinstance(found, Unavailable)
    assert len(connected) == 2
