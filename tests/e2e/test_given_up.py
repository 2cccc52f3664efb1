"""A turn that the gateway gave up: the agent was told to stop, and its history says no more."""

from collections.abc import AsyncIterator
from typing import Final

import pytest_asyncio
from playwright.async_api import expect

from e2e.conftest import NewTalk
from gateway.waiting import until
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.stage import PATIENCE, Stage

GIVEN_UP: Final = "This answer failed: the agent stopped responding"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage() -> AsyncIterator[Stage]:
    """With a gateway that waits for no agent."""
    impatient = {**PATIENCE, "TURNWIRE_IDLE_S": "1", "TURNWIRE_KEEPALIVE_S": "1"}
    async with Stage(ReferenceAgent(Habits(pace_s=0.006)), settings=impatient) as stage:
        yield stage


async def test_a_reload_shows_again_what_the_page_saw(new_talk: NewTalk) -> None:
    talk = await new_talk()
    await talk.ask("hang")
    await expect(talk.notice).to_contain_text("The gateway waited")
    assert [run.reason for run in talk.runs] == ["canceled"]
    await talk.reload()
    await expect(talk.answer.locator(".ended")).to_have_text(GIVEN_UP)
    await talk.answer.get_by_role("button", name="Answer again").click()
    await until(lambda: len(talk.runs) == 2)
    await expect(talk.notice).to_contain_text("The gateway waited")
    assert len(talk.runs) == 2
