"""The commands that end by themselves: `check`, `replay`, `token`, and the usage."""

import io
import subprocess
import sys
import time
from pathlib import Path

import jwt
import pytest

from gateway.process import command as run
from gateway.process import environ
from gateway.signers import signer
from gateway.tokens import KEY, NEXT_KEY
from turnwire import __version__
from turnwire.cli import main
from turnwire.web.auth.identity import JwtIdentity, StaticKeys

GOLDEN = Path(__file__).parent.parent / "golden" / "v2"


@pytest.fixture(autouse=True)
def good_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ().items():
        if name.startswith("TURNWIRE_"):
            monkeypatch.setenv(name, value)


Captured = pytest.CaptureFixture[str]


def test_good_settings_are_fine(capsys: Captured) -> None:
    assert main(["check"]) == 0
    assert capsys.readouterr() == ("The settings are fine.\n", "")


def test_good_settings_with_the_flag_off_are_told_apart(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_ENABLED", "false")

    assert main(["check"]) == 0
    out = capsys.readouterr().out
    assert "TURNWIRE_ENABLED is not true" in out
    assert "404" in out


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


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["serve", "now"],
        ["replay"],
        ["replay", "x", "--dialect", "v3"],
        ["token"],
        ["token", "--sub", "u"],
        ["token", "--sub", "u", "--session", "s"],
        ["token", "--sub", "u", "--session", "s=admin"],
        ["token", "--sub", "u", "--session", "=owner"],
        ["token", "--sub", "u", "--session", "s=owner", "--ttl", "soon"],
    ],
)
def test_wrong_usage_is_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage: turnwire" in capsys.readouterr().err


def test_a_bare_call_is_told_every_command(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])

    assert ended.value.code == 2
    told = capsys.readouterr().err
    for command in ("serve", "check", "replay", "drift", "doctor", "token"):
        assert f"\n    {command} " in told


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("srve", "no command 'srve'; did you mean serve?"),
        ("chekc", "no command 'chekc'; did you mean check?"),
        ("fly", "no command 'fly'; there are serve, check, replay, drift, doctor, token"),
    ],
)
def test_the_command_that_was_meant_is_named(given: str, words: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([given])

    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["serve"], ["check"], ["replay"], ["token"]])
def test_every_command_has_help(command: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {' '.join(['turnwire', *command])} ")


def test_the_help_names_commands_and_exit_codes(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    told = capsys.readouterr().out
    assert all(word in told for word in ("serve", "check", "replay", "token", "TURNWIRE_", "Exit"))


def test_the_version_is_told(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out == f"turnwire {__version__}\n"


@pytest.mark.parametrize("recording", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_replay_is_the_transcript(
    recording: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["replay", str(recording), "--dialect", "v2"]) == 0

    out, err = capfdbinary.readouterr()
    assert out == recording.with_suffix(".sse").read_bytes()
    odd = b"lines are no frames" in err
    assert odd == (recording.stem == "broken_frames")


@pytest.mark.parametrize("named", [[], ["--prompt-id", "mine"]])
def test_the_only_prompt_of_a_recording_is_followed(
    named: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(RECORDING)

    assert main(["replay", str(file), *named]) == 0
    assert b'"messageId":"t"' in capfdbinary.readouterr().out


@pytest.mark.parametrize("named", [[], ["--prompt-id", "other"]])
def test_it_is_said_which_prompts_a_recording_has(
    named: list[str], tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text(RECORDING + RECORDING.replace("mine", "yours"))

    assert main(["replay", str(file), *named]) == 1
    assert "choose one with --prompt-id: mine, yours" in capsys.readouterr().err


def test_a_recording_may_come_from_standard_input(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RECORDING.encode())))

    assert main(["replay", "-"]) == 0
    assert b'"messageId":"t"' in capfdbinary.readouterr().out


RECORDING = """\
# a turn of another prompt
{"type":"message.create","turnId":"t","promptId":"mine"}
{"type":"message.finalize","turnId":"t","usage":{"promptTokens":1,"completionTokens":2,"totalTokens":3}}
"""


def test_a_replay_follows_the_prompt_that_it_is_told_to(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "turn.jsonl"
    file.write_text(RECORDING)

    assert main(["replay", str(file), "--prompt-id", "mine", "--no-event-lines", "--usage"]) == 0

    out = capfdbinary.readouterr().out
    assert b"event:" not in out
    assert b'"totalTokens":3' in out
    assert out.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot read"),
        (b"#! dance\n", "unknown line: #! dance"),
        (b"#! after\n", "unknown line: #! after"),
        (b"#! after soon\n", "soon"),
        (b"#! \xff\n", "utf-8"),
    ],
)
def test_a_replay_that_cannot_be_read_fails_in_one_line(
    content: bytes | None, why: str, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "turn.jsonl"
    if content is not None:
        file.write_bytes(content)

    assert main(["replay", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("turnwire: ")
    assert why in err
    assert err.count("\n") == 1


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


@pytest.mark.sockets
def test_a_reader_that_hangs_up_on_a_replay_is_no_crash() -> None:
    """As `turnwire replay … | head -1` does."""
    recording = GOLDEN / "text.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "turnwire", "replay", str(recording)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    process.wait(20)

    assert told == b""
    assert process.returncode == 1
