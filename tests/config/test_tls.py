"""`wss`: certificates are checked, and against the agent's name."""

import ssl
from pathlib import Path

import pytest

import gateway.certificates
from gateway.agent import ScriptedAgent
from gateway.certificates import authority_and_agent, openssl
from gateway.clients import errors, is_whole, post, said
from gateway.process import Process
from gateway.rawagent import RawAgent
from gateway.running import Gateway, settings
from gateway.waiting import until
from turnwire.errors import SettingsError

pytestmark = pytest.mark.sockets


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority of our own, and a certificate for `localhost` that it signed."""
    folder = tmp_path_factory.mktemp("tls")
    authority_and_agent(folder)
    return folder


@pytest.fixture
def of_agent(certificates: Path) -> ssl.SSLContext:
    return gateway.certificates.of_agent(certificates)


@pytest.fixture
def trusting(certificates: Path) -> ssl.SSLContext:
    return gateway.certificates.trusting(certificates)


def _new_client(folder: Path, name: str) -> None:
    """A certificate of its own authority, and its key."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(
        *("req", "-x509", *key, "-days", "2", "-subj", f"/CN={name}"),
        *("-keyout", f"{name}.key", "-out", f"{name}.pem"),
        within=folder,
    )
    both = (folder / f"{name}.pem").read_text() + (folder / f"{name}.key").read_text()
    (folder / f"{name}-both.pem").write_text(both)


@pytest.fixture(scope="module")
def ours(certificates: Path) -> Path:
    """Where our own certificate is, another one, and its key with a password."""
    _new_client(certificates, "gateway")
    _new_client(certificates, "stranger")
    openssl(
        *("ec", "-in", "gateway.key", "-aes128", "-passout", "pass:hush", "-out", "locked.key"),
        within=certificates,
    )
    return certificates


@pytest.fixture
def choosy(of_agent: ssl.SSLContext, ours: Path) -> ssl.SSLContext:
    """The agent's side, where it asks who we are."""
    of_agent.verify_mode = ssl.CERT_REQUIRED
    of_agent.load_verify_locations(ours / "gateway.pem")
    return of_agent


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
        async with Gateway(url, tls=trusting, dial_s=1.5) as gateway:
            response = await post(gateway)

    assert errors(response.text) == ["Connection failed"]
    assert not any(b"authorization" in request for request in agent.requests)


async def test_the_authority_may_come_from_the_settings(
    of_agent: ssl.SSLContext, certificates: Path
) -> None:
    ca_file = certificates / "ca.pem"
    async with (
        ScriptedAgent(tls=of_agent) as agent,
        Gateway(agent.url("localhost"), agent_ca_file=ca_file) as gateway,
    ):
        assert said((await post(gateway)).text) == "Hello world"


async def test_another_authority_in_the_settings_vouches_for_nobody_else(
    of_agent: ssl.SSLContext, ours: Path
) -> None:
    async with (
        ScriptedAgent(tls=of_agent) as agent,
        Gateway(agent.url("localhost"), agent_ca_file=ours / "stranger.pem") as gateway,
    ):
        await _fails(gateway)

        assert agent.connections == 0


@pytest.mark.parametrize(
    "shown",
    [
        {"agent_cert_file": "gateway.pem", "agent_cert_key_file": "gateway.key"},
        {"agent_cert_file": "gateway-both.pem"},
    ],
)
async def test_an_agent_that_asks_is_shown_our_certificate(
    shown: dict[str, str], choosy: ssl.SSLContext, ours: Path
) -> None:
    given = {name: ours / file for name, file in {"agent_ca_file": "ca.pem", **shown}.items()}
    async with (
        ScriptedAgent(tls=choosy) as agent,
        Gateway(agent.url("localhost"), given=given) as gateway,
    ):
        assert said((await post(gateway)).text) == "Hello world"


@pytest.mark.parametrize("shown", [{}, {"agent_cert_file": "stranger-both.pem"}])
async def test_an_agent_that_asks_is_not_reached_by_anybody_else(
    shown: dict[str, str], choosy: ssl.SSLContext, ours: Path
) -> None:
    given = {name: ours / file for name, file in {"agent_ca_file": "ca.pem", **shown}.items()}
    async with (
        ScriptedAgent(tls=choosy) as agent,
        Gateway(agent.url("localhost"), given=given) as gateway,
    ):
        response = await post(gateway)

        assert errors(response.text) == ["Connection failed"]
        assert agent.connections == 0


async def test_the_gateway_itself_dials_with_what_the_settings_say(
    choosy: ssl.SSLContext, ours: Path
) -> None:
    given = {"agent_ca_file": ours / "ca.pem", "agent_cert_file": ours / "gateway-both.pem"}
    async with (
        ScriptedAgent(tls=choosy) as agent,
        Process(agent.url("localhost"), **given) as gateway,
    ):
        response = await post(gateway)

    assert said(response.text) == "Hello world"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"agent_ca_file": "absent.pem"}, "AGENT_CA_FILE"),
        ({"agent_ca_file": "."}, "AGENT_CA_FILE"),
        ({"agent_ca_file": "ca.key"}, "AGENT_CA_FILE"),
        ({"agent_ca_file": "names"}, "AGENT_CA_FILE"),
        ({"agent_cert_file": "absent.pem"}, "AGENT_CERT_FILE"),
        ({"agent_cert_file": "names"}, "AGENT_CERT_FILE"),
        ({"agent_cert_file": "gateway.pem"}, "AGENT_CERT_FILE"),
        (
            {"agent_cert_file": "gateway.pem", "agent_cert_key_file": "absent.key"},
            "AGENT_CERT_KEY_FILE",
        ),
        ({"agent_cert_file": "gateway.pem", "agent_cert_key_file": "ca.key"}, "AGENT_CERT_FILE"),
        ({"agent_cert_file": "gateway.pem", "agent_cert_key_file": "names"}, "AGENT_CERT_FILE"),
        (
            {"agent_cert_file": "gateway.pem", "agent_cert_key_file": "locked.key"},
            "AGENT_CERT_FILE",
        ),
        ({"agent_cert_key_file": "gateway.key"}, "AGENT_CERT_KEY_FILE"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_told_at_start(
    given: dict[str, str], named: str, ours: Path
) -> None:
    files = {name: str(ours / file) for name, file in given.items()}
    with pytest.raises(SettingsError) as refused:
        settings("wss://agents.example/{session_id}", **files)

    for problem in refused.value.problems:
        assert problem.startswith(f"TURNWIRE_{named}: ")
        assert "KEY-----" not in problem
