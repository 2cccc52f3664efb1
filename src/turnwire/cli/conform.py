"""`turnwire conform`: its arguments, what it says beforehand, the table, its exit codes."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import jwt

from turnwire.cli.env_file.option import add_env_file, environment, warn
from turnwire.cli.masking import masked
from turnwire.cli.verdict import problems_if_enabled
from turnwire.config.dialect_loading import find
from turnwire.config.environ import from_environ
from turnwire.config.files import UnreadableError, read_secret
from turnwire.config.settings import Settings, variable
from turnwire.conform import report as written
from turnwire.conform.bench import Patience, Who, opened
from turnwire.conform.given import Choices, Given, Prompts
from turnwire.conform.run import Report, Result, cost, play_all
from turnwire.conform.scenarios import SCENARIOS
from turnwire.conform.scenarios.telling import UNICODE
from turnwire.errors import SettingsError
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.web.auth.access import is_session_id

WELL: Final = 0
ILL: Final = 1
CANNOT_RUN: Final = 2

_PLAIN: Final = "Say hello in one sentence."
_UNICODE: Final = f"Repeat this line exactly, and say nothing else: {UNICODE}"
_USER: Final = "turnwire-conform"
_OF_THE_AGENT: Final = (variable("agent_"), variable("dialect"), variable("insecure"))
"""How the names begin of the variables whose problems are ours. The others are the gateway's."""

_DESCRIPTION: Final = """\
Plays scenarios against a running agent, through its real wire, as a gateway
would, and says which of them it passes. The agent is that of the settings
(TURNWIRE_DIALECT, TURNWIRE_AGENT_*), or of --dialect and --agent-url. Its
session keeps the turns that are begun: use one of its own. Nothing else is
changed there. How many turns will be begun is said first.
Exit codes: 0 nothing failed, 1 something did, or nothing was shown, 2 it
could not play.
"""


def add_arguments(conform: argparse.ArgumentParser) -> None:
    conform.description = _DESCRIPTION
    conform.formatter_class = argparse.RawDescriptionHelpFormatter
    conform.add_argument("--dialect", metavar="NAME", help=f"default: {variable('dialect')}")
    conform.add_argument("--agent-url", metavar="URL", help=f"default: {variable('agent_url')}")
    add_env_file(conform)
    token = conform.add_mutually_exclusive_group()
    token.add_argument("--token", help="a user's token (other users of this machine may see it)")
    token.add_argument("--token-file", metavar="FILE", help="a file with the token")
    conform.add_argument("--user", default=None, help=f"the user's id (default: {_USER})")
    conform.add_argument("--session", type=_session, default="turnwire-conform", metavar="ID")
    conform.add_argument(
        "--long-prompt",
        required=True,
        metavar="PROMPT",
        help='makes the agent talk for some seconds, e.g. "tell me a long story"',
    )
    conform.add_argument(
        "--tool-prompt",
        required=True,
        metavar="PROMPT",
        help="makes it use a tool, best a slow one",
    )
    conform.add_argument("--prompt", default=_PLAIN, help=f"a short one (default: {_PLAIN})")
    conform.add_argument(
        "--unicode-prompt",
        default=_UNICODE,
        metavar="PROMPT",
        help="makes it say characters of several bytes",
    )
    for option, effect in (
        ("--failing-tool-prompt", "makes a tool of it fail"),
        ("--question-prompt", "makes it ask its user"),
        ("--big-output-prompt", "makes a tool return 5 MB or more"),
        ("--quiet-prompt", "makes it silent for longer than --idle, before it ends the turn"),
        ("--lost-attempt-prompt", "makes a call of its model break, and be made again"),
    ):
        conform.add_argument(option, default="", metavar="PROMPT", help=effect)
    conform.add_argument("--restart", default="", metavar="CMD", help="restarts the agent")
    conform.add_argument(
        "--abort-seen",
        default="",
        metavar="CMD",
        help="exits 0 if the agent works on no turn: asked again and again after a hang-up",
    )
    conform.add_argument("--long", action="store_true", help="scenarios of minutes too")
    conform.add_argument(
        "--idle", type=_seconds, default=Patience().idle_s, metavar="SECONDS", help="(330)"
    )
    conform.add_argument(
        "--within", type=_seconds, default=Patience().turn_s, metavar="SECONDS", help="a turn (120)"
    )
    conform.add_argument(
        "--only", nargs="+", default=(), choices=list(SCENARIOS), metavar="NAME", help="these alone"
    )
    conform.add_argument("--json", type=Path, metavar="FILE", help="write the report there")
    conform.add_argument("--junit", type=Path, metavar="FILE", help="write it for a CI system")
    conform.add_argument("--badge", action="store_true", help="print one line alone, for a badge")


