"""`turnwire bridge`: its arguments, its token, what it prints."""

import argparse
import asyncio
import os
import secrets
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from turnwire.bridge.access import TOKEN_MIN
from turnwire.bridge.server import HOST, Bridge
from turnwire.cli.arguments import whole_number
from turnwire.cli.env_file.option import add_env_file, environment, warn
from turnwire.config.dialect_defaults import BRIDGED
from turnwire.config.files import UnreadableError, read_secret
from turnwire.config.settings import Settings, variable
from turnwire.errors import SettingsError

PORT: Final = 8766
CONNECTIONS_MAX: Final = 64

_TOKEN: Final = variable("agent_token")
_PORT_MAX: Final = 65_535

_DESCRIPTION: Final = f"""\
Makes an agent that speaks over its standard input and output reachable for a
gateway on this machine: each connection to the WebSocket has a process of its
own, each text frame is a line of its input, each line of its output a frame.
It listens on {HOST} alone. A client needs the token ({_TOKEN} or
{_TOKEN}_FILE, as the gateway has it; without them one is made and
printed), and a request from a web page is refused.
Exit codes: 0 it was stopped, 1 it cannot run, 2 wrong usage.
"""


def add_arguments(bridge: argparse.ArgumentParser) -> None:
    bridge.description = _DESCRIPTION
    bridge.formatter_class = argparse.RawDescriptionHelpFormatter
    bridge.usage = (
        "turnwire bridge [--port N] [--connections N] [--frame-bytes N] [--env-file FILE] -- "
        "AGENT ..."
    )
    bridge.add_argument(
        "--port",
        type=whole_number(0, _PORT_MAX),
        default=PORT,
        metavar="N",
        help=f"default: {PORT}",
    )
    bridge.add_argument(
        "--connections",
        type=whole_number(1, 10_000),
        default=CONNECTIONS_MAX,
        metavar="N",
        help=f"most at once, each with a process (default: {CONNECTIONS_MAX})",
    )
    bridge.add_argument(
        "--frame-bytes",
        type=whole_number(1024, 2**30),
        default=Settings().frame_bytes,
        metavar="N",
        help=f"longest line and frame; the gateway's {variable('frame_bytes')}",
    )
    add_env_file(bridge)
    bridge.add_argument(
        "agent", nargs="+", metavar="AGENT", help="the command, as in `-- opencode acp`"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the bridge until SIGTERM or SIGINT. Returns the exit code."""
    try:
        given = environment(arguments.env_file)
    except SettingsError as exc:
        for problem in exc.problems:
            _fail(problem)
        return 1
    warn(given)
    try:
        token = _token(given.values)
    except ValueError as exc:
        return _fail(given.located(str(exc)))
    command: Sequence[str] = arguments.agent
    if shutil.which(command[0]) is None:
        return _fail(f"{command[0]}: no such command")
    made = secrets.token_urlsafe(32) if token is None else None
    bridge = Bridge(
        command,
        token or made or "",
        frame_bytes=arguments.frame_bytes,
        connections_max=arguments.connections,
        say=_say,
    )
    return asyncio.run(_serve(bridge, arguments.port, partial(_welcome, command, made)))


async def _serve(bridge: Bridge, port: int, welcome: Callable[[int], str]) -> int:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    try:
        async with bridge.listening(port) as opened:
            print(welcome(opened), flush=True)
            await stopped.wait()
    except OSError as exc:
        reason = os.strerror(exc.errno) if exc.errno else str(exc)
        return _fail(f"cannot listen on {HOST}, port {port}: {reason}")
    return 0


def _welcome(command: Sequence[str], token: str | None, port: int) -> str:
    settings = {
        variable("agent_url"): f"ws://{HOST}:{port}/?session={{session_id}}",
        variable("agent_auth"): "service",
    }
    if token is not None:
        settings[_TOKEN] = token
    exported = " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())
    return (
        f"`{shlex.join(command)}` is behind port {port}. For the gateway:\nexport {exported}\n"
        f"and the agent's wire: {variable('dialect')}={BRIDGED} {variable('agent_cwd')}=/a/folder"
    )


def _token(environ: Mapping[str, str]) -> str | None:
    """Return the token that the gateway has, too; None: there is none yet.

    Raises:
        ValueError: it cannot be read, or is too short.

    """
    token = environ.get(_TOKEN)
    if token is None and (file := environ.get(f"{_TOKEN}_FILE")) is not None:
        try:
            token = read_secret(file)
        except UnreadableError as exc:
            raise ValueError(f"{_TOKEN}_FILE: {exc}") from exc
    if token is not None and len(token) < TOKEN_MIN:
        raise ValueError(f"{_TOKEN}: a token has {TOKEN_MIN} characters or more")
    return token


def _say(line: str) -> None:
    print(f"turnwire bridge: {line}", file=sys.stderr, flush=True)


def _fail(problem: str) -> int:
    print(f"turnwire: {problem}", file=sys.stderr)
    return 1
