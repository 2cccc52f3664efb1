"""Run a command beside a scripted server."""

import asyncio

from turnwire_agent.cli import main


async def run(*arguments: str) -> int:
    """The exit code. The command has an event loop of its own, in a thread."""
    try:
        return await asyncio.to_thread(main, arguments)
    except SystemExit as exit_:
        return int(exit_.code or 0)
