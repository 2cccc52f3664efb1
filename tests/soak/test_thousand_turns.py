"""A thousand turns, one after the other, leave nothing behind."""

import sys

import pytest

from load.child import Agent, crowd
from load.crowd import Plan
from load.watching import KIB, MIB, Watched

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(120)]

WARM_UP = 700
TURNS = 1000


async def test_a_thousand_turns_leave_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    async with Agent() as agent, Watched(agent.url) as gateway:

        def plan(turns: int) -> Plan:
            return Plan(port=gateway.port, prompt="hi", streams=turns, at_once=1)

        await gateway.held()
        await crowd(plan(WARM_UP))
        before = await gateway.held()
        ended = await crowd(plan(TURNS))
        after = await gateway.settled(before)

        with capsys.disabled():
            grown = (after.rss_bytes - before.rss_bytes) / KIB
            sys.stderr.write(f"\n{TURNS} turns: {grown:+.0f} KiB. Then {after}\n")
        assert ended.whole == TURNS, ended.problems
        assert (await gateway.outcomes())["completed"] == WARM_UP + TURNS
        assert after.rss_bytes - before.rss_bytes < MIB
