"""Ask whoever sits at the terminal whether a call may run."""

import asyncio
import sys

from turnwire_agent.cli.terminal import printable


async def allowed_at_terminal(question: str) -> bool | None:
    """Ask on standard error, and read the answer on standard input.

    Args:
        question: In one line. Terminals obey none of its characters.

    Returns:
        Whether the answer is yes. None: standard input is no terminal, and nobody is asked.
    """
    answers = sys.stdin
    if answers is None or not answers.isatty():
        return None
    print(f"{printable(question)} [y/N]", end=" ", file=sys.stderr, flush=True)
    # A thread that reads could not be interrupted: Ctrl-C would have to wait for a line.
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(answers.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(answers.fileno())
    answer = answers.readline()
    if not answer.endswith("\n"):  # Ctrl-D
        print(file=sys.stderr)
    return answer.strip().lower() in {"y", "yes"}
