"""A prompt that is sent while the page looks whether a turn runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Literal

import pytest
from playwright.async_api import Route, expect

from e2e.talking import Talk
from gateway import waiting

End = Literal["response", "requestfailed"]

HEAD_START_S: Final = 0.5
"""Enough for a prompt that does not wait for the look to be asked about by the agent."""
PATIENCE_S: Final = 3.0
"""After which the page gives up its look, and sends the prompt."""


@asynccontextmanager
async def held_up(talk: Talk, *, there: bool, end: End = "response") -> AsyncIterator[None]:
    """The page is loaded again, and hears at the end of the block what runs: the look was `there`
    at the gateway before the block, or is after it. `end`: of the look, as the page has it."""
    over = asyncio.Event()

    async def late(route: Route) -> None:
        found = await route.fetch() if there else None
        await over.wait()
        await (route.continue_() if found is None else route.fulfill(response=found))

    await talk.leave()
    await talk.page.route("**/stream", late, times=1)
    async with talk.page.expect_request("**/stream"):
        await talk.come_back()
    await expect(talk.page.get_by_role("main")).to_have_attribute("aria-busy", "false")
    async with talk.page.expect_event(end, lambda told: told.url.endswith("/stream")):
        yield
        over.set()


@pytest.mark.parametrize(
    ("look_s", "end"), [(HEAD_START_S, "response"), (1 + PATIENCE_S, "requestfailed")]
)
async def test_its_turn_is_not_taken_for_over(talk: Talk, look_s: float, end: End) -> None:
    async with held_up(talk, there=True, end=end):
        await talk.ask("ask me: tea or coffee?")
        await asyncio.sleep(look_s)
    tea = talk.page.get_by_role("button", name="tea", exact=True)
    await expect(tea).to_be_visible()
    # Only a page that knows of the turn breaks its stream off and goes on with another.
    async with talk.page.expect_request("**/stream"):
        await talk.page.evaluate("() => dispatchEvent(new Event('online'))")
    await expect(talk.page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    await tea.click()
    await expect(talk.answer).to_contain_text("you said tea")
    await talk.until_idle()
    assert [run.reason for run in talk.runs] == ["end_turn"]


async def test_it_goes_back_if_a_turn_runs(talk: Talk) -> None:
    other = await talk.tab()
    async with held_up(talk, there=False):
        await other.get_by_role("textbox", name="Message").fill("tell me a long story")
        await other.keyboard.press("Enter")
        await expect(other.locator("[data-role=assistant]")).to_contain_text("Chapter 1.")
        await talk.ask("what is 1+2?")  # last: from here on the page's patience counts

    await expect(talk.answer).to_contain_text("Chapter 2.")
    box = talk.page.get_by_role("textbox", name="Message")
    await expect(box).to_have_value("what is 1+2?")
    await talk.until_idle()
    await box.press("Enter")
    await expect(talk.answer).to_contain_text("1+2 is 3.")
    await talk.until_idle()
    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]


async def test_a_suggestion_that_is_pressed_twice_is_asked_once(talk: Talk) -> None:
    async with held_up(talk, there=True):
        suggestion = talk.page.locator(".welcome button").first
        await suggestion.dblclick()
        await asyncio.sleep(HEAD_START_S)
    await expect(talk.answers).to_have_count(1)
    await talk.until_idle()
    await expect(talk.prompts).to_have_count(1)
    assert len(talk.runs) == 1


async def test_a_history_that_comes_late_does_not_undo_what_was_said_since(talk: Talk) -> None:
    """Nobody waits for its look any more."""
    over, asked = asyncio.Event(), asyncio.Event()
    looks: list[str] = []

    async def late(route: Route) -> None:
        found = await route.fetch()
        asked.set()
        await over.wait()
        await route.fulfill(response=found)

    await talk.leave()
    await talk.page.route("**/messages?**", late, times=1)
    await talk.come_back()
    await asyncio.wait_for(asked.wait(), waiting.PATIENCE_S)
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Chapter 1.")
    talk.page.on("request", lambda request: looks.append(request.url))
    over.set()
    await expect(talk.answer).to_contain_text("this is the end.")
    await talk.until_idle()
    await expect(talk.page.get_by_role("main")).to_have_attribute("aria-busy", "false")
    assert not [url for url in looks if url.endswith("/stream")]
    assert [run.reason for run in talk.runs] == ["end_turn"]
