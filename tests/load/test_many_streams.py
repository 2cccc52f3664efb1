"""How many streams one process holds, and what one costs. By hand: `make load` (6 minutes)."""

import asyncio
import resource
import sys

import pytest

from load.child import Agent, Crowd, crowd
from load.crowd import Ended, Plan
from load.watching import KIB, Watched

pytestmark = [pytest.mark.sockets, pytest.mark.long, pytest.mark.timeout(600)]

IDLE = 9500
OWN_DESCRIPTORS = 100
OPENED_A_SECOND = 150.0
IDLE_S = 50
KEEPALIVES = 3
"""In that time, beside the one that flushes the headers: one every 15 s, or a little sooner."""

WARM_UP = 300
BUSY = 1000
FRAMES_A_SECOND = 5
BUSY_S = 45
"""Of which the first are spent on opening them, and are not measured."""


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        sys.stderr.write(f"\n{text}\n")


def plan(gateway: Watched, prompt: str, streams: int, rate: float = OPENED_A_SECOND) -> Plan:
    return Plan(port=gateway.port, prompt=prompt, streams=streams, rate=rate)


async def test_thousands_of_idle_streams_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """Two descriptors each: as many as one process may have open, if not `IDLE`."""
    may_open = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    streams = min(IDLE, (may_open - OWN_DESCRIPTORS) // 2)
    async with (
        Agent() as agent,
        Watched(agent.url, max_streams=0, idle_s=900) as gateway,
    ):
        await crowd(plan(gateway, "hi", WARM_UP))
        before = await gateway.held()
        async with Crowd(plan(gateway, "idle", streams)) as opened:
            await opened.all_open(300)
            full = await gateway.held()
            each = (full.rss_bytes - before.rss_bytes) / streams / KIB
            tell(capsys, f"{streams} idle streams: {each:.1f} KiB each; {full}; before {before}")
            used_s = gateway.cpu_s
            await asyncio.sleep(IDLE_S)
            tell(capsys, f"{IDLE_S} s idle cost {gateway.cpu_s - used_s:.1f} s of processor")
            kept = await gateway.held()
            agent.end_all()
            ended = await opened.ended(120)
        after = await gateway.settled(before)
        tell(capsys, f"{_report(ended)}; {after} are left")
        async with Crowd(plan(gateway, "idle", streams)) as once_more:
            await once_more.all_open(300)
            again = await gateway.held()
            agent.end_all()
            tell(capsys, f"Once more: {again}; {_report(await once_more.ended(120))}")
        await gateway.settled(before)

        assert full.streams == kept.streams == streams
        assert ended.whole == streams, ended.problems
        assert ended.keepalives[0] > KEEPALIVES
        assert (await gateway.outcomes()) == {"completed": WARM_UP + 2 * streams}
        assert each <= 40
        assert (kept.rss_bytes - full.rss_bytes) / streams < KIB
        assert again.rss_bytes < 1.1 * after.rss_bytes


async def test_a_thousand_busy_streams_lose_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    async with Agent() as agent, Watched(agent.url, max_streams=0) as gateway:
        await crowd(plan(gateway, "hi", WARM_UP))
        before = await gateway.held()
        prompt = f"pace {FRAMES_A_SECOND} {FRAMES_A_SECOND * BUSY_S}"
        used_s = gateway.cpu_s
        ended = await crowd(plan(gateway, prompt, BUSY), within_s=300)
        used_s = gateway.cpu_s - used_s
        after = await gateway.settled(before)
        tell(capsys, f"{_report(ended)}; {used_s:.1f} s of processor; {after} are left")

        assert ended.whole == BUSY, ended.problems
        assert ended.deltas == BUSY * FRAMES_A_SECOND * BUSY_S
        assert (await gateway.outcomes()) == {"completed": WARM_UP + BUSY}


def _report(ended: Ended) -> str:
    median, late, latest = ended.latencies_ms
    timed = f", frames {median:.2f} / {late:.2f} / {latest:.2f} ms" if latest else ""
    fewest, most = ended.keepalives
    return (
        f"{ended.whole} of {ended.streams} whole, {ended.deltas} deltas{timed}, "
        f"{fewest} to {most} keepalives each"
    )
