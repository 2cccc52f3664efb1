"""One verdict, whatever is set: `check` and `serve` agree, and nothing ends in a traceback."""

import asyncio
import os
import random
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from gateway.process import command, environ
from gateway.signers import signer
from gateway.tokens import KEY
from support.seeds import each_seed
from turnwire.cli import main
from turnwire.cli.serving import new_gateway
from turnwire.cli.verdict import startable_settings
from turnwire.config.settings import ALIASES, SECRETS, Settings, variable
from turnwire.errors import SettingsError

LONG: Final = "x" * 5000
ODD: Final = (
    *("", " ", "0", "-1", "1", "65536", "1e309", "nan", "9" * 18, "9" * 400, "true", "null"),
    *(
        "\udcff\udcfe",
        "\u00e9",
        "\u202e",
        "a\nb",
        "\x1b[31m",
        "%s{0}{session_id}",
        "*",
        ",",
        ",,",
    ),
    *("http://[::1", "ws://h:99999/{session_id}", "redis://:pw@h:port", "://", "//", "file:///etc"),
    *("redis://h:1/0?db=x", "redis://h:1?nonsense=1", "memory://", "rediss://h:1"),
    *("wss://h/{session_id}", "https://h/{session_id}", "https://h/keys", "::1", "0.0.0.0/33"),
    *("service", "none", "open", "http", "opaque", "cut", "RS256", "ES256", "EdDSA", "otlp"),
    *("-----BEGIN PUBLIC KEY-----", '{"kty":"oct","k":"AAAA"}', KEY, LONG),
)
SETTINGS: Final = (
    *map(variable, Settings.__struct_fields__),
    *(f"{variable(secret)}_FILE" for secret in SECRETS),
    *ALIASES,
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Paths where the wrong thing is."""
    root = tmp_path_factory.mktemp("places")
    for name, held in {
        "empty": b"",
        "binary": b"\xff\xfe\x00",
        "public.pem": signer("RS256").pem.encode(),
        "curve.pem": signer("ES256").pem.encode(),
        "key": KEY.encode(),
    }.items():
        (root / name).write_bytes(held)
    (root / "loop").symlink_to(root / "loop")
    (root / "locked").write_text(KEY)
    (root / "locked").chmod(0)
    found = [str(path) for path in root.iterdir()]
    return (*found, str(root), str(root / "absent" / "file"), f"{root}/{LONG}", "/dev/zero")


def problems_of(given: Mapping[str, str]) -> list[str]:
    """What is wrong; else a gateway is made of it, as `serve` makes one."""
    try:
        settings = startable_settings(given)
    except SettingsError as exc:
        return exc.problems
    new_gateway(settings)
    return []


def usual(**given: str) -> dict[str, str]:
    return {name: value for name, value in environ(**given).items() if "TURNWIRE_" in name}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_gateway_is_made_of_whatever_is_not_refused(name: str, places: tuple[str, ...]) -> None:
    for value in (*ODD, *places):
        for rest in (usual(), usual(enabled="false"), {}):
            for problem in problems_of({**rest, name: value}):
                assert problem.startswith(("TURNWIRE_", "ENABLE_")), (value[:99], problem)


@each_seed(20)
def test_so_it_is_with_many_at_once(seed: int, places: tuple[str, ...]) -> None:
    dice = random.Random(seed)  # noqa: S311 (so that it can be thrown again)
    for _ in range(20):
        names = dice.sample(SETTINGS, dice.choice((2, 3, 5, 20)))
        rest = usual() if dice.random() < 0.7 else {}
        for missing in dice.sample(list(rest), dice.randrange(len(rest) + 1)):
            del rest[missing]
        given = {name: dice.choice((*ODD, *places)) for name in names}
        for problem in problems_of(rest | given):
            assert problem.startswith("TURNWIRE_")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if "TURNWIRE" in name or name in ALIASES:
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("bare")
def test_it_is_told_in_lines_that_no_value_can_break(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("TURNWIRE_A\nB", "TURNWIRE_\x1b[31m", "TURNWIRE_\udcff", "TURNWIRE_HOST"):
        monkeypatch.setenv(name, "a\nb\udcff")

    assert main(["check"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 4
    assert all(line.startswith("turnwire: TURNWIRE_") for line in err.splitlines())
    assert "\x1b" not in err


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.getsockname()[1]


@pytest.mark.sockets
async def test_a_port_that_somebody_has_is_told_by_both(taken: int) -> None:
    for field in ("port", "metrics_port"):
        env = environ() | {variable(field): str(taken)}
        problem = f"cannot listen on 127.0.0.1, port {taken}: Address already in use, perhaps by"

        code, out, _ = await command("check", env=env)
        assert code == 0
        assert "Warning: a port is in use, perhaps by the gateway that runs." in out
        assert f"Until it is free, `serve` {problem}" in out
        code, _, err = await command("serve", env=env)
        assert code == 1
        assert err.startswith(f"turnwire: {problem}")


class Case:
    """Settings as a person might have them."""

    def __init__(self, name: str, fate: int, *, workers: int = 1, **given: str | None) -> None:
        self.name = name
        self.workers = workers
        self.fate = fate
        """The exit code of `check`."""
        self.given = given


NOTHING: Final[dict[str, Any]] = dict.fromkeys(("enabled", "agent_url", "jwt_key"), None)


@pytest.mark.sockets
@pytest.mark.parametrize(
    "case",
    [
        Case("all that is needed", 0),
        Case("nothing", 0, **NOTHING),
        Case("nothing, with workers", 0, workers=2, **NOTHING),
        Case("a Redis without a port, with workers", 1, workers=2, rates_url="redis://h:port"),
        Case("nothing but a route that is empty", 0, **NOTHING, access="http"),
        Case("the flag alone", 1, agent_url=None, jwt_key=None),
        Case("no flag", 0, enabled=None),
        Case("no agent", 1, agent_url=None),
        Case("no key", 1, jwt_key=None),
        Case("a key that is short, and no flag", 1, enabled=None, jwt_key="short"),
        Case("certificates that are none, and no flag", 1, enabled=None, agent_ca_file="/dev/null"),
        Case("a Redis without a port", 1, rates_url="redis://h:port"),
        Case("a Redis with odd options", 1, rates_url="redis://h:1?what=1"),
        Case("a Redis that is not there", 0, rates_url="redis://127.0.0.1:1", turns_per_minute="9"),
        Case("a Redis that counts nothing", 1, rates_url="redis://127.0.0.1:1"),
        Case("an address of somebody else", 1, host="192.0.2.1"),
        Case("a host with a line end", 1, host="a\nb"),
        Case("a directory as a file of samples", 1, drift_samples="/"),
        Case("a file as a directory of recordings", 1, record_dir="/dev/null/recordings"),
        Case("spans without end", 0, tracing="otlp"),
    ],
    ids=lambda case: case.name,
)
async def test_check_and_serve_agree(case: Case) -> None:
    env = environ() | {variable(name): str(value) for name, value in case.given.items() if value}
    for name in (name for name, value in case.given.items() if value is None):
        env.pop(variable(name))

    code, out, err = await command("check", env=env)
    started, log = await started_with(env, workers=case.workers)

    assert code == case.fate, err
    assert started == (code == 0), log
    assert "Traceback" not in err + log
    if code:
        assert out == ""
        assert err == log
        assert all(line.startswith("turnwire: ") for line in err.splitlines())
    elif env.get("TURNWIRE_ENABLED") != "true":
        assert "every chat" in out
        assert "404" in out
        assert "every chat route is a 404" in log


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_BSP_MAX_QUEUE_SIZE", "-1"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "-1"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/absent"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
    ],
)
async def test_so_it_is_with_the_variables_of_tracing(name: str, value: str) -> None:
    env = environ(tracing="otlp") | {name: value}

    code, _, err = await command("check", env=env)
    started, log = await started_with(env)

    assert started == (code == 0), log
    assert "Traceback" not in err + log
    if code:
        assert err == log
        assert err.startswith("turnwire: TURNWIRE_TRACING: ")
        assert err.count("\n") == 1


async def started_with(env: Mapping[str, str], workers: int = 1) -> tuple[bool, str]:
    """Whether `serve` came to listen, and all that it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "serve", "--workers", str(workers)),
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    log = b""
    started = False
    while data := await process.stderr.readline():
        log += data
        if log.count(b"Application startup complete") == workers and not started:
            started = True
            process.send_signal(signal.SIGINT)
    await process.wait()
    return started, log.decode()
