"""The commands that end by themselves: `check` and `token`."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import jwt
import pytest

from gateway.agent import ScriptedAgent
from gateway.process import Process, environ
from gateway.process import command as run
from gateway.signers import signer
from gateway.tokens import KEY, NEXT_KEY
from turnwire.cli import main
from turnwire.web.auth.identity import JwtIdentity, StaticKeys
from turnwire_lab.process import free_port


@pytest.fixture(autouse=True)
def good_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ().items():
        if name.startswith("TURNWIRE_"):
            monkeypatch.setenv(name, value)


Captured = pytest.CaptureFixture[str]


def test_good_settings_are_fine(capsys: Captured) -> None:
    assert main(["check"]) == 0
    assert capsys.readouterr() == (
        (
            "The settings are fine.\n"
            "The agent was not asked. While `serve` runs, this line asks it through the gateway:\n"
            "turnwire doctor --url http://127.0.0.1:PORT"
            ' --token "$(turnwire token --sub doctor --session turnwire-doctor=collaborator)"'
            " --yes\n"
        ),
        "",
    )


@pytest.mark.sockets
async def test_the_line_that_asks_the_agent_can_be_pasted(tmp_path: Path) -> None:
    file = tmp_path / "the settings.env"
    port = free_port()
    async with ScriptedAgent() as agent, Process(agent.url(), port=port, dial_s=0.5):
        given = environ(agent.url(), port=port)
        ours = {name: given.pop(name) for name in [*given] if name.startswith("TURNWIRE_")}
        file.write_text("".join(f"{name}={value}\n" for name, value in ours.items()))
        file.chmod(0o600)
        _, out, _ = await run("check", "--env-file", str(file), env=given)
        line = out.splitlines()[2]
        assert line.endswith(" --yes")
        path = f"{Path(sys.executable).parent}{os.pathsep}{given['PATH']}"
        doctor = await asyncio.create_subprocess_exec(
            *("bash", "-c", line.removesuffix(" --yes")),  # the turns take half a minute
            env=given | {"PATH": path},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        told, errors = await doctor.communicate()

    assert (doctor.returncode, errors) == (0, b""), told
    assert b"turns begun: 0" in told


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {
                "HOST": "0.0.0.0",  # noqa: S104
                "PORT": "8787",
                "JWT_ALGORITHM": "RS256",
                "JWT_KEY": signer("RS256").pem,
            },
            "http://127.0.0.1:8787 --token-file token.txt",
        ),
        ({"HOST": "::1", "PORT": "8787"}, "http://[::1]:8787 --token "),
    ],
)
def test_the_line_that_asks_the_agent_has_what_the_settings_say(
    given: dict[str, str], line: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"TURNWIRE_{name}", value)

    assert main(["check"]) == 0
    assert f"turnwire doctor --url {line}" in capsys.readouterr().out


def test_good_settings_with_the_flag_off_are_told_apart(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_ENABLED", "false")

    assert main(["check"]) == 0
    assert capsys.readouterr() == (f"{OFF}The other settings are fine.\n", "")


OFF = "TURNWIRE_ENABLED is not true: `serve` will answer every chat with 404.\n"


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        (
            {},
            [
                "TURNWIRE_AGENT_URL: required",
                "TURNWIRE_JWT_KEY: required (or TURNWIRE_JWT_JWKS_URL)",
            ],
        ),
        ({"TURNWIRE_JWT_KEY": KEY}, ["TURNWIRE_AGENT_URL: required"]),
    ],
    ids=["nothing", "the key alone"],
)
def test_what_a_gateway_lacks_is_named_while_the_flag_is_off(
    given: dict[str, str], lacks: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TURNWIRE_ENABLED", "TURNWIRE_AGENT_URL", "TURNWIRE_JWT_KEY"):
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    assert main(["check"]) == 0
    lines = "".join(f"  {line}\n" for line in lacks)
    assert capsys.readouterr() == (
        f"{OFF}With TURNWIRE_ENABLED=true it will not start:\n{lines}",
        "",
    )


async def test_everything_that_is_wrong_is_told_one_a_line() -> None:
    given = environ(idel_s=1, jwt_key="short", turn_s=-1)

    code, out, err = await run("check", env=given)

    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "turnwire: TURNWIRE_IDEL_S: no such setting; did you mean TURNWIRE_IDLE_S?",
        "turnwire: TURNWIRE_TURN_S: must be a number above 0, at most 1000000",
        "turnwire: TURNWIRE_JWT_KEY: a key has fewer than 32 bytes",
    ]


@pytest.mark.parametrize("command", [["check"], ["serve"]])
def test_wrong_settings_fail_every_command_that_needs_them(
    command: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_IDLE_S", "-1")
    monkeypatch.setenv("TURNWIRE_TYPO", "1")

    assert main(command) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(": ")[:2] for line in err.splitlines()] == [
        ["turnwire", "TURNWIRE_TYPO"],
        ["turnwire", "TURNWIRE_IDLE_S"],
    ]


async def test_a_token_is_one_that_the_gateway_takes(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_JWT_KEY", f"{KEY},{NEXT_KEY}")
    monkeypatch.setenv("TURNWIRE_JWT_ISSUER", "me")
    monkeypatch.setenv("TURNWIRE_JWT_AUDIENCE", "you")
    sessions = ["--session", "s1=viewer", "--session", "*=collaborator"]

    assert main(["token", "--sub", "alice", *sessions, "--ttl", "60"]) == 0

    keys = StaticKeys([KEY.encode()])
    identity = JwtIdentity(keys, algorithm="HS256", issuer="me", audience="you", leeway_s=0)
    caller = await identity.identify(capsys.readouterr().out.strip())
    assert caller.user_id == "alice"
    assert caller.claims["sessions"] == {"s1": "viewer", "*": "collaborator"}
    assert 50 < caller.claims["exp"] - time.time() <= 60


@pytest.mark.parametrize(
    "wrong",
    [
        ["--sub", "", "--session", "s=owner"],
        ["--sub", "u", "--session", "s 1=owner"],
        ["--sub", "u", "--session", "..=owner"],
        ["--sub", "u", "--session", "s=king"],
        ["--sub", "u", "--session", "s=owner", "--ttl", "-5"],
        ["--sub", "u", "--session", "s=owner", "--ttl", "0"],
    ],
)
def test_a_token_that_no_gateway_takes_is_not_made(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["token", *wrong])

    assert left.value.code == 2


def test_a_token_needs_its_key_alone(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWIRE_ENABLED", "true")
    monkeypatch.delenv("TURNWIRE_AGENT_URL", raising=False)

    assert main(["token", "--sub", "u", "--session", "s=owner"]) == 0
    assert capsys.readouterr().err == ""


def test_no_token_is_made_without_the_key_that_signs(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_JWT_ALGORITHM", "ES256")
    monkeypatch.setenv("TURNWIRE_JWT_KEY", signer("ES256").pem)

    assert main(["token", "--sub", "u", "--session", "s=owner"]) == 1
    assert capsys.readouterr().err.startswith("turnwire: TURNWIRE_JWT_ALGORITHM: ")


def test_a_token_names_no_issuer_that_was_not_set(capsys: Captured) -> None:
    assert main(["token", "--sub", "u", "--session", "s=owner"]) == 0

    claims = jwt.decode(capsys.readouterr().out.strip(), KEY, ["HS256"])
    assert set(claims) == {"sub", "iat", "exp", "sessions"}
    assert claims["exp"] - claims["iat"] == 3600


def test_without_a_key_there_is_no_token(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWIRE_JWT_KEY", "")
    monkeypatch.setenv("TURNWIRE_ENABLED", "false")

    assert main(["token", "--sub", "u", "--session", "s=owner"]) == 1
    assert capsys.readouterr().err == "turnwire: TURNWIRE_JWT_KEY: required\n"


@pytest.mark.sockets
def test_it_runs_as_a_module_and_returns_its_exit_code() -> None:
    done = [
        subprocess.run(
            [sys.executable, "-m", "turnwire", *arguments],
            env=environ(),
            check=False,
            capture_output=True,
        ).returncode
        for arguments in (["check"], ["replay", "no-such-file"], ["fly"])
    ]

    assert done == [0, 1, 2]


def test_a_turn_log_in_memory_is_for_one_process(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_TURN_LOG", "memory")

    assert main(["serve", "--workers", "2"]) == 1
    assert capsys.readouterr().err == (
        "turnwire: TURNWIRE_TURN_LOG: `memory` is for one process: name a Redis for several "
        "workers, or `off`\n"
    )
