"""Another process that uses a journal: a program, and how tests start it.

second_process.py write ADDRESS LEASE_S SESSION...
    claims each session and appends to it, three rows and an effect at a time, and prints
    `SESSION HEAD` for what is committed. `SESSION lost` ends one of them.
second_process.py answer ADDRESS SESSION
    appends a row for each line of its input, and prints when it was committed.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from turnwire_agent.journal.open import open_journal
from turnwire_agent.journal.port import Effect, Journal, LeaseLostError, Row


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def write(journal: Journal, session: str, lease_s: float) -> None:
    lease = await journal.claim(session, "child", lease_s)
    assert lease is not None
    number = 0
    while True:
        number += 1
        rows = [Row(kind="k", body=b"%d.%d.%d" % (lease.epoch, number, part)) for part in range(3)]
        effect = Effect(
            f"{session}/{lease.epoch}.{number}", session, "hash", "done", b"%d" % number
        )
        try:
            appended = await journal.append(lease, rows, effects=[effect] if number % 2 else [])
        except LeaseLostError:
            say(f"{session} lost")
            return
        say(f"{session} {appended.head}")


async def answer(journal: Journal, session: str) -> None:
    lease = await journal.claim(session, "child", 60)
    assert lease is not None
    say("ready")
    while await asyncio.to_thread(sys.stdin.readline):
        await journal.append(lease, [Row(kind="k", body=b"")])
        say(str(time.time()))


async def main(what: str, address: str, *words: str) -> None:
    journal = open_journal(address)
    await journal.start()
    if what == "write":
        await asyncio.gather(*(write(journal, each, float(words[0])) for each in words[1:]))
    else:
        await answer(journal, words[0])
    await journal.aclose()


class SecondProcess:
    """The program as it runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        assert line, "the second process has ended"
        return line.decode().strip()

    def tell(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def rest(self) -> list[str]:
        """Wait for its end, and return the lines that nobody has read."""
        assert self._process.stdout is not None
        lines = (await self._process.stdout.read()).decode().splitlines()
        await self._process.wait()
        return lines


@asynccontextmanager
async def second_process(*words: str) -> AsyncIterator[SecondProcess]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield SecondProcess(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
