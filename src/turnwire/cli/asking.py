"""What was asked on a command line, where it names a command; what is meant, where it does not."""

import argparse
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches


def asked(
    parser: argparse.ArgumentParser, commands: Collection[str], argv: Sequence[str] | None
) -> argparse.Namespace:
    """Parse it. Ends the process with 2 where it is wrong; a bare call is told all commands."""
    given = sys.argv[1:] if argv is None else argv
    if not given:
        parser.print_help(sys.stderr)
        parser.exit(2)
    first = given[0]
    if not first.startswith("-") and first not in commands:
        near = get_close_matches(first, commands, n=1)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(commands)}"
        parser.error(f"no command {first!r}; {meant}")
    return parser.parse_args(given)
