"""What the doctor says of hang-ups that it cannot judge."""

from collections.abc import AsyncIterator

import pytest

from doctor.demo_agent import LONG, DemoAgent
from gateway.process import command, environ
from gateway.running import Gateway
from gateway.tokens import token
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import Target
from turnwire.doctor.findings import Code, Finding

pytestmark = pytest.mark.sockets


@pytest.fixture
async def lab() -> AsyncIterator[DemoAgent]:
    async with DemoAgent() as agent:
        yield agent


async def examined(gateway: Gateway, prompt: str, quiet_prompt: str | None = None) -> Report:
    target = Target(url=gateway.url, session="s1", token=token(), within_s=1.5)
    return await Checkup(target).run(prompt, quiet_prompt=quiet_prompt)


def noted(report: Report) -> dict[Code, Finding]:
    return {each.code: each for each in report.findings if each.code is not Code.HTTP1_ONLY}


async def test_an_agent_that_tells_no_running_turns() -> None:
    async with DemoAgent("--no-init") as agent, Gateway(agent.url, dial_s=0.3) as gateway:
        report = await examined(gateway, LONG)

    assert set(noted(report)) == {Code.NO_HISTORY, Code.ABORT_UNKNOWN, Code.UNFINISHED}
    assert "did not tell of it" in noted(report)[Code.ABORT_UNKNOWN].seen
    assert report.is_well


@pytest.mark.parametrize("quiet_prompt", [None, "hang"])
async def test_an_agent_that_tells_them(lab: DemoAgent, quiet_prompt: str | None) -> None:
    async with Gateway(lab.url) as gateway:
        report = await examined(gateway, LONG, quiet_prompt)

    assert set(noted(report)) == {Code.UNFINISHED}  # it was given too little time for that
    assert report.figures["gone_s"] > 0


async def test_the_default_prompt_is_long_enough_for_the_demos_agent(lab: DemoAgent) -> None:
    """The findings of one that is not name an option that is."""
    async with Gateway(lab.url) as gateway:
        options = ("--url", gateway.url, "--token", token(), "--session", "s1", "--yes")
        again, longer, _ = await command("doctor", *options, env=environ())
        short = ("--prompt", "say nothing")
        code, out, _ = await command("doctor", *options, *short, env=environ())

    assert (code, again) == (0, 0)
    assert "note inconclusive: the whole turn took 0." in out
    assert "note abort-untried: the second turn was over" in out
    assert out.count(f'Mend: Give a longer one: --prompt "{LONG}", or ') == 2
    assert "note inconclusive" not in longer
    assert "note abort-" not in longer