def run(arguments: argparse.Namespace) -> int:
    """Play the scenarios and print the report. Returns the exit code."""
    try:
        report, token = play(arguments)
        texts = {arguments.json: written.as_json(report), arguments.junit: written.as_junit(report)}
        for file, text in texts.items():
            if file is not None:
                file.write_text(masked(text, token), encoding="utf-8")
    except (SettingsError, UnreadableError, OSError) as exc:
        problems = exc.problems if isinstance(exc, SettingsError) else [str(exc)]
        for problem in problems:
            print(f"turnwire conform: {problem}", file=sys.stderr)
        return CANNOT_RUN
    text = written.badge(report) if arguments.badge else written.details(report)
    print(masked(text, token))
    return WELL if report.is_well else ILL


def play(arguments: argparse.Namespace) -> tuple[Report, str]:
    """Play the scenarios. Returns the report, and the user's token, which it may hold.

    Raises:
        SettingsError: the agent's settings have problems.
        UnreadableError: the file of the token cannot be read.

    """
    token = _token(arguments)
    env = environment(arguments.env_file, _of_arguments(arguments))
    warn(env)
    settings = env.settings(_settings)
    given = _given(arguments, settings)
    return asyncio.run(_played(arguments, settings, given, token)), token


async def _played(
    arguments: argparse.Namespace, settings: Settings, given: Given, token: str
) -> Report:
    def say(text: str) -> None:
        if not arguments.badge:
            print(masked(text, token), flush=True)

    def say_result(result: Result) -> None:
        say(written.line(result))

    patience = Patience(turn_s=arguments.within, idle_s=arguments.idle)
    user_id = arguments.user or _subject(token) or _USER
    who = Who(session_id=arguments.session, user_id=user_id, token=token)
    turns = cost(given, arguments.only)
    say(f"{settings.agent_url} ({settings.dialect}): at most {turns} turns will be begun.")
    async with opened(settings, given, who, patience) as bench:
        return await play_all(bench, settings.agent_url, only=arguments.only, on_result=say_result)


def _given(arguments: argparse.Namespace, settings: Settings) -> Given:
    dialect = find(settings.dialect)
    prompts = Prompts(
        plain=arguments.prompt,
        long=arguments.long_prompt,
        tool=arguments.tool_prompt,
        unicode=arguments.unicode_prompt,
        failing_tool=arguments.failing_tool_prompt,
        question=arguments.question_prompt,
        big_output=arguments.big_output_prompt,
        quiet=arguments.quiet_prompt,
        lost_attempt=arguments.lost_attempt_prompt,
    )
    choices = Choices(
        is_long=arguments.long, restart=arguments.restart, abort_seen=arguments.abort_seen
    )
    return Given(dialect, TRANSPORTS[dialect.transport], prompts, choices)


def _of_arguments(arguments: argparse.Namespace) -> Mapping[str, str]:
    """The variables in whose place there are arguments."""
    given = {variable("dialect"): arguments.dialect, variable("agent_url"): arguments.agent_url}
    return {name: value for name, value in given.items() if value is not None}


def _settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings of the agent.

    Raises:
        SettingsError: the agent's settings have problems. Those of the gateway do not matter.

    """
    ours = {name: value for name, value in environ.items() if name.startswith(_OF_THE_AGENT)}
    settings = from_environ({name: value for name, value in ours.items() if value})
    problems = [
        problem for problem in problems_if_enabled(settings) if problem.startswith(_OF_THE_AGENT)
    ]
    if problems:
        raise SettingsError(problems)
    return settings


def _token(arguments: argparse.Namespace) -> str:
    """Return the user's token; empty: there is none.

    Raises:
        UnreadableError: its file cannot be read.

    """
    token = arguments.token or ""
    if arguments.token_file is not None:
        try:
            token = read_secret(arguments.token_file)
        except UnreadableError as exc:
            raise UnreadableError(f"--token-file: {exc}") from exc
    return str(token).strip()


def _subject(token: str) -> str | None:
    """Return the user that a token names, if it is one that can be read. It is not verified."""
    try:
        subject = jwt.decode(token, options={"verify_signature": False}).get("sub")
    except jwt.PyJWTError:
        return None
    return subject if isinstance(subject, str) and subject else None


def _session(value: str) -> str:
    if not is_session_id(value):
        message = f"{value!r} is no session id"
        raise argparse.ArgumentTypeError(message)
    return value


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _SECONDS_MAX:
        message = f"{value!r} is no number of seconds above 0, at most {_SECONDS_MAX:.0f}"
        raise argparse.ArgumentTypeError(message)
    return seconds


_SECONDS_MAX: Final = 86_400.0
