import pytest

from runtime.cli.command import run
from turnwire_agent.cli import try_model

TRY = ("try", "--model")
LOCAL = ("--base-url", "http://127.0.0.1:9/v1", "--shape", "chat")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*TRY, "claude", "Hi"), "'claude' is not PROVIDER:MODEL"),
        ((*TRY, "anthropic:", "Hi"), "'anthropic:' is not PROVIDER:MODEL"),
        ((*TRY, "antropic:claude", "Hi"), "did you mean anthropic?"),
        ((*TRY, "x:y", "Hi"), "known are anthropic, google"),
        ((*TRY, "x:y", *LOCAL[:2], "Hi"), "needs --base-url and --shape"),
        ((*TRY, "x:y", "--base-url", "127.0.0.1:9", "Hi"), "is not http(s)://HOST/PATH"),
        ((*TRY, "x:y", "--base-url", "http://me:canary@a/", "Hi"), "without a user or a query"),
        ((*TRY, "x:y", "--base-url", "http://a/?key=b", "Hi"), "without a user or a query"),
        ((*TRY, "x:y", "--shape", "soap", "Hi"), "invalid choice: 'soap'"),
        ((*TRY, "x:y", *LOCAL), "the following arguments are required: PROMPT"),
        ((*TRY, "x:y", *LOCAL, "--key-file", "a", "--key-variable", "b", "Hi"), "not allowed with"),
        ((*TRY, "x:y", *LOCAL, "--tool", "json", "Hi"), "'json' is not MODULE:NAME"),
        ((*TRY, "x:y", *LOCAL, "--tool", "json:dumbs", "Hi"), "the module has no 'dumbs'"),
        ((*TRY, "x:y", *LOCAL, "--tool", "no_such:a", "Hi"), "No module named 'no_such'"),
        ((*TRY, "x:y", *LOCAL, "--tool", "json:__doc__", "Hi"), "json:__doc__ is no function"),
        ((*TRY, "x:y", *LOCAL, "--tool", "json:dumps", "Hi"), "tool 'dumps': "),
        (("check", "--model", "claude"), "'claude' is not PROVIDER:MODEL"),
        ((), "the following arguments are required: COMMAND"),
        (("sing",), "invalid choice: 'sing'"),
    ],
)
async def test_wrong_usage_is_one_clear_line(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run(*arguments) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert words in err.splitlines()[-1]


@pytest.mark.parametrize("arguments", [("--help",), ("try", "--help"), ("check", "--help")])
async def test_help_is_there(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run(*arguments) == 0
    assert "usage: turnwire-agent" in capsys.readouterr().out


async def test_an_interrupted_command_ends_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(try_model, "run", interrupted)

    assert await run(*TRY, "x:y", *LOCAL, "Hi") == 130


async def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("--version") == 0
    assert capsys.readouterr().out.startswith("turnwire-agent ")
