"""The doctor finds nothing before the proxies of `deploy/`, before others what is wrong."""

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chaos.fronts import Front
from gateway.agent_process import AgentProcess
from gateway.served import Served
from gateway.tokens import token
from proxies.fronts import FRONTS, installed
from proxies.ill import ILLS, ill
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import CannotRunError, Target
from turnwire.doctor.findings import Code, Severity

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_scope="module"),
]

ORIGIN = "https://app.example"
TALK = "tell me a long story"
STORY_S = 20
"""More than it takes to tell it."""
HANG = "hang"


class Storyteller(AgentProcess):
    """As fast as a model."""

    def __init__(self) -> None:
        super().__init__()
        self._command = (
            sys.executable,
            "-m",
            "turnwire_lab",
            "agent",
            "--port",
            "0",
            "--pace",
            "0.03",
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reports(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, Report]]:
    """All examinations, some at a time: most of each is waiting."""
    installed()
    at_once = asyncio.Semaphore(6)
    found: dict[str, Report] = {}

    async def examine(name: str, kind: type[Front], within_s: float, *, idle: bool = False) -> None:
        front = kind(tmp_path_factory.mktemp("front"), (port, port))
        try:
            async with at_once, front:
                found[name] = await _examined(front, within_s, idle=idle)
        except (CannotRunError, TimeoutError) as exc:
            pytest.fail(f"{name}: {exc!r}\n{front.log()[-1000:]}")

    async with (
        Storyteller() as agent,
        Served(agent.url, cors_origins=ORIGIN) as gateway,
        asyncio.TaskGroup() as group,
    ):
        port = gateway.port
        for kind in FRONTS:
            group.create_task(examine(kind.__name__, kind, STORY_S))
        for name, kind, edits, code in ILLS:
            silent = code is Code.CUT_IN_SILENCE
            # Envoy closes a second after it gave up.
            within_s = 6 if silent else 4
            group.create_task(examine(name, ill(kind, edits), within_s, idle=silent))
    yield found


async def _examined(front: Front, within_s: float, *, idle: bool) -> Report:
    target = Target(
        url=front.url,
        session=f"s{front.port}",
        token=token(),
        origin=ORIGIN,
        within_s=within_s,
    )
    prompt = HANG if idle else TALK
    return await Checkup(target).run(prompt, quiet_prompt=HANG, idle=idle)


def wrong(report: Report) -> set[Code]:
    return {each.code for each in report.findings if each.severity is not Severity.NOTE}


@pytest.mark.parametrize("kind", FRONTS)
async def test_the_proxies_of_deploy_are_well(
    kind: type[Front], reports: dict[str, Report]
) -> None:
    report = reports[kind.__name__]

    assert wrong(report) == set(), report.findings
    assert {each.code for each in report.findings} <= {Code.HTTP1_ONLY, Code.BUFFERING_ALLOWED}
    assert report.turns == 2


@pytest.mark.parametrize(("name", "code"), [(each[0], each[-1]) for each in ILLS])
async def test_what_is_wrong_is_found(name: str, code: Code, reports: dict[str, Report]) -> None:
    found = {each.code: each for each in reports[name].findings}

    assert code in wrong(reports[name]), reports[name]
    assert len(found[code].mend) > 1 or reports[name].proxy is not None
