"""`--env-file`: the argument, and the environment that a command has with it."""

import argparse
import os
import sys
from collections.abc import Mapping

from turnwire.config.env_file import Environment, beside


def add_env_file(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--env-file",
        metavar="FILE",
        help="settings, NAME=VALUE in each line; a variable of the environment wins over its line",
    )


def environment(file: str | None, arguments: Mapping[str, str] | None = None) -> Environment:
    """Return what the command reads its settings from: the process's environment, then the file.

    `arguments`: variables that the command line gives, which win over both.

    Variables of the file that are no settings are put into the environment of the process, where
    the libraries that read them find them, and the processes that it starts.

    Raises:
        SettingsError: the file cannot be read, or a line of it is wrong.

    """
    given = beside({**os.environ, **(arguments or {})}, file)
    os.environ.update(given.others)
    return given


def warn(given: Environment) -> None:
    """Print the warning about the file, if there is one, to standard error."""
    if given.warning:
        print(f"turnwire: {given.warning}", file=sys.stderr)
