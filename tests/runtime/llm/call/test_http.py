import asyncio
import socket

import pytest

from runtime.llm.call.called import ANSWER, Caller, Key, fault, text
from runtime.llm.scripted_server import (
    STREAM_HEAD,
    Connection,
    ScriptedServer,
    response,
    sends,
    sends_then_silent,
)
from turnwire_agent.llm.call.failed_error import FailedError
from turnwire_agent.llm.call.http import Post, http_client
from turnwire_agent.llm.call.limits import Limits

WHOLE = sends(STREAM_HEAD + ANSWER)


async def test_a_server_that_is_not_there_is_a_fault_of_the_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        caller = Caller()
        events = await caller.call(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")

    assert fault(events).kind == "connection"
    assert len(caller.waits) == 2


async def test_a_connection_that_does_not_come_about_is_a_timeout() -> None:
    # Nobody accepts, and the queue of those who wait is full.
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen(0)
        waiting = []
        for _ in range(4):
            client = socket.socket()
            client.settimeout(0)
            client.connect_ex(busy.getsockname())
            waiting.append(client)
        caller = Caller(limits=Limits(connect_s=0.05))
        events = await caller.call(f"http://127.0.0.1:{busy.getsockname()[1]}/v1")
        for client in waiting:
            client.close()

    assert (fault(events).kind, fault(events).message) == (
        "timeout",
        "No connection within 0.05 s.",
    )


@pytest.mark.parametrize("pieces", [(), (b"HTTP/1.1 200",), (b"SSH-2.0-server\r\n\r\n",)])
async def test_a_server_that_hangs_up_or_speaks_no_http_is_one_too(
    pieces: tuple[bytes, ...],
) -> None:
    async with ScriptedServer([sends(*pieces)]) as server:
        events = await Caller().ask(server)

    assert fault(events).kind == "connection"
    assert len(server.asked) == 3


async def test_a_reset_in_the_answer_truncates_it() -> None:
    async def reset(connection: Connection) -> bool:
        await connection.send(STREAM_HEAD + ANSWER[:150])
        connection.writer.transport.abort()
        return False

    async with ScriptedServer([reset]) as server:
        events = await Caller().ask(server)

    assert fault(events).kind in {"truncated", "connection"}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/v1",
        "ftp://example.com",
        "http://",
        "http://127.0.0.1:99999",
        "http://user:canary@127.0.0.1",
    ],
)
async def test_an_address_that_is_none_is_a_bad_request(url: str) -> None:
    caller = Caller()

    assert fault(await caller.call(url)).kind == "bad-request"
    assert caller.waits == []


@pytest.mark.parametrize("url", ["http://[", "http://127.0.0.1:0", "http://a\ud800"])
async def test_an_address_of_nobody_is_a_fault(url: str) -> None:
    assert fault(await Caller().call(url)).kind in {"bad-request", "connection"}


async def test_a_header_that_cannot_be_sent_is_a_bad_request_and_not_shown() -> None:
    async with ScriptedServer([WHOLE]) as server:
        for key in ("canary\nkey-0123456", "canary-ключ-0123"):
            verdict = fault(await Caller().ask(server, Key(key)))

            assert verdict.kind == "bad-request"
            assert "canary" not in repr(verdict)


async def test_no_exception_of_a_failure_holds_the_request() -> None:
    async with http_client() as client, ScriptedServer([sends(b"?")]) as server:
        post = Post(client, server.url, {"authorization": "canary"}, b"{}")
        with pytest.raises(FailedError) as caught:
            await post.send(Limits())

    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


async def test_a_client_that_is_closed_is_a_fault() -> None:
    client = http_client()
    await client.aclose()

    assert fault(await Caller(client=client).call("http://127.0.0.1:9/v1")).kind == "connection"


async def test_a_pool_that_is_empty_is_a_fault() -> None:
    async with (
        http_client(connections=1) as client,
        ScriptedServer([sends_then_silent()]) as server,
    ):
        first = asyncio.create_task(Caller(client=client).ask(server))
        await server.was_asked.wait()
        events = await Caller(client=client, limits=Limits(connect_s=0.05)).ask(server)
        first.cancel()
        await asyncio.wait([first])

    assert fault(events).kind == "overloaded"


async def test_no_cookie_is_kept() -> None:
    script = sends(
        response(200, ANSWER, content_type="text/event-stream", set_cookie="a=b; Path=/")
    )
    async with http_client() as client, ScriptedServer([script]) as server:
        for _ in range(2):
            assert text(await Caller(client=client).ask(server)) == "Hello"

    assert ["cookie" in asked.headers for asked in server.asked] == [False, False]


@pytest.mark.parametrize("trusted", [False, True])
async def test_the_environment_has_proxies_for_those_who_ask(
    *, trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedServer([WHOLE]) as server, ScriptedServer([WHOLE]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with http_client(trust_env=trusted) as client:
            await Caller(client=client).ask(server)

    assert (len(server.asked), len(proxy.asked)) == ((0, 1) if trusted else (1, 0))
