"""`wss`: certificates are checked, and against the agent's name."""

import ssl
import subprocess
from pathlib import Path

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import errors, is_whole, post
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.waiting import until

pytestmark = pytest.mark.sockets


def _openssl(*arguments: str, within: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=within, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority of our own, and a certificate for `localhost` that it signed."""
    folder = tmp_path_factory.mktemp("tls")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    _openssl(
        *("req", "-x509", *key, "-days", "2", "-subj", "/CN=An authority for tests"),
        *("-keyout", "ca.key", "-out", "ca.pem"),
        within=folder,
    )
    _openssl(
        *("req", *key, "-subj", "/CN=localhost", "-keyout", "agent.key", "-out", "agent.csr"),
        within=folder,
    )
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    _openssl(
        *("x509", "-req", "-in", "agent.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2"),
        *("-CAcreateserial", "-extfile", "names", "-out", "agent.pem"),
        within=folder,
    )
    return folder


@pytest.fixture
def of_agent(certificates: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "agent.pem", certificates / "agent.key")
    return context


@pytest.fixture
def trusting(certificates: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificates / "ca.pem"))


async def _fails(gateway: Gateway) -> None:
    response = await post(gateway)

    assert errors(response.text) == ["Connection failed"]
    assert gateway.counted("turnwire_dial_failures_total", reason="tls") == 1


async def test_a_certificate_of_a_trusted_authority_is_accepted(
    of_agent: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    async with (
        ScriptedAgent(tls=of_agent) as agent,
        Gateway(agent.url("localhost"), tls=trusting) as gateway,
    ):
        response = await post(gateway)
        await until(lambda: agent.lines[0].closed)

    assert is_whole(response.text)
    assert agent.lines[0].headers["authorization"].startswith("Bearer ")


async def test_a_certificate_of_nobody_known_is_refused(of_agent: ssl.SSLContext) -> None:
    async with ScriptedAgent(tls=of_agent) as agent, Gateway(agent.url("localhost")) as gateway:
        await _fails(gateway)

        assert agent.connections == 0


async def test_a_certificate_of_another_name_is_refused(
    of_agent: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    async with (
        ScriptedAgent(tls=of_agent) as agent,
        Gateway(agent.url("127.0.0.1"), tls=trusting) as gateway,
    ):
        await _fails(gateway)

        assert agent.connections == 0


async def test_an_agent_that_speaks_no_tls_is_refused(trusting: ssl.SSLContext) -> None:
    async with RawAgent(b"HTTP/1.1 400 Bad Request\r\n\r\n") as agent:
        url = agent.url().replace("ws:", "wss:")
        async with Gateway(url, tls=trusting, dial_s=0.5) as gateway:
            response = await post(gateway)

    assert errors(response.text) == ["Connection failed"]
    assert not any(b"authorization" in request for request in agent.requests)
