"""What is said of a command line: its usage, its help, and the command that was meant."""

import pytest

from turnwire import __version__
from turnwire.cli import main

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["serve", "now"],
        ["replay"],
        ["replay", "x", "--dialect", "v3"],
        ["init", "a", "b"],
        ["init", "--wire"],
        ["check", "--env-file"],
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
    for command in ("init", "serve", "check", "replay", "drift", "doctor", "token"):
        assert f"\n    {command} " in told


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("srve", "no command 'srve'; did you mean serve?"),
        ("chekc", "no command 'chekc'; did you mean check?"),
        ("fly", "no command 'fly'; there are init, serve, check, replay, drift, doctor, conform"),
        ("intit", "no command 'intit'; did you mean init?"),
    ],
)
def test_the_command_that_was_meant_is_named(given: str, words: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([given])

    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["init"], ["serve"], ["check"], ["replay"], ["token"]])
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
