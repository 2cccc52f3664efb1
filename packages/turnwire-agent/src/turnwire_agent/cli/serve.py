"""`turnwire-agent serve`: sessions for a gateway, over the `v2` wire."""

import argparse
import asyncio
import importlib
import logging
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from turnwire_agent.cli.arguments import UsageError, search_this_folder
from turnwire_agent.cli.signals import stopped_by_signals
from turnwire_agent.settings import (
    Agent,
    SettingsError,
    fields_with_flags,
    from_file,
    from_values,
)

_DESCRIPTION = """\
Serves the sessions of an agent to a turnwire gateway (TURNWIRE_DIALECT=v2). Turns
are kept in a journal: if this process dies, the next one that serves the same
journal goes on with them. Each field of the settings is a flag, too, and the
flag counts. It ends with SIGTERM or Ctrl-C; turns that run then are given to
whoever serves the journal next.
Exit codes: 0 stopped, 1 cannot start, 2 wrong usage.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument(
        "agent",
        nargs="?",
        metavar="AGENT.TOML|MODULE:NAME",
        help="a file of settings, or an `Agent` in Python; without it the flags say all",
    )
    parser.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="the model may call it; may be repeated",
    )
    for name, _ in fields_with_flags():
        parser.add_argument(
            f"--{name.replace('.', '-').replace('_', '-')}", dest=name, metavar="VALUE"
        )


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes. Returns the exit code.

    Raises:
        UsageError: The settings do not fit together.
    """
    try:
        agent = settings(arguments)
    except SettingsError as error:
        raise UsageError(str(error)) from error
    return asyncio.run(_serve(agent))


def settings(arguments: argparse.Namespace) -> Agent:
    """The settings that a command line means.

    Raises:
        SettingsError: One does not fit.
        UsageError: There is no such agent.
    """
    agent = _named(arguments.agent) if arguments.agent else Agent()
    given = vars(arguments)
    flags: dict[str, Any] = {}
    for name, _ in fields_with_flags():
        if (value := given[name]) is None:
            continue
        group, dot, inner = name.partition(".")
        if dot:
            flags.setdefault(group, {})[inner] = value
        else:
            flags[name] = value
    changed = from_values(flags, "the command line")
    replaced: dict[str, Any] = {}
    for name, value in flags.items():
        new = getattr(changed, name)
        if isinstance(value, dict):
            changes = {key: getattr(new, key) for key in value}
            new = msgspec.structs.replace(getattr(agent, name), **changes)
        replaced[name] = new
    tools = (*agent.tools, *arguments.tool)
    return msgspec.structs.replace(agent, tools=tools, **replaced)


def _named(name: str) -> Agent:
    if name.endswith(".toml"):
        return from_file(Path(name))
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise UsageError(f"{name!r} is neither FILE.toml nor MODULE:NAME")
    search_this_folder()
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise UsageError(f"{name}: {error}") from error
    except AttributeError as error:
        raise UsageError(f"{name}: the module has no {attribute!r}") from error
    if not isinstance(found, Agent):
        raise UsageError(f"{name} is no turnwire_agent.Agent")
    return found


async def _serve(agent: Agent) -> int:
    from turnwire_agent.cli import serving  # noqa: PLC0415 (takes a while to import)

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    for library in ("httpx", "httpcore", "websockets", "asyncio"):
        logging.getLogger(library).setLevel(logging.WARNING)
    stopping = stopped_by_signals()
    async with AsyncExitStack() as stack:
        try:
            host, port = await stack.enter_async_context(serving.served(agent))
        except (serving.CannotServeError, SettingsError) as error:
            print(f"turnwire-agent serve: {error}", file=sys.stderr)
            return 1
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        template = f"ws://{where}/api/sessions/{{session_id}}/ws?role=client"
        print(f"serves TURNWIRE_AGENT_URL={template}", flush=True)
        await stopping.wait()
    return 0
