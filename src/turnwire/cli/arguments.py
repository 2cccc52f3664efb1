"""Parse a command line with sub-commands; for an unknown command, suggest a similar one."""

import argparse
import sys
from collections.abc import Callable, Collection, Sequence
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


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an argument that is a whole number from `least` to `most`."""

    def number(value: str) -> int:
        if not value.isdecimal() or not least <= int(value) <= most:
            message = f"{value!r} is no number from {least} to {most}"
            raise argparse.ArgumentTypeError(message)
        return int(value)

    return number
