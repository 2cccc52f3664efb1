"""`turnwire conform`: what it prints and writes, its exit codes, and that it hides the token."""

import argparse
import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gateway.faulty_ag_ui import Fails, SoundAgent
from gateway.tokens import token
from turnwire.cli import main
from turnwire.cli.conform import add_arguments
from turnwire.conform.scenarios import SCENARIOS
from turnwire_lab.agents.session_agent.habits import Habits
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets
PAGE = (Path(__file__).parents[2] / "docs/conform.md").read_text(encoding="utf-8")
PROMPTS = ("--long-prompt", "be slow", "--tool-prompt", "what is 12*7?", "--prompt", "hello")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TURNWIRE_DIALECT", "TURNWIRE_AGENT_URL", "TURNWIRE_AGENT_AUTH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def agent() -> AsyncIterator[SoundAgent]:
    async with SoundAgent() as agent:
        yield agent


async def conform(*arguments: str) -> int:
    return await asyncio.to_thread(main, ["conform", *PROMPTS, *arguments])


async def test_a_good_agent_passes(
    agent: SoundAgent, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    json_file, junit_file = tmp_path / "r.json", tmp_path / "r.xml"
    files = ("--json", str(json_file), "--junit", str(junit_file))
    assert await conform("--dialect", "ag-ui", "--agent-url", agent.url, *files) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{agent.url} (ag-ui): at most 8 turns will be begun.\n")
    assert "passed  one-turn" in out
    assert "-       greets                 before a prompt, this wire has no frame" in out
    assert "0 failed" in out
    assert len(agent.runs) == 8
    report = json.loads(json_file.read_text())
    assert [each["name"] for each in report["results"]] == list(SCENARIOS)
    assert report["turns"] == 8
    suite = ET.fromstring(junit_file.read_text())  # noqa: S314 (it is ours)
    assert (suite.get("failures"), suite.get("tests")) == ("0", str(len(SCENARIOS)))
    skipped = [case.get("name") for case in suite if case.find("skipped") is not None]
    assert "restart" in skipped
    assert "one-turn" not in skipped


async def test_a_failure_says_what_was_tried_and_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.xml"
    async with Fails() as agent:
        where = ("--dialect", "ag-ui", "--agent-url", agent.url, "--junit", str(file))
        assert await conform(*where, "--only", "one-turn", "many-deltas") == 1
    out = capsys.readouterr().out
    assert "FAILED one-turn\n  Tried:    send a prompt\n  Expected: a turn with text" in out
    assert "  Seen:     the turn ended with the verdict `error`: no model\n" in out
    assert "  Words:    a delta is `TEXT_MESSAGE_CONTENT`, a call begins" in out
    assert "it shows nothing before `one-turn` is mended" in out
    assert "0 passed, 1 failed, 1 not applicable; 1 turns begun." in out
    failure = ET.fromstring(file.read_text()).find("testcase/failure")  # noqa: S314
    assert failure is not None
    assert failure.get("message") == "the turn ended with the verdict `error`: no model"


async def test_the_agent_may_be_that_of_the_settings(
    agent: SoundAgent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNWIRE_DIALECT", "ag-ui")
    monkeypatch.setenv("TURNWIRE_AGENT_URL", agent.url)
    monkeypatch.setenv("TURNWIRE_JWT_KEY", "short")  # the gateway's: it does not matter
    assert await conform("--badge", "--only", "one-turn") == 0
    assert capsys.readouterr().out == "turnwire conform (ag-ui): passing 1/1\n"


async def test_a_users_token_reaches_the_agent_and_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, json_file = tmp_path / "token", tmp_path / "r.json"
    file.write_text(token() + "\n")
    async with SessionAgent(Habits(revision="V")) as agent:
        where = ("--dialect", "session-agent", "--agent-url", agent.url)
        named = ("--prompt", file.read_text().strip(), "--json", str(json_file))
        only = ("--only", "one-turn", "greets")
        assert await conform(*where, "--token-file", str(file), *only, *named) == 0
        assert {user for user, _ in agent.received_from} == {"u1"}
        assert await conform(*where, *only) == 1  # without a token, the agent refuses
    out = capsys.readouterr().out
    assert "HTTP status 401" in out
    assert file.read_text().strip() not in out + json_file.read_text()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--dialect", "ag-ui"), "TURNWIRE_AGENT_URL: required"),
        (("--dialect", "no-such"), "TURNWIRE_DIALECT"),
        (("--agent-url", "http://h/"), "TURNWIRE_AGENT_URL: must start with ws://"),
        (("--dialect", "openai-chat", "--agent-url", "http://[::1]/"), "TURNWIRE_AGENT_MODEL: req"),
        (("--token-file", "/no/such/file"), "--token-file: cannot be read"),
    ],
)
async def test_it_cannot_play_without_an_agent(
    arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await conform(*arguments) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [("--session", "a b"), ("--idle", "0"), ("--within", "soon"), ("--only", "all")]
)
async def test_a_wrong_argument_is_refused(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["conform", *PROMPTS, *arguments])
    assert caught.value.code == 2
    assert arguments[0] in capsys.readouterr().err


async def test_it_needs_the_two_prompts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["conform"])
    assert "--long-prompt, --tool-prompt" in capsys.readouterr().err


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser


def test_the_page_has_every_option(parser: argparse.ArgumentParser) -> None:
    table = PAGE.partition("| Option | Is |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(--[a-z-]+)`", table.replace("with `--long`", "")))
    in_the_text = {"--help", "--dialect", "--agent-url", "--token", "--token-file", "--session"}
    assert named == parser._option_string_actions.keys() - in_the_text - {"-h"}


def examples() -> list[str]:
    """The commands of the page that play scenarios, each in one line."""
    whole = PAGE.replace("\\\n      ", "")
    return re.findall(r"(?m)^    ((?:turnwire conform|pytest) .*)$", whole)


@pytest.mark.parametrize("command", examples())
def test_an_example_of_the_page_has_arguments_that_it_takes(
    command: str, parser: argparse.ArgumentParser
) -> None:
    words = shlex.split(command.removeprefix("turnwire conform"))
    if words[0] == "pytest":
        words = shlex.split(words[words.index("--turnwire-conform") + 1])
    if words[0] == "…":  # the prompts, which another example has
        words[:1] = PROMPTS
    parser.parse_args(words)


def test_the_page_has_examples() -> None:
    assert len(examples()) == 6
