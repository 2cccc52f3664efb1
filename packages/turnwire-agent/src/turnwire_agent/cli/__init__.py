"""The command line: `serve`, `try`, `check`, `sessions`, `replay`, `generate`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from turnwire_agent import __version__
from turnwire_agent.cli import check, generate, replay, serve, sessions, try_model
from turnwire_agent.cli.arguments import UsageError

WRONG_USAGE: Final = 2
_COMMANDS: Final = {
    "serve": serve,
    "try": try_model,
    "check": check,
    "sessions": sessions,
    "replay": replay,
    "generate": generate,
}
INTERRUPTED: Final = 130
"""As a shell tells of a program that SIGINT ended."""

_DESCRIPTION: Final = """\
An agent behind a turnwire gateway: its turns survive the process that runs
them. Models of any provider over one road; keys come from the variables that
people have set already (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY).
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code. `argv` is without the program's name."""
    parser, commands = _parser()
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:  # else the usage of the program would be shown, not that of the command
        commands[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        code: int = _COMMANDS[arguments.command].run(arguments)
    except UsageError as error:
        print(f"turnwire-agent {arguments.command}: {error}", file=sys.stderr)
        return WRONG_USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and those of the commands."""
    parser = argparse.ArgumentParser(
        prog="turnwire-agent",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"turnwire-agent {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve.add_arguments(commands.add_parser("serve", help="serve an agent to a gateway"))
    try_model.add_arguments(commands.add_parser("try", help="send one prompt, show the answer"))
    check.add_arguments(commands.add_parser("check", help="say whether an agent is fit"))
    sessions.add_arguments(commands.add_parser("sessions", help="show what a journal has"))
    replay.add_arguments(commands.add_parser("replay", help="write the frames of a session"))
    generate.add_arguments(commands.add_parser("generate", help="answer programs, over HTTP"))
    return parser, commands.choices
