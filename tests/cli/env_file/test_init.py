"""`turnwire init`: the file that it writes, what it prints, and what it refuses."""

import os
import re
import shlex
import sys
from pathlib import Path

import jwt
import pytest

from turnwire.cli import main
from turnwire.config.dialect_defaults import AGENT_URLS
from turnwire.config.env_file import parse
from turnwire.dialects import DIALECTS

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and an environment that has the ports alone."""
    for name in list(os.environ):
        if name.startswith("TURNWIRE_"):
            monkeypatch.delenv(name)
    for name in ("TURNWIRE_PORT", "TURNWIRE_METRICS_PORT"):
        monkeypatch.setenv(name, "0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def key(file: Path) -> str:
    (found,) = [each for each in parse(file.read_text())[0] if each.name == "TURNWIRE_JWT_KEY"]
    return found.value


@pytest.mark.parametrize("wire", DIALECTS)
def test_check_takes_the_file_of_each_wire_once_the_url_is_set(
    wire: str, folder: Path, capsys: Captured
) -> None:
    assert main(["init", "--wire", wire]) == 0
    capsys.readouterr()

    assert main(["check", "--env-file", "turnwire.env"]) == 1
    file = folder / "turnwire.env"
    line = file.read_text().split("\n").index("TURNWIRE_AGENT_URL=") + 1
    assert capsys.readouterr() == (
        "",
        f"turnwire: turnwire.env:{line}: TURNWIRE_AGENT_URL: required\n",
    )

    url = f"TURNWIRE_AGENT_URL={AGENT_URLS[wire]}"
    file.write_text(file.read_text().replace("TURNWIRE_AGENT_URL=", url))
    assert main(["check", "--env-file", "turnwire.env"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("The settings are fine.\n")
    assert err == ""


def test_without_a_wire_it_asks_nothing_and_names_the_others(
    folder: Path, capsys: Captured
) -> None:
    assert main(["init"]) == 0

    first, *_ = capsys.readouterr().out.splitlines()
    others = ", ".join(name for name in DIALECTS if name != "v2")
    assert first == (
        f"turnwire.env is written, for an agent that speaks v2 (--wire takes {others}, too)."
    )
    assert "\nTURNWIRE_DIALECT=v2\n" in (folder / "turnwire.env").read_text()


def test_a_wire_that_is_named_is_not_followed_by_the_others(capsys: Captured) -> None:
    assert main(["init", "--wire", "ag-ui"]) == 0

    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "turnwire.env is written, for an agent that speaks ag-ui."
    assert second == "Set TURNWIRE_AGENT_URL in it. Then:"


def test_what_was_only_begun_with_is_named(capsys: Captured) -> None:
    assert main(["init", "--wire", "openai-chat"]) == 0

    assert (
        "Set TURNWIRE_AGENT_URL in it, and look at TURNWIRE_AGENT_AUTH, TURNWIRE_AGENT_MODEL. "
        "Then:\n"
    ) in capsys.readouterr().out


def test_only_its_owner_may_read_the_file_and_its_key_is_new(folder: Path) -> None:
    assert [main(["init", name]) for name in ("a.env", "b.env")] == [0, 0]

    files = [folder / "a.env", folder / "b.env"]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    assert all(re.fullmatch("[0-9a-f]{64}", key(file)) for file in files)
    assert key(files[0]) != key(files[1])


def test_the_printed_commands_take_the_file(folder: Path, capsys: Captured) -> None:
    file = folder / "of ann's.env"
    assert main(["init", str(file)]) == 0
    printed = capsys.readouterr().out
    check, serve, token = (
        shlex.split(line)[1:] for line in printed.splitlines() if line.startswith("  turnwire ")
    )

    assert check == ["check", "--env-file", str(file)]
    assert serve == ["serve", "--env-file", str(file)]
    assert main(token) == 0
    made = jwt.decode(capsys.readouterr().out.strip(), key(file), ["HS256"])
    assert (made["sub"], made["sessions"]) == ("ann", {"s1": "collaborator"})
    assert key(file) not in printed


def test_the_lab_has_a_chat_if_it_is_installed(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "turnwire token --env-file a.env --sub ann --session s1=collaborator"
    assert main(["init", "a.env"]) == 0
    out = capsys.readouterr().out
    assert f'  TURNWIRE_LAB_TOKEN="$({token})" turnwire-lab chat --session s1\n' in out

    monkeypatch.setitem(sys.modules, "turnwire_lab", None)
    assert main(["init", "b.env"]) == 0
    assert "turnwire-lab" not in capsys.readouterr().out


def test_a_file_that_exists_is_written_over_by_force_alone(folder: Path, capsys: Captured) -> None:
    file = folder / "turnwire.env"
    file.write_text("TURNWIRE_JWT_KEY=mine\n")
    file.chmod(0o644)

    assert main(["init"]) == 1
    assert capsys.readouterr() == (
        "",
        "turnwire: turnwire.env: exists already; --force writes over it, and over its key\n",
    )
    assert file.read_text() == "TURNWIRE_JWT_KEY=mine\n"

    assert main(["init", "--force"]) == 0
    assert key(file) != "mine"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(folder.iterdir()) == [file]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["none/turnwire.env"], "none/turnwire.env: cannot be written (No such file or directory)"),
        (["--force", "."], ".: cannot be written ("),
        (["--force", "a-folder"], "a-folder: cannot be written (Is a directory)"),
        (["a-folder"], "a-folder: exists already"),
    ],
)
def test_a_file_that_cannot_be_written_is_said_in_one_line(
    arguments: list[str], why: str, folder: Path, capsys: Captured
) -> None:
    (folder / "a-folder").mkdir()

    assert main(["init", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"turnwire: {why}")
    assert err.count("\n") == 1
    assert list(folder.iterdir()) == [folder / "a-folder"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_disk_that_is_full_leaves_no_half_of_a_file(
    force: list[str], folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.open

    def full(path: Path, flags: int, mode: int) -> int:
        os.close(really(path, flags, mode))
        return really("/dev/full", os.O_WRONLY)

    if force:
        (folder / "turnwire.env").write_text("mine")
    before = list(folder.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", full)
        code = main(["init", *force])

    assert code == 1
    assert capsys.readouterr().err == (
        "turnwire: turnwire.env: cannot be written (No space left on device)\n"
    )
    assert list(folder.iterdir()) == before
    assert [each.read_text() for each in before] == ["mine"] * len(before)


def test_a_wire_that_is_none_is_wrong_usage(folder: Path, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(["init", "--wire", "ag_ui"])

    assert left.value.code == 2
    err = capsys.readouterr().err
    assert all(name in err for name in DIALECTS)
    assert "did you mean ag-ui?" in err
    assert list(folder.iterdir()) == []
