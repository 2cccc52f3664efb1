"""A command of the shell that the user of `turnwire conform` gives."""

import asyncio
import os
from asyncio.subprocess import DEVNULL
from contextlib import suppress
from signal import SIGKILL


async def run_command(command: str, within_s: float) -> int | None:
    """Run a command, and return its exit code. None: it took longer, and was killed.

    Its errors are shown, and what it prints is not.
    """
    process = await asyncio.create_subprocess_shell(
        command, stdin=DEVNULL, stdout=DEVNULL, start_new_session=True
    )
    try:
        async with asyncio.timeout(within_s):
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)  # with all that the shell started
            await process.wait()
