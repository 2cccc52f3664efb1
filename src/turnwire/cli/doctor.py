"""`turnwire doctor`: its arguments, the consent to send prompts, its exit codes."""

import argparse
import asyncio
import shlex
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from turnwire.cli.masking import SECRET_MIN, masked
from turnwire.config.settings import Settings
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import CannotRunError, Target
from turnwire.doctor.proxies import Proxy
from turnwire.doctor.report import as_json, as_text
from turnwire.web.auth.access import is_session_id

WELL: Final = 0
ILL: Final = 1
CANNOT_RUN: Final = 2

SESSION: Final = "turnwire-doctor"

PROMPT: Final = "Count from one to sixty in words, one number to a line, and say nothing else."

_DESCRIPTION: Final = """\
Talks to a gateway through its real ingress, as a client would, and says what is
wrong on the way, why, and which line of the proxy to change. Without --yes it
begins no turn: it asks for the session's history, which takes a good token and
an agent that answers. With --yes it also sends two short prompts to the session
(with --idle one), which the session's history keeps. Use a session of its own.
Exit codes: 0 nothing is wrong, 1 something is, 2 it could not look.
"""


def line(settings: Settings, env_file: str | None) -> str:
    """A line to paste, which asks the agent through a gateway with these settings."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port or 'PORT'}"
    given = "--token-file token.txt"
    if settings.auth == "jwt" and settings.jwt_algorithm == "HS256" and settings.jwt_key:
        file = f"--env-file {shlex.quote(env_file)} " if env_file else ""
        given = f'--token "$(turnwire token {file}--sub doctor --session {SESSION}=collaborator)"'
    return f"turnwire doctor --url {url} {given} --yes"


def add_arguments(doctor: argparse.ArgumentParser) -> None:
    doctor.description = _DESCRIPTION
    doctor.add_argument("--url", required=True, type=_url, help="the ingress, before /api/…")
    token_source = doctor.add_mutually_exclusive_group(required=True)
    token_source.add_argument(
        "--token", help="a user's token (other users of this machine may see it)"
    )
    token_source.add_argument("--token-file", type=Path, metavar="FILE", help="`-`: standard input")
    doctor.add_argument(
        "--session", type=_session, default=SESSION, metavar="ID", help=f"default: {SESSION}"
    )
    doctor.add_argument("--origin", help="of a web page, e.g. https://app.example: looks at CORS")
    doctor.add_argument("--yes", action="store_true", help="begin turns: send prompts")
    doctor.add_argument(
        "--prompt",
        default=PROMPT,
        help='one that takes five seconds or more to answer, e.g. "tell me a long story"',
    )
    doctor.add_argument(
        "--quiet-prompt",
        metavar="PROMPT",
        help="one after which the agent is silent for some seconds: shows lost hang-ups",
    )
    doctor.add_argument(
        "--idle", action="store_true", help="send one turn, whose --prompt asks for a long silence"
    )
    doctor.add_argument(
        "--within", type=float, metavar="SECONDS", help="longest turn (30; with --idle 180)"
    )
    doctor.add_argument("--ca-file", metavar="FILE", help="the only authority to trust (PEM)")
    doctor.add_argument(
        "--proxy", choices=[each.value for each in Proxy], help="if it does not say its name"
    )
    doctor.add_argument("--json", action="store_true", help="for programs")


def run(arguments: argparse.Namespace) -> int:
    """Run the checks and print the report. Returns the exit code."""
    try:
        where = Target(
            url=arguments.url,
            session=arguments.session,
            token=_token(arguments),
            origin=arguments.origin,
            ca_file=arguments.ca_file,
            within_s=arguments.within or (180.0 if arguments.idle else 30.0),
        )
        report = asyncio.run(_examined(where, arguments))
    except (CannotRunError, OSError) as exc:
        print(f"turnwire doctor: {exc}", file=sys.stderr)
        return CANNOT_RUN
    text = as_json(report) if arguments.json else as_text(report)
    print(masked(text, where.token))
    if len(where.token) < SECRET_MIN:
        print(
            f"turnwire doctor: a token of {len(where.token)} characters is no secret, and no signed"
            " token is as short: was it cut? It is not blotted out above.",
            file=sys.stderr,
        )
    return WELL if report.is_well else ILL


async def _examined(where: Target, arguments: argparse.Namespace) -> Report:
    proxy = None if arguments.proxy is None else Proxy(arguments.proxy)
    checkup = Checkup(where, proxy=proxy)
    prompt = arguments.prompt if arguments.yes else None
    return await checkup.run(prompt, quiet_prompt=arguments.quiet_prompt, idle=arguments.idle)


def _token(arguments: argparse.Namespace) -> str:
    """The token of `--token` or `--token-file`.

    Raises:
        CannotRunError: it is empty, or not one line of ASCII.

    """
    if arguments.token is not None:
        token = str(arguments.token)
    else:
        token = (
            sys.stdin.read()
            if str(arguments.token_file) == "-"
            else arguments.token_file.read_text()
        )
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():
        message = "the token is empty, or not one line of ASCII"
        raise CannotRunError(message)
    return token


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in {"http", "https"} or parts.query or parts.username:
        message = "must be http:// or https://, a host, and at most a path"
        raise argparse.ArgumentTypeError(message)
    return value.rstrip("/")


def _session(value: str) -> str:
    if not is_session_id(value):
        message = f"{value!r} is no session id"
        raise argparse.ArgumentTypeError(message)
    return value
