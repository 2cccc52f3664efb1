"""A file of settings: what a line means, what is refused, and what wins over it."""

from pathlib import Path

import pytest

from gateway.tokens import KEY, NEXT_KEY
from turnwire.config.env_file import PROBLEMS_MAX, Environment, beside, parse
from turnwire.config.environ import from_environ
from turnwire.errors import SettingsError


def written(folder: Path, text: str, mode: int = 0o600) -> str:
    file = folder / "turnwire.env"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return str(file)


def given(folder: Path, text: str, **environ: str) -> Environment:
    return beside(environ, written(folder, text))


def refusal(folder: Path, text: str) -> list[str]:
    """What is wrong with a file, each without the file's name."""
    file = written(folder, text)
    with pytest.raises(SettingsError) as refused:
        beside({}, file)
    assert all(problem.startswith(f"{file}:") for problem in refused.value.problems)
    return [problem.removeprefix(f"{file}:") for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        ("  A=b  ", "b"),
        ("A=b\r", "b"),
        ("A=", ""),
        ("A= b ", "b"),
        ("export A=b", "b"),
        ("export \t A=b", "b"),
        ("A=b=c", "b=c"),
        ("A=b c", "b c"),
        ("A=b#c", "b#c"),
        ("A=#b", "#b"),
        ("A='b # c'", "b # c"),
        ('A="b # c"  ', "b # c"),
        ("A=''", ""),
        ("A=' b '", " b "),
        ("A='b\"c'", 'b"c'),
        ("A='b\\'", "b\\"),
        ('A="b\'c"', "b'c"),
        ('A="b\\"c\\\\d"', 'b"c\\d'),
        ('A="b\\nc$D"', "b\\nc$D"),
        ("A=b'c'", "b'c'"),
        ("A=wss://h/{session_id}?a=b&c=d", "wss://h/{session_id}?a=b&c=d"),
        ("A=\u00e9\u2028b", "\u00e9\u2028b"),
    ],
)
def test_a_line_has_a_name_and_a_value(line: str, value: str) -> None:
    assignments, problems = parse(f"\ufeff# a comment\n\n  # another\n{line}\n")

    assert problems == []
    assert [(each.name, each.value, each.line) for each in assignments] == [("A", value, 4)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("s3cret", "must be NAME=VALUE, or a comment that begins with #"),
        ("=s3cret", "must be NAME=VALUE, or a comment that begins with #"),
        ("A =s3cret", "must be NAME=VALUE, or a comment that begins with #"),
        ("1A=s3cret", "must be NAME=VALUE, or a comment that begins with #"),
        ("exportA b=s3cret", "must be NAME=VALUE, or a comment that begins with #"),
        (f"{'A' * 129}=s3cret", "must be NAME=VALUE, or a comment that begins with #"),
        ("A='s3cret", "A: the quote must be closed at the end of the same line"),
        ("A='s3cret' x", "A: the quote must be closed at the end of the same line"),
        ("A='s3cret' # x", "A: the quote must be closed at the end of the same line"),
        ('A="s3cret\\"', "A: the quote must be closed at the end of the same line"),
        ("A='", "A: the quote must be closed at the end of the same line"),
        ("A=s3cret # x", "A: a value with ` #` needs quotes, and a comment its own line"),
        ("A= # s3cret", "A: a value with ` #` needs quotes, and a comment its own line"),
        ("A=s3cret\0", "A: holds a NUL character"),
        ("B=s3cret", "B: line 1 sets it, too"),
        (
            "TURNWIRE_IDEL_S=s3cret",
            "TURNWIRE_IDEL_S: no such setting; did you mean TURNWIRE_IDLE_S?",
        ),
        ("TURNWIRE_X=s3cret", "TURNWIRE_X: no such setting"),
        ("turnwire_port=1", "turnwire_port: no such setting; did you mean TURNWIRE_PORT?"),
    ],
)
def test_a_line_that_is_none_is_named_by_its_number_and_never_shown(
    line: str, problem: str, tmp_path: Path
) -> None:
    assert refusal(tmp_path, f"B=1\n\n{line}\nTURNWIRE_PORT=1\n") == [f"3: {problem}"]


def test_all_lines_that_are_none_are_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, "TURNWIRE_X=1\nfly\nA='") == [
        "1: TURNWIRE_X: no such setting",
        "2: must be NAME=VALUE, or a comment that begins with #",
        "3: A: the quote must be closed at the end of the same line",
    ]


def test_of_a_file_of_something_else_few_lines_are_named(tmp_path: Path) -> None:
    problems = refusal(tmp_path, "fly\n" * (PROBLEMS_MAX + 3))

    assert len(problems) == PROBLEMS_MAX + 1
    assert problems[-1] == " and 3 more like these"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    no_text = tmp_path / "no-text"
    no_text.write_bytes(b"TURNWIRE_PORT=\xff")
    for file, why in ((tmp_path / "none", "FileNotFoundError"), (no_text, "UnicodeDecodeError")):
        with pytest.raises(SettingsError) as refused:
            beside({}, str(file))

        assert refused.value.problems == [f"{file}: cannot be read ({why})"]


