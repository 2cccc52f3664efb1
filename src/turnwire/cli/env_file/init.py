"""`turnwire init`: write a file of settings for a wire, and print what comes next."""

import argparse
import importlib.util
import os
import secrets
import shlex
import sys
from pathlib import Path
from typing import Final

from turnwire.cli.env_file.template import file_text, needed
from turnwire.config.dialect_defaults import DIALECT
from turnwire.config.dialect_loading import BadDialectError, find
from turnwire.config.settings import variable
from turnwire.dialects import DIALECTS

FILE: Final = "turnwire.env"
MODE: Final = 0o600
"""The key of the tokens is in the file."""

_DESCRIPTION: Final = """\
Writes a file of settings for `serve --env-file` and `check --env-file`: what
the wire needs, with a random key for tokens, and as comments what is changed
most. Your agent's URL is left for you to fill in.
Exit codes: 0 it is written, 1 it is not, 2 wrong usage.
"""


def add_arguments(init: argparse.ArgumentParser) -> None:
    init.description = _DESCRIPTION
    init.formatter_class = argparse.RawDescriptionHelpFormatter
    init.add_argument(
        "--wire",
        type=_wire,
        help=f"{', '.join(DIALECTS)}, or another value of {variable('dialect')} "
        f"(default: {DIALECT})",
    )
    init.add_argument(
        "--force", action="store_true", help="write over a file that exists, and over its key"
    )
    init.add_argument("file", nargs="?", default=FILE, metavar="FILE", help=f"default: {FILE}")


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and print the next commands. Returns the exit code."""
    file = Path(arguments.file)
    wire = arguments.wire or DIALECT
    try:
        _write(file, file_text(wire, secrets.token_hex(32)), force=arguments.force)
    except FileExistsError:
        return _fail(f"{file}: exists already; --force writes over it, and over its key")
    except OSError as exc:
        return _fail(f"{file}: cannot be written ({exc.strerror})")
    others = ""
    if arguments.wire is None:
        others = f" (--wire takes {', '.join(name for name in DIALECTS if name != wire)}, too)"
    print(f"{file} is written, for an agent that speaks {wire}{others}.")
    print(_next_steps(file, wire))
    return 0


def _next_steps(file: Path, wire: str) -> str:
    option = f"--env-file {shlex.quote(str(file))}"
    begun_with = ", ".join(map(variable, needed(find(wire))))
    look = f", and look at {begun_with}" if begun_with else ""
    token = f"turnwire token {option} --sub ann --session s1=collaborator"
    steps = [
        f"Set {variable('agent_url')} in it{look}. Then:",
        f"  turnwire check {option}",
        f"  turnwire serve {option}",
        "A token for a first try:",
        f"  {token}",
    ]
    if importlib.util.find_spec("turnwire_lab") is not None:
        chat = f'TURNWIRE_LAB_TOKEN="$({token})" turnwire-lab chat --session s1'
        steps += ["A chat in the terminal, while the gateway runs:", f"  {chat}"]
    return "\n".join(steps)


def _write(file: Path, text: str, *, force: bool) -> None:
    """Write the file, as the only one who may read it, whole or not at all.

    Raises:
        FileExistsError: there is one, and `force` is not set.
        OSError: it cannot be written.

    """
    written = file.parent / f".turnwire-{secrets.token_hex(4)}" if force else file
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        if force:
            written.replace(file)
    except OSError:
        written.unlink(missing_ok=True)
        raise


def _wire(value: str) -> str:
    try:
        find(value)
    except BadDialectError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
    return value


def _fail(problem: str) -> int:
    print(f"turnwire: {problem}", file=sys.stderr)
    return 1
