"""`turnwire doctor`: its arguments, its consent, its exit codes."""

import argparse
import asyncio
import re
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from turnwire.doctor.examination import Examination, Report
from turnwire.doctor.proxies import Proxy
from turnwire.doctor.telling import as_json, as_text
from turnwire.doctor.visit import CannotRunError, Where
from turnwire.web.access import is_session_id

WELL: Final = 0
ILL: Final = 1
CANNOT_RUN: Final = 2

SECRET_MIN: Final = 8
"""Characters of a token. A shorter one keeps nobody out."""
LONG: Final = 20
"""No word is as long."""

PROMPT: Final = "Count from one to sixty in words, one number to a line, and say nothing else."

_DESCRIPTION: Final = """\
Talks to a gateway through its real ingress, as a client would, and says what is
wrong on the way, why, and which line of the proxy to change. Without --yes it
begins no turn: it asks for the session's history, which takes a good token and
an agent that answers. With --yes it also sends two short prompts to the session
(with --idle one), which the session's history keeps. Use a session of its own.
Exit codes: 0 nothing is wrong, 1 something is, 2 it could not look.
"""


def add_arguments(doctor: argparse.ArgumentParser) -> None:
    doctor.description = _DESCRIPTION
    doctor.add_argument("--url", required=True, type=_url, help="the ingress, before /api/…")
    whose = doctor.add_mutually_exclusive_group(required=True)
    whose.add_argument("--token", help="a user's token (other users of this machine may see it)")
    whose.add_argument("--token-file", type=Path, metavar="FILE", help="`-`: standard input")
    doctor.add_argument("--session", type=_session, default="turnwire-doctor", metavar="ID")
    doctor.add_argument("--origin", help="of a web page, e.g. https://app.example: looks at CORS")
    doctor.add_argument("--yes", action="store_true", help="turns may be begun")
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
        "--idle", action="store_true", help="one long turn: --prompt asks for a silence"
    )
    doctor.add_argument(
        "--within", type=float, metavar="SECONDS", help="longest turn (30; with --idle 180)"
    )
    doctor.add_argument("--ca-file", metavar="FILE", help="whom to trust beside nobody (PEM)")
    doctor.add_argument(
        "--proxy", choices=[each.value for each in Proxy], help="if it does not say its name"
    )
    doctor.add_argument("--json", action="store_true", help="for programs")


def run(asked: argparse.Namespace) -> int:
    """Examine, and tell."""
    try:
        where = Where(
            url=asked.url,
            session=asked.session,
            token=_token(asked),
            origin=asked.origin,
            ca_file=asked.ca_file,
            within_s=asked.within or (180.0 if asked.idle else 30.0),
        )
        report = asyncio.run(_examined(where, asked))
    except (CannotRunError, OSError) as exc:
        print(f"turnwire doctor: {exc}", file=sys.stderr)
        return CANNOT_RUN
    told = as_json(report) if asked.json else as_text(report)
    print(_blotted(told, where.token))
    if len(where.token) < SECRET_MIN:
        print(
            f"turnwire doctor: a token of {len(where.token)} characters is no secret, and no signed"
            " token is as short: was it cut? It is not blotted out above.",
            file=sys.stderr,
        )
    return WELL if report.is_well else ILL


async def _examined(where: Where, asked: argparse.Namespace) -> Report:
    proxy = None if asked.proxy is None else Proxy(asked.proxy)
    examination = Examination(where, proxy=proxy)
    prompt = asked.prompt if asked.yes else None
    return await examination.run(prompt, quiet_prompt=asked.quiet_prompt, idle=asked.idle)


def _blotted(told: str, token: str) -> str:
    """A report without the token, which a proxy might say back to us.

    A short one may be part of an ordinary word, and a very short one a word of every report.
    """
    if len(token) < SECRET_MIN:
        return told
    found = re.escape(token)
    if len(token) < LONG:
        found = rf"(?<!\w){found}(?!\w)"
    return re.sub(found, "[token]", told)


def _token(asked: argparse.Namespace) -> str:
    if asked.token is not None:
        given = str(asked.token)
    else:
        given = sys.stdin.read() if str(asked.token_file) == "-" else asked.token_file.read_text()
    given = given.strip()
    if not given or not given.isascii() or not given.isprintable():
        message = "the token is empty, or not one line of ASCII"
        raise CannotRunError(message)
    return given


def _url(given: str) -> str:
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in {"http", "https"} or parts.query or parts.username:
        message = "must be http:// or https://, a host, and at most a path"
        raise argparse.ArgumentTypeError(message)
    return given.rstrip("/")


def _session(given: str) -> str:
    if not is_session_id(given):
        message = f"{given!r} is no session id"
        raise argparse.ArgumentTypeError(message)
    return given
