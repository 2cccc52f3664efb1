"""An agent that dies where it is told to: at a commit, or wherever its event loop is.

Or it is stopped there: it does not know that it was away when it goes on. It is forked from a
process that has imported all of it, so that a death costs a moment. The loop counts its rounds from
the first prompt on: between two rounds every task stands at an await.
"""

import asyncio
import ctypes
import os
import selectors
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.kill.world import act
from runtime.llm.call.called import Key, model
from turnwire_agent.access.access import Access
from turnwire_agent.access.listening import listener
from turnwire_agent.drivers.answers import ProviderAnswers
from turnwire_agent.drivers.model import ModelDriver
from turnwire_agent.host.replica import Replica
from turnwire_agent.host.server import HostServer
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.open import open_journal
from turnwire_agent.journal.port import (
    Appended,
    Change,
    Command,
    Journal,
    Lease,
    LeaseLostError,
    Row,
)
from turnwire_agent.journal.postgres.journal import PostgresJournal
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings
from turnwire_agent.llm.retry import Retries
from turnwire_agent.loop.agent import Agent
from turnwire_agent.tools.contract import Context, Tool, Tools
from turnwire_agent.tools.contract import Effect as Policy
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread
from turnwire_agent.v2.frames import Frames

LEASE_S = 0.5
PR_SET_PDEATHSIG = 1
PLANTED = ExitStack()
"""Keeps what is planted, as long as the process lives."""


@dataclass(frozen=True)
class Death:
    """Where to die. 0: nowhere."""

    before_commit: int = 0
    after_commit: int = 0
    at_round: int = 0
    in_tool: str = ""
    """Once this tool has done what it does, before anybody knows."""
    stops: bool = False
    """SIGSTOP instead of SIGKILL: whoever sees it may let the agent go on."""

    def come(self) -> None:
        """Die, or stand still for a while."""
        os.kill(os.getpid(), signal.SIGSTOP if self.stops else signal.SIGKILL)


NOWHERE = Death()


class MortalLoop(asyncio.SelectorEventLoop):
    """Dies at the beginning of one of its rounds."""

    def __init__(self, death: Death) -> None:
        super().__init__(selectors.DefaultSelector())
        self._death = death
        self.counts = False
        self.rounds = 0

    def _run_once(self) -> None:
        if self.counts:
            self.rounds += 1
            if self.rounds == self._death.at_round:
                self._death.come()
        super()._run_once()  # type: ignore[misc] # the loop's own


class MortalJournal:
    """Dies before or after one of its transactions. It counts from the first command on."""

    def __init__(self, journal: Journal, death: Death, loop: MortalLoop, report: int) -> None:
        self._journal = journal
        self._death = death
        self._loop = loop
        self._report = report
        self._commits = 0
        self._refused = 0
        """Writes that came too late: somebody else held the session by then."""
        self._counts = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def follow(self, session: str, owner: str = "") -> AsyncGenerator[Change, None]:
        return self._journal.follow(session, owner)

    async def put(self, session: str, command: Command) -> bool:
        self._counts = self._loop.counts = True
        self._before()
        new = await self._journal.put(session, command)
        self._after()
        return new

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        self._before()
        lease = await self._journal.claim(session, owner, lease_s)
        self._after()
        return lease

    async def append(self, lease: Lease, rows: Sequence[Row], **more: Any) -> Appended:
        self._before()
        try:
            appended = await self._journal.append(lease, rows, **more)
        except LeaseLostError:
            self._refused += 1
            self._tell()
            raise
        self._after()
        return appended

    def _before(self) -> None:
        self._commits += self._counts
        if self._counts and self._commits == self._death.before_commit:
            self._death.come()

    def _after(self) -> None:
        if self._counts and self._commits == self._death.after_commit:
            self._death.come()
        self._tell()

    def _tell(self) -> None:
        counts = (self._commits, self._loop.rounds, self._refused)
        os.pwrite(self._report, " ".join(f"{each:9d}" for each in counts).encode(), 0)


def tools_of(world: Path, death: Death = NOWHERE) -> tuple[Tool, ...]:
    """One tool of each policy, and one that a person must allow."""

    def do(name: str, key: str) -> None:
        act(world, name, key)
        if name == death.in_tool:
            death.come()

    @tool(effect=Policy.SAFE)
    async def read(what: str, context: Context) -> str:
        """Read."""
        do("read", context.key)
        return f"read {what}"

    @tool(effect=Policy.KEYED)
    async def pay(what: str, context: Context) -> str:
        """Pay."""
        do("pay", context.key)
        await asyncio.sleep(0.002)
        return f"paid {what}"

    @tool(effect=Policy.ONCE)
    async def mail(what: str, context: Context) -> str:
        """Send mail."""
        await asyncio.sleep(0.002)
        do("mail", context.key)
        await asyncio.sleep(0.002)
        return f"sent {what}"

    @tool(effect=Policy.ONCE, approval="always")
    async def erase(what: str, context: Context) -> str:
        """Erase."""
        do("erase", context.key)
        return f"erased {what}"

    @tool(effect=Policy.ONCE)
    async def stall(what: str, context: Context) -> str:
        """Do something, and never end."""
        do("stall", context.key)
        await asyncio.Event().wait()
        return what

    return read, pay, mail, erase, stall


async def serve(
    port: int, journal_url: str, provider: str, world: Path, death: Death, report: int
) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MortalLoop)
    store = (
        PostgresJournal(journal_url, connections=2, timeout_s=2)  # many agents share one server
        if journal_url.startswith("postgres")
        else open_journal(journal_url)
    )
    journal: Any = MortalJournal(store, death, loop, report)
    settings = HostSettings(lease_s=LEASE_S, retry_s=0.02, stop_s=0.3)
    calls = CallSettings(client=http_client(), retries=Retries(first_wait_s=0.01))
    driver = ModelDriver(
        agent=Agent(model=model(provider), tools=Tools(tools_of(world, death))),
        answers=ProviderAnswers(Key(), calls),
        tools=ToolRunner(ToolThread()),
    )
    listening, loopback = listener(f"127.0.0.1:{port}", has_token=False)
    replica = Replica(journal, driver, Frames(), settings)
    async with HostServer(replica, listening, Access(loopback=loopback, tokens=None), settings):
        os.write(sys.stdout.fileno(), f"serves {os.getpid()}\n".encode())
        await asyncio.Event().wait()


def run(port: int, journal_url: str, provider: str, world: str, report: str, death: Death) -> None:
    file = os.open(report, os.O_RDWR | os.O_CREAT, 0o600)
    with asyncio.Runner(loop_factory=lambda: MortalLoop(death)) as runner:
        runner.run(serve(port, journal_url, provider, Path(world), death, file))


def plant() -> None:
    """Plant the fault that this run of the tests is about, if there is one: see `mutants`."""
    if name := os.environ.get("PLANTED"):
        from mutants.every import FAULTS  # noqa: PLC0415
        from mutants.fault import planted  # noqa: PLC0415

        PLANTED.enter_context(planted(next(fault for fault in FAULTS if fault.name == name)))


def main() -> None:
    """Fork an agent for each line of standard input: its arguments as JSON."""
    import json  # noqa: PLC0415

    plant()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are nobody's concern
    for line in sys.stdin:
        if os.fork():
            continue
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it ends with the tests
        os.close(0)
        arguments = json.loads(line)
        port, journal, provider, world, report = arguments["run"]
        run(port, journal, provider, world, report, Death(**arguments["death"]))
        os._exit(0)


if __name__ == "__main__":
    main()
