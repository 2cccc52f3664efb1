"""The command line: `init`, `serve`, `check`, `replay`, `drift`, `doctor` and the others."""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from turnwire import __version__
from turnwire.cli import bridge, commands, conform, doctor, drift
from turnwire.cli.arguments import parse_arguments, whole_number
from turnwire.cli.env_file import init
from turnwire.cli.env_file.option import add_env_file
from turnwire.config import dialect_defaults
from turnwire.config.dialect_loading import BadDialectError, find
from turnwire.core.agent import Dialect
from turnwire.core.recording.replay import PROMPT_ID
from turnwire.web.auth.access import is_session_id

OK: Final = 0
FAILED: Final = 1

_WORKERS_MAX: Final = 256

_DESCRIPTION: Final = """\
A gateway: AI SDK clients (useChat) post to it and get a UI message stream; it
talks to an agent over HTTP or a WebSocket, in the wire of TURNWIRE_DIALECT.
"""

_ENVIRONMENT: Final = """\
Settings come from TURNWIRE_* variables, or from a file (--env-file), which
`turnwire init` writes; docs/settings.md has the list. At least
TURNWIRE_ENABLED=true, TURNWIRE_AGENT_URL and TURNWIRE_JWT_KEY are needed.
Exit codes: 0 done, 1 failed, 2 wrong usage. A gateway that SIGTERM stopped has
finished its streams, and ends by that signal (143 in a shell).
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code. `argv` is without the program's name."""
    arguments = parse_arguments(*_parser(), argv)
    match arguments.command:
        case "init":
            return init.run(arguments)
        case "serve":
            return commands.serve(arguments.workers, arguments.env_file)
        case "check":
            return commands.check(arguments.env_file)
        case "replay":
            return commands.replay_file(
                arguments.file,
                dialect=arguments.dialect,
                prompt_id=arguments.prompt_id,
                event_lines=arguments.event_lines,
                usage=arguments.usage,
            )
        case "drift":
            return drift.report(arguments.file)
        case "doctor":
            return doctor.run(arguments)
        case "conform":
            return conform.run(arguments)
        case "bridge":
            return bridge.run(arguments)
        case _:
            return commands.token(
                arguments.sub, arguments.session, arguments.ttl, arguments.env_file
            )


def _parser() -> tuple[argparse.ArgumentParser, Collection[str]]:
    """The parser, and the names of all commands."""
    parser = argparse.ArgumentParser(
        prog="turnwire",
        description=_DESCRIPTION,
        epilog=_ENVIRONMENT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"turnwire {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    init.add_arguments(subparsers.add_parser("init", help="write a file of settings for a wire"))
    _add_serve(subparsers.add_parser("serve", help="run the gateway"))
    add_env_file(
        subparsers.add_parser("check", help="say what is wrong with the settings, one line each")
    )
    _add_replay(subparsers.add_parser("replay", help="turn recorded frames into the exact SSE"))
    drift = subparsers.add_parser("drift", help="say how the agent's wire has drifted")
    drift.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="what TURNWIRE_DRIFT_SAMPLES names; `-`: standard input",
    )
    doctor.add_arguments(
        subparsers.add_parser("doctor", help="say what is wrong between a client and here")
    )
    conform.add_arguments(
        subparsers.add_parser("conform", help="say whether an agent behaves, by playing with it")
    )
    bridge.add_arguments(
        subparsers.add_parser("bridge", help="an agent's standard input and output as a WebSocket")
    )
    _add_token(subparsers.add_parser("token", help="make a token with TURNWIRE_JWT_KEY"))
    return parser, subparsers.choices


def _add_serve(serve: argparse.ArgumentParser) -> None:
    add_env_file(serve)
    serve.add_argument(
        "--workers",
        type=whole_number(1, _WORKERS_MAX),
        default=1,
        metavar="N",
        help="processes that share the port; one for each core (default: 1)",
    )


def _add_replay(replay: argparse.ArgumentParser) -> None:
    replay.description = (
        "Reads one frame a line, or the body of an agent's response, as the agent sent it, and "
        "writes the SSE body that a client would have got to standard output."
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="`-`: standard input")
    replay.add_argument(
        "--dialect",
        type=_dialect,
        metavar="NAME",
        help="a value of TURNWIRE_DIALECT (default: what the recording says, else "
        f"{dialect_defaults.DIALECT})",
    )
    replay.add_argument(
        "--prompt-id",
        help=f"the promptId of the turn to follow (default: {PROMPT_ID}, or the only one there is)",
    )
    replay.add_argument(
        "--no-event-lines", dest="event_lines", action="store_false", help="without `event:` lines"
    )
    replay.add_argument("--usage", action="store_true", help="with token counts on `finish`")


def _add_token(token: argparse.ArgumentParser) -> None:
    add_env_file(token)
    token.add_argument("--sub", required=True, type=_user, metavar="USER", help="the user's id")
    token.add_argument(
        "--session",
        required=True,
        action="append",
        type=_session,
        metavar="SESSION=ROLE",
        help="viewer, collaborator or owner of a session (`*`: of any); may be repeated",
    )
    token.add_argument(
        "--ttl", type=_lifetime, default=3600, metavar="SECONDS", help="lifetime (default: 3600)"
    )


def _dialect(value: str) -> Dialect:
    try:
        return find(value)
    except BadDialectError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc


def _user(value: str) -> str:
    if not value:
        message = "a user's id is not empty"
        raise argparse.ArgumentTypeError(message)
    return value


def _lifetime(value: str) -> int:
    if not value.isdecimal() or not int(value):
        message = f"{value!r} is no number of seconds"
        raise argparse.ArgumentTypeError(message)
    return int(value)


def _session(value: str) -> tuple[str, str]:
    session_id, _, role = value.rpartition("=")
    is_valid_id = session_id == "*" or is_session_id(session_id)
    if not is_valid_id or role not in {"viewer", "collaborator", "owner"}:
        message = f"{value!r} is not SESSION=viewer|collaborator|owner"
        raise argparse.ArgumentTypeError(message)
    return session_id, role