def test_without_a_file_there_is_the_environment_alone() -> None:
    environ = {"TURNWIRE_PORT": "1", "PATH": "/bin"}

    assert beside(environ, None) == Environment(environ)


@pytest.mark.parametrize(
    ("in_file", "in_environ"),
    [
        ("TURNWIRE_PORT", "TURNWIRE_PORT"),
        ("TURNWIRE_ENABLED", "ENABLE_AI_SDK_ADAPTER"),
        ("ENABLE_AI_SDK_ADAPTER", "TURNWIRE_ENABLED"),
        ("TURNWIRE_JWT_KEY", "TURNWIRE_JWT_KEY_FILE"),
        ("TURNWIRE_JWT_KEY_FILE", "TURNWIRE_JWT_KEY"),
        ("OTEL_SERVICE_NAME", "OTEL_SERVICE_NAME"),
    ],
)
@pytest.mark.parametrize("value", ["2", ""])
def test_the_environment_wins(in_file: str, in_environ: str, value: str, tmp_path: Path) -> None:
    found = given(tmp_path, f"{in_file}=1\n", **{in_environ: value})

    assert (found.values, found.others, found.places) == ({in_environ: value}, {}, {})


def test_what_is_like_another_setting_is_not_taken_for_it(tmp_path: Path) -> None:
    text = "TURNWIRE_AGENT_CA_FILE=/a\nTURNWIRE_JWT_ISSUER=me\n"
    found = given(tmp_path, text, TURNWIRE_AGENT_CERT_FILE="/b", TURNWIRE_JWT_AUDIENCE="you")

    assert found.values == {
        "TURNWIRE_AGENT_CA_FILE": "/a",
        "TURNWIRE_JWT_ISSUER": "me",
        "TURNWIRE_AGENT_CERT_FILE": "/b",
        "TURNWIRE_JWT_AUDIENCE": "you",
    }


def test_what_is_no_setting_is_kept_apart(tmp_path: Path) -> None:
    text = "TURNWIRE_PORT=1\nOTEL_SERVICE_NAME=gate\nTURNWIRE_LAB_TOKEN=x\n"
    found = given(tmp_path, text)

    assert found.values == {"TURNWIRE_PORT": "1", "TURNWIRE_LAB_TOKEN": "x"}
    assert found.others == {"OTEL_SERVICE_NAME": "gate"}
    assert from_environ(found.values).port == 1


def test_a_wrong_value_is_found_by_its_line(tmp_path: Path) -> None:
    text = (
        f"TURNWIRE_TURN_S=-1\nTURNWIRE_SIGNING_KEYS=x\nTURNWIRE_JWT_KEY_FILE={tmp_path / 'none'}\n"
    )
    found = given(tmp_path, text, TURNWIRE_PORT="x", TURNWIRE_TYPO="1")
    with pytest.raises(SettingsError) as refused:
        found.settings(from_environ)

    file = tmp_path / "turnwire.env"
    assert sorted(refused.value.problems) == sorted(
        [
            f"{file}:1: TURNWIRE_TURN_S: must be a number above 0, at most 1000000",
            f"{file}:2: TURNWIRE_SIGNING_KEYS: a key has fewer than 32 bytes",
            f"{file}:3: TURNWIRE_JWT_KEY_FILE: cannot be read (FileNotFoundError)",
            "TURNWIRE_PORT: must be a whole number from 0 to 65535",
            "TURNWIRE_TYPO: no such setting",
        ]
    )


def test_settings_may_be_those_of_a_prefix_alone(tmp_path: Path) -> None:
    text = f"TURNWIRE_JWT_KEY={KEY}\nTURNWIRE_TURN_S=-1\n"
    settings = given(tmp_path, text).settings(from_environ, prefix="TURNWIRE_JWT_")

    assert settings.jwt_key == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_warning_says_that_others_can_read_a_secret(mode: int, tmp_path: Path) -> None:
    file = written(tmp_path, f"TURNWIRE_JWT_KEY={NEXT_KEY}\n", mode)

    warning = beside({}, file).warning
    assert warning == f"{file}: other users can read its secrets; `chmod 600` closes it"


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (f"TURNWIRE_JWT_KEY={KEY}\n", 0o600),
        (f"TURNWIRE_JWT_KEY={KEY}\n", 0o400),
        ("TURNWIRE_JWT_KEY=\nTURNWIRE_PORT=1\n", 0o644),
        ("TURNWIRE_JWT_KEY_FILE=/run/secrets/key\n", 0o644),
    ],
    ids=["closed", "read-only", "without a secret", "with the place of a secret"],
)
def test_nothing_warns_of_what_is_no_open_secret(text: str, mode: int, tmp_path: Path) -> None:
    assert beside({}, written(tmp_path, text, mode)).warning == ""
