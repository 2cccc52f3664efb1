"""Parse a command line with sub-commands; for an unknown command, suggest a similar one."""

import argparse
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches


def parse_arguments(
    parser: argparse.ArgumentParser, commands: Collection[str], argv: Sequence[str] | None
) -> argparse.Namespace:
    """Return the parsed command line.

    `argv` is without the program's name; None: the arguments of the process.
    Exits with code 2 if the command line is invalid. Without arguments, it prints the help first.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments:
        parser.print_help(sys.stderr)
        parser.exit(2)
    first = arguments[0]
    if not first.startswith("-") and first not in commands:
        similar = get_close_matches(first, commands, n=1)
        hint = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(commands)}"
        parser.error(f"no command {first!r}; {hint}")
    return parser.parse_args(arguments)
