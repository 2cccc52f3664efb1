"""`turnwire-agent serve`: sessions for a gateway, over the `v2` wire."""

import argparse
import asyncio
import logging
import sys
from contextlib import AsyncExitStack

from turnwire_agent.cli.agent.arguments import add_settings, settings
from turnwire_agent.cli.signals import stopped_by_signals
from turnwire_agent.settings import Agent

_DESCRIPTION = """\
Serves the sessions of an agent to a turnwire gateway (TURNWIRE_DIALECT=v2). Turns
are kept in a journal: if this process dies, the next one that serves the same
journal goes on with them. Each field of the settings is a flag, too, and the
flag counts. It ends with SIGTERM or Ctrl-C; turns that run then are given to
whoever serves the journal next.
Exit codes: 0 stopped, 1 cannot start, 2 wrong usage or settings.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes. Returns the exit code.

    Raises:
        UsageError: The settings do not fit together.
    """
    return serve(settings(arguments))


def serve(agent: Agent) -> int:
    """Serve an agent until SIGTERM or SIGINT; it makes an event loop, and sets up the log.

    Returns:
        0: it was stopped. 1: it cannot start; a line on standard error says why.

    Raises:
        UsageError: The settings do not fit together.
    """
    return asyncio.run(_serve(agent))


async def _serve(agent: Agent) -> int:
    # What a server needs takes a while to import, which no other command waits for.
    from turnwire_agent.cli.agent.parts import CannotServeError  # noqa: PLC0415
    from turnwire_agent.cli.collector import tune_collector  # noqa: PLC0415
    from turnwire_agent.cli.serving import served  # noqa: PLC0415

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    for library in ("httpx", "httpcore", "websockets", "asyncio"):
        logging.getLogger(library).setLevel(logging.WARNING)
    stopping = stopped_by_signals()
    async with AsyncExitStack() as stack:
        try:
            host, port = await stack.enter_async_context(served(agent))
        except CannotServeError as error:
            print(f"turnwire-agent serve: {error}", file=sys.stderr)
            return 1
        tune_collector()
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        template = f"ws://{where}/api/sessions/{{session_id}}/ws?role=client"
        print(f"serves TURNWIRE_AGENT_URL={template}", flush=True)
        await stopping.wait()
    return 0
