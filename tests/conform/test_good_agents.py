"""The lab's agents pass every scenario that is applicable to their wire."""

from typing import Any

import pytest
from msgspec.structs import replace

from conform.trials import PATIENCE, Trial, big_result, failures
from turnwire.conform.given import Choices
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits as AgUiHabits
from turnwire_lab.agents.session_agent.habits import Habits as SessionHabits
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.frames import Habits as V2Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

PATIENT = replace(PATIENCE, greet_s=1.5, greet_most_s=3.0, abort_s=1.0, stop_s=3.0, look_s=5.0)
"""A busy machine may make a good agent slow."""
AGENTS: dict[str, Any] = {
    "v2": lambda: ReferenceAgent(V2Habits(pace_s=0.001, slow_s=0.008)),
    "session-agent": lambda: SessionAgent(SessionHabits(pace_s=0.001, slow_s=0.008, revision="V")),
    "ag-ui": lambda: AgUiAgent(AgUiHabits(pace_s=0.002, slow_s=0.008)),
}


@pytest.mark.parametrize("wire", AGENTS)
async def test_it_passes_what_is_applicable(wire: str) -> None:
    async with AGENTS[wire]() as agent:
        agent._tools = {**agent._tools, "search": big_result}
        report = await Trial(wire, choices=Choices(is_long=True), patience=PATIENT).report(
            agent.url
        )
    assert not failures(report)
    assert report.is_well
