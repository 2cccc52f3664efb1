"""The client that asks for grants and key sets: its connections, and what never goes along."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.control_plane import ControlPlane, Question, granted, reply
from gateway.waiting import PATIENCE_S, until
from turnwire.web.auth.http_client import Answer, HttpClient, NoAnswerError

pytestmark = pytest.mark.sockets


@asynccontextmanager
async def opened(
    *, connections: int = 10, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HttpClient]:
    client = HttpClient(timeout_s=PATIENCE_S, connections=connections, tls=tls)
    try:
        yield client
    finally:
        await client.aclose()


async def get(client: HttpClient, server: ControlPlane, user: str = "ann") -> Answer:
    headers = {"authorization": f"Bearer {user}s"}
    return await client.get(server.url, headers, max_bytes=1_000)


async def test_requests_share_a_connection_whatever_the_answer() -> None:
    async with ControlPlane() as says, opened() as client:
        for status in (404, 403, 500, 302):
            says.says = reply(status, b"no")
            assert await get(client, says) == Answer(status, b"no")
        says.says = granted()
        for _ in range(3):
            await get(client, says)

    assert len(says.questions) == 7
    assert says.connections == 1


async def test_a_connection_that_was_closed_meanwhile_is_not_used_again() -> None:
    async with ControlPlane(granted()) as says, opened() as client:
        await get(client, says)
        says.hang_up()
        await until(lambda: says.open == 0)

        assert (await get(client, says)).status == 200
    assert says.connections == 2


async def test_there_are_only_so_many_connections_at_once() -> None:
    go_on = asyncio.Event()

    async def wait(_: Question, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        writer.write(granted())

    async with ControlPlane(wait) as says, opened(connections=2) as client:
        waiting = [asyncio.create_task(get(client, says)) for _ in range(6)]
        await until(lambda: len(says.questions) == 2)
        go_on.set()

        assert {answer.status for answer in await asyncio.gather(*waiting)} == {200}
    assert len(says.questions) == 6
    assert says.most_open == 2


@pytest.mark.attack("the control plane sets a cookie", "it is not kept")
async def test_one_users_cookie_never_goes_along_with_anothers_token() -> None:
    cookies = ("set-cookie: session=ann; Path=/", "set-cookie: b=c; Domain=127.0.0.1")
    told = reply(200, b"{}", *cookies)
    async with ControlPlane(told) as says, opened() as client:
        await get(client, says, "ann")
        await get(client, says, "bob")

    assert [q.headers["authorization"] for q in says.questions] == ["Bearer anns", "Bearer bobs"]
    assert all("cookie" not in question.headers for question in says.questions)


@pytest.mark.attack(
    "a proxy in the environment", "it is not used on the way to key sets and the control plane"
)
async def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ControlPlane(reply(418)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        async with ControlPlane(granted()) as says, opened() as client:
            assert (await get(client, says)).status == 200

    assert not proxy.questions


async def test_closing_closes_its_connections_and_it_may_be_asked_again() -> None:
    async with ControlPlane(granted()) as says, opened() as client:
        await client.aclose()  # nothing is open yet
        await get(client, says)
        await client.aclose()
        await until(lambda: says.open == 0)

        assert (await get(client, says)).status == 200


def _certificate(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """One that `localhost` gave itself: the server's side, and that of whoever trusts it."""
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    subprocess.run(
        ["openssl", "req", "-x509", *key, "-days", "2", *subject, "-keyout", "k", "-out", "c"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "c", folder / "k")
    return server, ssl.create_default_context(cafile=str(folder / "c"))


async def test_over_tls_only_a_certificate_that_is_trusted_gets_the_token(tmp_path: Path) -> None:
    server, trusting = _certificate(tmp_path)
    async with ControlPlane(granted(), tls=server) as says:
        async with opened() as client:
            with pytest.raises(NoAnswerError, match="ConnectError"):
                await get(client, says)
        assert not says.questions

        async with opened(tls=trusting) as client:
            assert (await get(client, says)).status == 200
