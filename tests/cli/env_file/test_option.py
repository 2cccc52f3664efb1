"""`--env-file`: every command that reads settings takes it, and a gateway runs with it."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import jwt
import pytest

from gateway.clients import ask, errors, new_client
from gateway.faulty_ag_ui import SoundAgent
from gateway.process import Process
from gateway.running import NOWHERE
from gateway.signers import signer
from gateway.tokens import KEY, NEXT_KEY, bearer
from gateway.waiting import until
from turnwire.cli import main
from turnwire.config.env_file import parse
from turnwire_lab.process import inherited

Captured = pytest.CaptureFixture[str]
COMMANDS = {
    "serve": ["serve"],
    "check": ["check"],
    "token": ["token", "--sub", "ann", "--session", "s1=owner"],
    "bridge": ["bridge", "--", "cat"],
    "conform": ["conform", "--long-prompt", "be slow", "--tool-prompt", "what is 12*7?"],
}
WARNING = "other users can read its secrets; `chmod 600` closes it"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("TURNWIRE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of good settings."""
    file = tmp_path / "turnwire.env"
    file.write_text(
        "# a gateway\n\n"
        "export TURNWIRE_ENABLED=true\n"
        f"TURNWIRE_AGENT_URL='{NOWHERE}'\n"
        f'TURNWIRE_JWT_KEY="{KEY}"\n'
        "TURNWIRE_PORT=0\nTURNWIRE_METRICS_PORT=0\nTURNWIRE_LAG_S=0\n"
    )
    file.chmod(0o600)
    return file


def write(file: Path, text: str | None = None, *, mode: int = 0o600) -> None:
    """Give a file another text, and a mode. None: the text stays."""
    if text is not None:
        file.write_text(text)
    file.chmod(mode)


