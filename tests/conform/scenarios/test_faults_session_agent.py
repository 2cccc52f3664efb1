"""Each planted fault of an agent of `session-agent` is named by its scenario, and by no other."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from conform.trials import PROMPTS, Trial, failures
from turnwire.conform.run import Report
from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.session_agent.session import Session
from turnwire_lab.agents.session_agent.state.channel import Channel
from turnwire_lab.agents.session_agent.state.tally import Stopped

pytestmark = [pytest.mark.sockets, pytest.mark.no_cover]


class Sound(SessionAgent):
    """An agent without a fault. Each subclass has one."""

    def __init__(self, revision: Revision = "V", **habits: Any) -> None:
        super().__init__(Habits(revision=revision, pace_s=0.001, slow_s=0.008, **habits))

    def _new_session(self, session_id: str) -> Session:
        session = super()._new_session(session_id)
        sockets = session._state.sockets
        tell = sockets.tell

        def changed(frame: Json) -> None:
            for each in self.changed(frame):
                tell(each)

        sockets.tell = changed  # type: ignore[method-assign]
        self.harm(session)
        return session

    def changed(self, frame: Json) -> list[Json]:
        """What is sent in place of a frame."""
        return [frame]

    def harm(self, session: Session) -> None:
        """Change the session."""


class NeverEnds(Sound):
    def changed(self, frame: Json) -> list[Json]:
        parts = frame.get("data", {}).get("parts", [])
        is_end = any(part.get("type") == "finish" for part in parts if isinstance(part, dict))
        is_idle = frame.get("status") == "idle" or frame["type"] == "status"
        return [] if is_end or is_idle else [frame]


class GreetsLate(Sound):
    def __init__(self) -> None:
        super().__init__("R", init_delay_s=0.45)


class SoundOfR(Sound):
    def __init__(self) -> None:
        super().__init__("R")


class TellsTwice(Sound):
    def changed(self, frame: Json) -> list[Json]:
        is_tenth = frame["type"] == "chunk" and frame["content"].startswith("10 of")
        return [frame, frame] if is_tenth else [frame]


class IgnoresAborts(Sound):
    def harm(self, session: Session) -> None:
        def abort(_channel: Channel) -> tuple[Stopped, ...]:
            return ()

        session._runner.abort = abort  # type: ignore[method-assign,assignment]


FAULTS: dict[type[Sound], str] = {
    Sound: "",
    SoundOfR: "",
    NeverEnds: "one-turn",
    GreetsLate: "greets",
    TellsTwice: "each-delta-once",
    IgnoresAborts: "hang-up-aborts",
}


async def played(kinds: Mapping[type[Sound], str]) -> list[Report]:
    prompts = replace(PROMPTS, unicode=PROMPTS.plain, big_output="")

    async def play(kind: type[Sound]) -> Report:
        async with kind() as agent:
            return await Trial("session-agent", prompts).report(agent.url)

    return await asyncio.gather(*map(play, kinds))


async def test_each_fault_is_named_by_its_scenario_alone() -> None:
    reports = await played(FAULTS)
    seen = {kind: failures(report) for kind, report in zip(FAULTS, reports, strict=True)}
    for kind, expected in FAULTS.items():
        if set(seen[kind]) != {expected} - {""}:  # on a busy machine: once more, and alone
            (again,) = await played({kind: expected})
            seen[kind] = failures(again)
    assert {kind.__name__: set(found) for kind, found in seen.items()} == {
        kind.__name__: {expected} - {""} for kind, expected in FAULTS.items()
    }, seen
