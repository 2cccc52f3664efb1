"""The doctor finds nothing before the proxies of `deploy/`, before others what is wrong."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from msgspec import Struct

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
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
]

ORIGIN = "https://app.example"
TALK = "tell me a long story"
STORY_S = 90
"""Far more than it takes to tell it."""
HANG = "hang"

NO_VERDICT = {Code.BUSY, Code.INCONCLUSIVE, Code.ABORT_UNTRIED, Code.ABORT_UNKNOWN}
"""What a doctor says on a machine that is too busy to judge."""
PATIENCE_S = 300
"""How long it is asked anew then."""


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


class Patient(Struct, frozen=True):
    """A proxy before the doctor, and what there is to find; None: nothing."""

    name: str
    kind: type[Front]
    code: Code | None = None

    @property
    def within_s(self) -> float:
        if self.code is None:
            return STORY_S
        # Envoy closes a second after it gave up.
        return 6 if self.is_silent else 4

    @property
    def is_silent(self) -> bool:
        return self.code is Code.CUT_IN_SILENCE

    def is_judged(self, report: Report) -> bool:
        """Whether the doctor could judge. What it reads to its end has to come to it."""
        told = {each.code for each in report.findings}
        if self.code is None:
            return not told & {*NO_VERDICT, Code.UNFINISHED}
        return self.code in told or not told & NO_VERDICT


PATIENTS = [
    *(Patient(kind.__name__, kind) for kind in FRONTS),
    *(Patient(name, ill(kind, edits), code) for name, kind, edits, code in ILLS),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reports(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, Report]]:
    """All examinations, some at a time, since most of each is waiting; once more alone, each of
    which the doctor says that it could not judge.
    """
    installed()
    at_once = asyncio.Semaphore(6)
    found: dict[str, Report] = {}

    async def examine(patient: Patient) -> None:
        front = patient.kind(tmp_path_factory.mktemp("front"), (port, port))
        try:
            async with at_once, front:
                found[patient.name] = await _examined(front, patient)
        except (CannotRunError, TimeoutError) as exc:
            pytest.fail(f"{patient.name}: {exc!r}\n{front.log()[-1000:]}")

    async with Storyteller() as agent, Served(agent.url, cors_origins=ORIGIN) as gateway:
        port = gateway.port
        async with asyncio.TaskGroup() as group:
            for patient in PATIENTS:
                group.create_task(examine(patient))
        until = time.monotonic() + PATIENCE_S
        for patient in PATIENTS:
            while not patient.is_judged(found[patient.name]) and time.monotonic() < until:
                await examine(patient)
        yield found


async def _examined(front: Front, patient: Patient) -> Report:
    target = Target(
        url=front.url,
        session=f"s{front.port}",
        token=token(),
        origin=ORIGIN,
        within_s=patient.within_s,
    )
    prompt = HANG if patient.is_silent else TALK
    return await Checkup(target).run(prompt, quiet_prompt=HANG, idle=patient.is_silent)


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
