"""A setting that is wrong is exit code 2 and one line, in each command that takes it."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from runtime.cli.command import run
from runtime.cli.serve_process import ended

Captured = pytest.CaptureFixture[str]

WRONG: Final[dict[tuple[str, ...], str]] = {
    ("--listen", "nope"): "listen: 'nope' is not HOST:PORT, as 127.0.0.1:8790",
    ("--listen", "0.0.0.0:0"): "listen: others than this machine reach 0.0.0.0:0: give --token-f",
    ("--metrics", "nope"): "metrics: 'nope' is not HOST:PORT, as 127.0.0.1:8790",
    ("--metrics", "127.0.0.1:no"): "metrics: '127.0.0.1:no' is not HOST:PORT",
    ("--token-file", "nowhere"): "token_file: No token: there is no file nowhere.",
    ("--token-file", "empty"): "token_file: No token: the file empty is empty.",
    ("--token-file", "lines"): "token_file: The token of the file lines has a line break as char",
    ("--token-issuer", "us"): "--token-issuer and --token-audience are of --token-jwks",
    ("--journal", "nope"): "the command line: journal: memory, sqlite:PATH or postgresql://",
    ("--journal", "postgresql://a:canary@b:no/c"): "journal: the port of the address of Postgres",
    ("--journal", "postgresql://a:canary@b/c?d=e"): "journal: this is no address of Postgres, as",
    ("--journal-file", "nowhere"): "journal_file: there is no file nowhere",
    ("--journal-file", "empty"): "journal_file: a journal is memory, sqlite:PATH or postgresql://",
    ("--journal-file", "bytes"): "journal_file: bytes: no UTF-8",
    ("--key-file", "nowhere"): "key_file: there is no file nowhere that can be read",
    ("--key-file", "empty"): "key_file: No key: the file empty is empty.",
    ("--key-file", "folder"): "key_file: there is no file folder that can be read",
    ("--token-jwks", "no", "--token-issuer", "", "--token-audience", ""): (
        "token_jwks: no: there is no such file"
    ),
    ("--openapi", 'a={document="b", address="http://c"}'): (
        "openapi.a.document: there is no file b"
    ),
    ("--openapi", 'a={document="folder", address="http://c"}'): (
        "openapi.a.document: folder: Is a directory"
    ),
    ("--openapi", 'a={document="lines", address="http://c"}'): (
        "openapi.a.document: lines is no JSON"
    ),
    ("--openapi", 'a={document="long", address="http://c"}'): (
        "openapi.a.document: long is longer than 16777216 bytes"
    ),
    ("--openapi", "a={document=3}"): (
        "the command line: openapi.a.document: expected a string, got an integer"
    ),
    ("--limits-steps", "x"): "the command line: limits.steps: expected an integer, got a string",
    ("--mcp", 'a={comand="b"}'): (
        "the command line: mcp.a.comand: there is no such setting; did you mean command?"
    ),
}
LOCAL: Final = ("--model", "ollama:tiny")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command stands in a folder with files that are of no use."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "lines").write_text("canary\ncanary\n")
    (tmp_path / "bytes").write_bytes(b"\xff")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "long").open("wb") as long:
        long.truncate(16 * 1024 * 1024 + 1)
    return tmp_path


@pytest.mark.parametrize("flags", WRONG, ids=" ".join)
async def test_check_says_so(flags: tuple[str, ...], capsys: Captured) -> None:
    assert await run("check", *LOCAL, *flags) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"turnwire-agent check: {WRONG[flags]}")
    assert errors.count("\n") == 1
    assert "canary" not in errors


@pytest.mark.sockets
async def test_serve_says_so(folder: Path) -> None:
    slots = asyncio.Semaphore(2)

    async def serve(flags: tuple[str, ...]) -> tuple[int, str, str]:
        where = () if "--listen" in flags else ("--listen", "127.0.0.1:0")
        kept = () if any("journal" in each for each in flags) else ("--journal", "memory")
        async with slots:
            return await ended("serve", *LOCAL, *flags, *where, *kept, folder=folder)

    outcomes = await asyncio.gather(*map(serve, WRONG))
    for (code, out, errors), line in zip(outcomes, WRONG.values(), strict=True):
        assert (code, out) == (2, ""), errors
        assert errors.startswith(f"turnwire-agent serve: {line}")
        assert errors.count("\n") == 1
        assert "canary" not in errors


async def test_an_argument_that_is_none_is_told_with_the_usage_of_its_command(
    capsys: Captured,
) -> None:
    for command in (("check",), ("serve",), ("try", "--model", "a:b", "Hi")):
        assert await run(*command, "--nope") == 2
        errors = capsys.readouterr().err
        assert errors.startswith(f"usage: turnwire-agent {command[0]} ")
        assert errors.endswith(
            f"turnwire-agent {command[0]}: error: unrecognized arguments: --nope\n"
        )


async def test_help_says_what_an_address_looks_like(capsys: Captured) -> None:
    for command in ("serve", "check"):
        assert await run(command, "--help") == 0
        shown = capsys.readouterr().out
        assert "--metrics HOST:PORT" in shown
        assert "--listen HOST:PORT" in shown
        assert "--token-file FILE" in shown
