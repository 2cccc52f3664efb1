"""A turn is broken in its middle, in every way a user can meet: what stands there in the end is
what would stand there without."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from e2e.conftest import NewTalk
from e2e.shape import shape
from e2e.silence import fall_silent
from e2e.talking import Talk
from gateway.waiting import until
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.faultproxy import FaultProxy, Harm, Way
from turnwire_lab.stage import Stage

STORY: Final = "tell me a long story"
END: Final = "this is the end."
STORY_MS: Final = 60_000
"""A busy machine takes more than 15 seconds for a story."""
SURVIVED: Final = "The connection broke; nothing was lost."
SILENT: Final = "The connection fell silent; nothing was lost."
BROKEN: Final = r"ERR_|status 503|503 \(Service"
"""What a browser says of a line or a gateway that is gone."""
DEAD: Final = Way(cut_after=0, harm=Harm.RESET)
HEARD_BYTES: Final = 6_000
"""More than the page asks for before it prompts, less than the story."""

Break = Callable[[Talk, FaultProxy], Awaitable[None]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage() -> AsyncIterator[Stage]:
    """With an agent that speaks a little faster: a story is waited for six times."""
    async with Stage(ReferenceAgent(Habits(pace_s=0.005))) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def line(stage: Stage) -> AsyncIterator[FaultProxy]:
    """The line between the browser and what serves the page."""
    assert stage.page is not None
    async with FaultProxy(int(stage.page.url.rsplit(":", 1)[1].strip("/"))) as line:
        yield line


async def broken(talk: Talk) -> None:
    """Until the page knows."""
    await expect(talk.page.locator("[data-agent-status=reconnecting]")).to_be_visible()


async def reload(talk: Talk, _: FaultProxy) -> None:
    await talk.reload()


async def kill_gateway(talk: Talk, _: FaultProxy) -> None:
    talk.stage.gateway.kill()
    await talk.stage.gateway.restart()


async def cut_line(talk: Talk, line: FaultProxy) -> None:
    line.there = line.back = DEAD
    line.cut()
    await broken(talk)
    line.there = line.back = Way()


async def go_offline(talk: Talk, line: FaultProxy) -> None:
    await talk.context.set_offline(True)
    line.cut()
    await broken(talk)
    await talk.context.set_offline(False)


async def change_networks(talk: Talk, _: FaultProxy) -> None:
    """The stream of before is not known to be dead: nobody tells the browser."""
    async with talk.page.expect_request("**/stream"):
        await talk.page.evaluate("() => dispatchEvent(new Event('online'))")


async def talked(talk: Talk, line: FaultProxy, harm: Break | None = None) -> list[Any]:
    """Two turns, the second with a break in its middle: what stands there then."""
    await talk.ask("what is 12*7?")
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()
    await talk.ask(STORY)
    await expect(talk.answer).to_contain_text("Chapter 1.")
    if harm is not None:
        await harm(talk, line)
    await expect(talk.answer).to_contain_text(END, timeout=STORY_MS)
    await talk.until_idle()
    await expect(talk.notice).to_be_hidden()
    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]
    return await shape(talk.page)


async def asked(talk: Talk, line: FaultProxy, harm: Break | None = None) -> list[Any]:
    """A question and an approval, with a break while each is open: what stands there then.

    While an approval is open, no stream is, and no change of networks is noticed.
    """
    await talk.ask("ask me: tea or coffee?")
    tea = talk.page.get_by_role("button", name="tea", exact=True)
    await expect(tea).to_be_visible()
    if harm is not None:
        await harm(talk, line)
    await tea.click()
    await expect(talk.answer).to_contain_text("you said tea")
    await talk.until_idle()
    await talk.ask("approve 12*7")
    approve = talk.page.get_by_role("button", name="Approve", exact=True)
    await expect(approve).to_be_visible()
    if harm is not None and harm is not change_networks:
        await harm(talk, line)
    await approve.click()
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()
    await expect(talk.notice).to_be_hidden()
    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]
    return await shape(talk.page)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def undisturbed(browser: Browser, stage: Stage, line: FaultProxy) -> dict[str, list[Any]]:
    shapes = {}
    for way in (talked, asked):
        async with Talk(browser, stage) as talk:
            shapes[way.__name__] = await way(talk, line)
            talk.check()
    return shapes


@pytest.mark.parametrize(
    "harm", [reload, kill_gateway, cut_line, go_offline], ids=lambda harm: harm.__name__
)
async def test_a_turn_that_is_broken_ends_as_if_it_was_not(
    new_talk: NewTalk, line: FaultProxy, undisturbed: dict[str, list[Any]], harm: Break
) -> None:
    talk = await new_talk(url=f"http://127.0.0.1:{line.port}/")
    if harm is not reload:
        talk.expects(BROKEN)
    assert await talked(talk, line, harm) == undisturbed["talked"]


@pytest.mark.parametrize(
    "harm", [reload, kill_gateway, change_networks], ids=lambda harm: harm.__name__
)
async def test_what_is_open_stays_open(
    new_talk: NewTalk, line: FaultProxy, undisturbed: dict[str, list[Any]], harm: Break
) -> None:
    talk = await new_talk(url=f"http://127.0.0.1:{line.port}/")
    if harm is not reload:
        talk.expects(BROKEN)
    assert await asked(talk, line, harm) == undisturbed["asked"]


async def test_a_line_that_falls_silent_is_given_up(
    new_talk: NewTalk, line: FaultProxy, undisturbed: dict[str, list[Any]]
) -> None:
    talk = await new_talk(url=f"http://127.0.0.1:{line.port}/")
    await talk.page.clock.install()
    await talk.ask("what is 12*7?")
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()
    talk.expects(BROKEN)
    line.cut()
    line.back = Way(cut_after=HEARD_BYTES, harm=Harm.SWALLOW)
    cut_before = line.broken
    await talk.ask(STORY)
    await expect(talk.answer).to_contain_text("A long story, then.")
    await until(lambda: line.broken > cut_before)
    line.back = Way(cut_after=0, harm=Harm.SWALLOW)
    await fall_silent(talk.page, talk.notice, 25_000)
    await expect(talk.notice).to_contain_text("No sign of life came for a while.")
    line.back = Way()
    line.cut()

    await expect(talk.answer).to_contain_text(END, timeout=STORY_MS)
    await expect(talk.answer.get_by_role("status")).to_have_text(SILENT)
    await expect(talk.notice).to_be_hidden()
    await talk.until_idle()
    assert await shape(talk.page) == undisturbed["talked"]
