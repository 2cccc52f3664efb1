"""What `--abort-seen` tells: whether the agent works on a turn. Some wires show no abort."""

import asyncio
from typing import Final

from turnwire.conform.bench import Bench
from turnwire.conform.command import run_command
from turnwire.conform.given import FailedError, NotApplicableError
from turnwire.conform.play import Play

POLL_S: Final = 0.05
"""Between two runs of the command."""
_NOT_RUN: Final = frozenset({126, 127})
"""What a shell says of a command that it cannot run."""


async def expect_busy(bench: Bench, play: Play) -> None:
    """Check that the command, if there is one, sees the turn that runs.

    Raises:
        NotApplicableError: it does not, so it cannot show the end of a turn.

    """
    command = bench.given.choices.abort_seen
    if not command:
        return
    code = await run_command(command, bench.patience.look_s)
    if play.is_over:
        raise NotApplicableError("the turn was over before --abort-seen had looked at it")
    if code == 0:
        raise NotApplicableError("--abort-seen exited with 0 while a turn ran, so it shows nothing")
    if code is None or code in _NOT_RUN:
        how = "took too long" if code is None else f"cannot be run (exit code {code})"
        raise NotApplicableError(f"--abort-seen {how}")


async def idle_after(bench: Bench, aborted_at: float) -> float | None:
    """Return how many seconds after the abort the command saw an idle agent. None: it never did.

    Without a command, that is at once.
    """
    command, look_s = bench.given.choices.abort_seen, bench.patience.look_s
    if not command:
        return 0.0
    loop = asyncio.get_running_loop()
    while (began_at := loop.time()) - aborted_at <= look_s:
        if await run_command(command, look_s) == 0:
            return began_at - aborted_at
        await asyncio.sleep(POLL_S)
    return None


def expect_idle(bench: Bench, idle_s: float | None, within_s: float, what: str) -> None:
    """Check that the agent was idle soon enough after a hang-up, or a stop.

    Raises:
        FailedError: it was not.

    """
    if idle_s is None:
        look_s = bench.patience.look_s
        raise FailedError(
            f"{look_s:.0f} s after the {what}, --abort-seen still saw a turn that runs"
        )
    if idle_s > within_s:
        raise FailedError(f"--abort-seen saw the end of the turn {idle_s:.1f} s after the {what}")
