"""`turnwire-agent replay`: what the sockets of a session were sent."""

import argparse
import asyncio
import sys

from turnwire_agent.cli.agent.arguments import add_agent, settings
from turnwire_agent.cli.terminal import printable
from turnwire_agent.settings import Agent

_DESCRIPTION = """\
Writes the `v2` frames of a session, one a line, as they come from its journal:
what a gateway was sent that followed it all the time. With --init it is the one
frame that a gateway is sent which opens the session now. Arguments that a tool
marks as secret are hidden; without an agent no argument is shown.
`turnwire replay --prompt-id ID -` makes of the frames what a client got.
Exit codes: 0 done, 1 there is none, 2 wrong usage.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    add_agent(parser)
    parser.add_argument("--session", metavar="ID", required=True)
    parser.add_argument("--init", action="store_true", help="where the session stands, instead")


def run(arguments: argparse.Namespace) -> int:
    """Print. Returns the exit code.

    Raises:
        UsageError: There is no such agent.
    """
    return asyncio.run(_run(settings(arguments), arguments))


async def _run(agent: Agent, arguments: argparse.Namespace) -> int:
    # What a journal and its events need takes a while to import.
    from turnwire_agent.cli.agent.parts import CannotServeError  # noqa: PLC0415
    from turnwire_agent.session.codec import BrokenEventError, NewerEventError  # noqa: PLC0415

    try:
        found = await _write(agent, arguments)
    except (CannotServeError, BrokenEventError, NewerEventError) as error:
        print(f"turnwire-agent replay: {printable(str(error))}", file=sys.stderr)
        return 1
    if not found:
        print("turnwire-agent replay: there is no such session", file=sys.stderr)
        return 1
    return 0


async def _write(agent: Agent, arguments: argparse.Namespace) -> bool:
    """Whether there is such a session."""
    from turnwire_agent.cli.agent import rows  # noqa: PLC0415
    from turnwire_agent.cli.agent.journals import checked_session, opened  # noqa: PLC0415
    from turnwire_agent.session.codec import event_of  # noqa: PLC0415
    from turnwire_agent.session.state import SessionState  # noqa: PLC0415
    from turnwire_agent.v2.init import init_frame  # noqa: PLC0415

    frames = rows.frames_for(agent, named=arguments.agent is not None)
    state, found = SessionState(), False
    session = checked_session(arguments.session)
    async with opened(agent) as journal:
        async for row in rows.rows_of(journal, session):
            found = True
            event = event_of(row.kind, row.body)
            written = frames.of(event, state)
            state.apply(event)
            if not arguments.init:
                _print(written)
    if found and arguments.init:
        _print([init_frame(session, state, frames)])
    return found


def _print(written: list[bytes]) -> None:
    """A frame is JSON in one line. A terminal obeys none of it."""
    for frame in written:
        text = frame.decode()
        print(printable(text) if sys.stdout.isatty() else text)
