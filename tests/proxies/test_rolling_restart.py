"""Gateways are restarted one after the other, under load; behind nginx and HAProxy: tests/chaos."""

from pathlib import Path

import pytest

from chaos.fronts import Front
from chaos.test_rolling_restart import Fleet, _roll, _think
from gateway.agent import ScriptedAgent
from proxies.fronts import WHEELS

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(600)]


@pytest.mark.parametrize("kind", WHEELS)
async def test_a_rolling_restart_costs_no_turn(kind: type[Front], tmp_path: Path) -> None:
    async with (
        ScriptedAgent(_think) as agent,
        Fleet(agent.url(), lameduck_s=2) as fleet,
        kind(tmp_path, fleet.ports) as front,
    ):
        await _roll(front, fleet)