def with_file(command: str, file: Path) -> list[str]:
    name, *others = COMMANDS[command]
    return [name, "--env-file", str(file), *others]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_says_who_wins(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])

    told = " ".join(capsys.readouterr().out.split())
    assert "--env-file FILE" in told
    assert "a variable of the environment wins over its line" in told


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (None, "", " cannot be read (FileNotFoundError)"),
        ("A=b\n\ns3cret\n", "3:", " must be NAME=VALUE, or a comment that begins with #"),
        (
            "# x\nTURNWIRE_AGENT_ULR=s3cret\n",
            "2:",
            " TURNWIRE_AGENT_ULR: no such setting; did you mean TURNWIRE_AGENT_URL?",
        ),
    ],
    ids=["unreadable", "no line", "unknown"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_wrong_is_one_line_for_each_command(
    command: str, text: str | None, line: str, problem: str, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "wrong.env"
    if text is not None:
        file.write_text(text)

    code = main(with_file(command, file))

    prefix = "turnwire conform" if command == "conform" else "turnwire"
    assert code == (2 if command == "conform" else 1)
    assert capsys.readouterr() == ("", f"{prefix}: {file}:{line}{problem}\n")


@pytest.mark.parametrize(
    ("command", "setting", "problem"),
    [
        ("check", "TURNWIRE_TURN_S=s3cret", "must be a number above 0, at most 1000000"),
        ("serve", "TURNWIRE_TURN_S=s3cret", "must be a number above 0, at most 1000000"),
        ("token", "TURNWIRE_JWT_LEEWAY_S=s3cret", "must be a number from 0 to 300"),
        ("bridge", "TURNWIRE_AGENT_TOKEN=s3cret", "a token has 16 characters or more"),
        ("conform", "TURNWIRE_INSECURE=s3cret", "must be true or false"),
    ],
)
def test_a_wrong_value_has_the_number_of_its_line(
    command: str, setting: str, problem: str, file: Path, capsys: Captured
) -> None:
    number = len(file.read_text().splitlines()) + 1
    file.write_text(f"{file.read_text()}{setting}\n")

    assert main(with_file(command, file)) in {1, 2}
    out, err = capsys.readouterr()
    name = setting.partition("=")[0]
    assert out == ""
    assert f": {file}:{number}: {name}: {problem}\n" in err
    assert err.count("\n") == 1
    assert "s3cret" not in err


def test_check_names_the_line_of_what_would_be_wrong(file: Path, capsys: Captured) -> None:
    file.write_text("TURNWIRE_PORT=0\nTURNWIRE_METRICS_PORT=0\nTURNWIRE_JWT_KEY=\n")

    assert main(["check", "--env-file", str(file)]) == 0
    assert f"\n  {file}:3: TURNWIRE_JWT_KEY: required" in capsys.readouterr().out


def test_a_turn_log_in_memory_has_its_line(file: Path, capsys: Captured) -> None:
    file.write_text(f"{file.read_text()}TURNWIRE_TURN_LOG=memory\n")

    assert main([*with_file("serve", file), "--workers", "2"]) == 1
    assert capsys.readouterr().err.startswith(f"turnwire: {file}:9: TURNWIRE_TURN_LOG: `memory` is")


def test_the_environment_wins(
    file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(f"{file.read_text()}TURNWIRE_TURN_S=-1\n")
    assert main(["check", "--env-file", str(file)]) == 1
    capsys.readouterr()

    monkeypatch.setenv("TURNWIRE_TURN_S", "5")
    assert main(["check", "--env-file", str(file)]) == 0
    monkeypatch.setenv("TURNWIRE_TURN_S", "-2")
    assert main(["check", "--env-file", str(file)]) == 1
    assert capsys.readouterr().err.startswith("turnwire: TURNWIRE_TURN_S: must be")


def test_a_token_is_made_with_the_key_of_the_file(
    file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(with_file("token", file)) == 0
    assert jwt.decode(capsys.readouterr().out.strip(), KEY, ["HS256"])["sub"] == "ann"

    monkeypatch.setenv("TURNWIRE_JWT_KEY", NEXT_KEY)
    assert main(with_file("token", file)) == 0
    assert jwt.decode(capsys.readouterr().out.strip(), NEXT_KEY, ["HS256"])["sub"] == "ann"


def test_without_a_key_that_signs_the_line_is_named(file: Path, capsys: Captured) -> None:
    public = signer("ES256").pem.replace("\n", "\\n")
    texts = ("TURNWIRE_JWT_KEY=\n", f'TURNWIRE_JWT_ALGORITHM=ES256\nTURNWIRE_JWT_KEY="{public}"\n')
    for text in texts:
        file.write_text(text)
        assert main(with_file("token", file)) == 1

    assert capsys.readouterr().err.splitlines() == [
        f"turnwire: {file}:1: TURNWIRE_JWT_KEY: required",
        f"turnwire: {file}:1: TURNWIRE_JWT_ALGORITHM: tokens are made for HS256 only",
    ]


@pytest.mark.parametrize("command", ["check", "token"])
def test_a_secret_that_others_can_read_is_one_line_of_warning(
    command: str, file: Path, capsys: Captured
) -> None:
    file.chmod(0o640)

    assert main(with_file(command, file)) == 0
    assert capsys.readouterr().err == f"turnwire: {file}: {WARNING}\n"


def test_what_is_no_setting_is_put_into_the_environment(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OTEL_SERVICE_NAME", "OTEL_BSP_SCHEDULE_DELAY"):
        monkeypatch.setenv(name, "of the shell")
    monkeypatch.delenv("OTEL_SERVICE_NAME")
    text = "OTEL_SERVICE_NAME=gate\nOTEL_BSP_SCHEDULE_DELAY=of the file\n"
    file.write_text(file.read_text() + text)

    assert main(["check", "--env-file", str(file)]) == 0
    assert os.environ["OTEL_SERVICE_NAME"] == "gate"
    assert os.environ["OTEL_BSP_SCHEDULE_DELAY"] == "of the shell"
    assert [name for name in os.environ if name.startswith("TURNWIRE_")] == []


@pytest.mark.sockets
async def test_conform_plays_with_the_agent_of_the_file(file: Path, capsys: Captured) -> None:
    async with SoundAgent() as agent:
        write(file, f"TURNWIRE_DIALECT=ag-ui\nTURNWIRE_AGENT_URL={agent.url}\nTURNWIRE_PORT=x\n")
        only = ["--badge", "--only", "one-turn"]
        code = await asyncio.to_thread(main, [*with_file("conform", file), *only])
        assert code == 0
        elsewhere = [*with_file("conform", file), *only, "--agent-url", "ftp://s3cret"]
        assert await asyncio.to_thread(main, elsewhere) == 2

    out, err = capsys.readouterr()
    assert out == "turnwire conform (ag-ui): passing 1/1\n"
    assert err.startswith("turnwire conform: TURNWIRE_AGENT_URL: must start with http://")


class Served(Process):
    """`turnwire serve --env-file`: a gateway that has its settings from the file alone."""

    def __init__(self, file: Path, *more: str) -> None:
        super().__init__()
        self._env = inherited()
        self._command = (*self._command, "--env-file", str(file), *more)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with new_client() as client:
        yield client


CHAT = "/api/sessions/s1/chat"


@pytest.mark.sockets
async def test_a_gateway_has_its_settings_from_the_file(
    file: Path, client: httpx.AsyncClient
) -> None:
    async with Served(file) as gateway:
        ready = await client.get(f"{gateway.url}/readyz")
        answered = await client.post(gateway.url + CHAT, json=ask(), headers=bearer("ann"))

    assert ready.status_code == 200
    assert errors(answered.text) == ["Connection failed"]
    assert not any(WARNING in line["event"] for line in gateway.log)
    assert KEY not in gateway.errors


@pytest.mark.sockets
async def test_a_gateway_logs_the_warning(file: Path) -> None:
    write(file, mode=0o644)

    async with Served(file) as gateway:
        (line,) = gateway.logged(f"{file}: {WARNING}")

    assert line["level"] == "warning"


@pytest.mark.sockets
async def test_all_workers_have_the_settings_of_the_file(file: Path) -> None:
    """Eight clients of their own connections reach both, as a rule, and get the same answer."""
    async with Served(file, "--workers", "2") as gateway:
        await until(lambda: gateway.errors.count("Started server") == 2)
        answers = []
        for _ in range(8):
            async with new_client() as client:
                answers.append(
                    await client.post(gateway.url + CHAT, json=ask(), headers=bearer("ann"))
                )

    assert [errors(each.text) for each in answers] == [["Connection failed"]] * 8


@pytest.fixture
def of_init(tmp_path: Path) -> Path:
    """A file that `init` wrote, with the URL of an agent, and free ports."""
    file = tmp_path / "of-init.env"
    assert main(["init", str(file)]) == 0
    text = file.read_text().replace("TURNWIRE_AGENT_URL=", f"TURNWIRE_AGENT_URL={NOWHERE}")
    for name, default in (("PORT", 8787), ("METRICS_PORT", 9787)):
        text = text.replace(f"#TURNWIRE_{name}={default}", f"TURNWIRE_{name}=0")
    file.write_text(f"{text}TURNWIRE_LAG_S=0\n")
    return file


@pytest.mark.sockets
async def test_a_gateway_of_init_is_ready(of_init: Path, client: httpx.AsyncClient) -> None:
    async with Served(of_init) as gateway:
        ready = await client.get(f"{gateway.url}/readyz")
        statuses = [await asked(gateway, client, key) for key in (key_of(of_init), KEY)]

    assert ready.status_code == 200
    assert statuses == [200, 401]


def key_of(file: Path) -> str:
    (key,) = [each for each in parse(file.read_text())[0] if each.name == "TURNWIRE_JWT_KEY"]
    return key.value


async def asked(gateway: Process, client: httpx.AsyncClient, key: str) -> int:
    """The status of a prompt whose token the key signed."""
    headers = bearer("ann", key=key)
    return (await client.post(gateway.url + CHAT, json=ask(), headers=headers)).status_code
