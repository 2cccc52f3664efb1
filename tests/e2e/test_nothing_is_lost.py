"""What a page must not lose: a prompt that never arrived, a turn that runs on, what was said."""

import asyncio
from typing import Final

from playwright.async_api import Page, Route, expect

from e2e.talking import Talk
from gateway.waiting import PATIENCE_S

HANGING: Final = "until somebody stops me."
BROKEN: Final = r"ERR_FAILED|status 50[03]|50[03] \("
BEFORE: Final = "what is 12*7?"
LATE_S: Final = 4.0
"""After which a prompt has given up a history that does not come."""


async def gone(route: Route) -> None:
    await route.abort()


COUNTED: Final = """() => {
    if (window.openRequests !== undefined) return;
    window.openRequests = 0;
    const fetched = window.fetch;
    window.fetch = (...given) => {
        window.openRequests += 1;
        return fetched(...given).finally(() => (window.openRequests -= 1));
    };
}"""
"""Counts the requests of the page that are under way."""


async def given_up(page: Page, talk: Talk) -> None:
    """Until the page tries no more. Its clock stands still while a request is under way.

    Else the page's limit for a request would end those of a busy machine. A step is much shorter
    than that limit, since a request may begin after the look at whether one is under way.
    """
    await page.evaluate(COUNTED)
    async with asyncio.timeout(PATIENCE_S):
        while "No answer from the gateway" not in await talk.notice.inner_text():
            while await page.evaluate("() => window.openRequests"):  # noqa: ASYNC110 (the page's own)
                await asyncio.sleep(0.01)
            await page.clock.fast_forward(250)


async def had(talk: Talk, prompt: str, answer: str) -> None:
    await talk.ask(prompt)
    await expect(talk.answer).to_contain_text(answer)
    await talk.until_idle()


async def test_a_prompt_that_never_arrived_can_be_sent_after_a_reconnection(talk: Talk) -> None:
    talk.expects(BROKEN)
    await had(talk, BEFORE, "12*7 is 84.")
    await talk.page.clock.install()
    await talk.page.route("**/api/**", gone)
    await talk.ask("what is 6*7?")
    await expect(talk.notice).to_contain_text("Connection lost")
    await given_up(talk.page, talk)
    await talk.page.unroute("**/api/**")
    await talk.page.clock.resume()

    await talk.notice.get_by_role("button", name="Reconnect").click()
    await talk.notice.get_by_role("button", name="Try again").click()

    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await expect(talk.notice).to_be_hidden()
    await expect(talk.prompts).to_have_text([BEFORE, "what is 6*7?"])
    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]


async def test_the_same_prompt_that_never_arrived_is_another(talk: Talk) -> None:
    talk.expects(BROKEN)
    await had(talk, BEFORE, "12*7 is 84.")
    await talk.page.route("**/chat", gone, times=1)
    await talk.ask(BEFORE)

    await talk.notice.get_by_role("button", name="Try again").click()

    await expect(talk.answers).to_have_count(2)
    await talk.until_idle()
    await expect(talk.prompts).to_have_text([BEFORE, BEFORE])
    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]


async def test_a_turn_whose_stop_was_lost_is_not_called_stopped(talk: Talk) -> None:
    talk.expects(BROKEN)
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text(HANGING)
    stop = talk.page.get_by_role("button", name="Stop", exact=True)
    await talk.page.route("**/stop", gone, times=1)
    async with talk.page.expect_response("**/stream"):
        await talk.stop()

    await expect(stop).to_be_enabled()
    await expect(talk.answer).to_contain_text(HANGING)
    await expect(talk.answer).not_to_contain_text("was stopped")
    assert [run.reason for run in talk.runs] == [None]
    await talk.stop()
    await talk.until_idle()
    await expect(talk.page.get_by_role("main")).to_contain_text("This answer was stopped")
    await expect(talk.answers).to_have_count(1)
    assert [run.reason for run in talk.runs] == ["canceled"]


async def test_a_history_that_came_too_late_is_asked_for_again(talk: Talk) -> None:
    await had(talk, BEFORE, "12*7 is 84.")
    over = asyncio.Event()

    async def late(route: Route) -> None:
        found = await route.fetch()
        await over.wait()
        await route.fulfill(response=found)

    await talk.leave()
    await talk.page.route("**/messages?**", late, times=1)
    await talk.come_back()
    await talk.ask("what is 6*7?")
    await asyncio.sleep(LATE_S)
    over.set()

    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await talk.until_idle()
    await expect(talk.prompts).to_have_text([BEFORE, "what is 6*7?"])


async def test_a_history_that_was_refused_can_be_tried_again(talk: Talk) -> None:
    talk.expects(BROKEN)
    await had(talk, BEFORE, "12*7 is 84.")
    await talk.leave()
    refused = {"status": 500, "json": {"error": "Something broke"}}
    await talk.page.route("**/messages?**", lambda route: route.fulfill(**refused), times=1)
    await talk.come_back()

    await talk.notice.get_by_role("button", name="Reconnect").click()

    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await expect(talk.notice).to_be_hidden()
    assert len(talk.runs) == 1


async def test_a_turn_that_could_not_be_looked_for_is_not_asked_for_again(talk: Talk) -> None:
    talk.expects(BROKEN)
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text(HANGING)
    await talk.leave()
    refused = {"status": 500, "json": {"error": "Something broke"}}
    await talk.page.route("**/stream", lambda route: route.fulfill(**refused), times=1)
    await talk.come_back()

    await talk.notice.get_by_role("button", name="Reconnect").click()

    await expect(talk.answer).to_contain_text(HANGING)
    await talk.stop()
    await talk.until_idle()
    assert [run.reason for run in talk.runs] == ["canceled"]


async def test_a_look_that_failed_once_is_tried_again(talk: Talk) -> None:
    """A second tab that could not follow at first, follows."""
    talk.expects(BROKEN)
    other = await talk.tab()
    await other.wait_for_load_state("networkidle")
    await other.route("**/stream", gone, times=1)
    await talk.ask("hang")

    await expect(other.locator("[data-role=assistant]").last).to_contain_text(HANGING)
    await talk.stop()
    await talk.until_idle()


async def test_an_overloaded_gateway_is_not_asked_without_end(talk: Talk) -> None:
    talk.expects(BROKEN)
    looks: list[str] = []

    async def refused(route: Route) -> None:
        looks.append(route.request.url)
        await route.fulfill(status=503, json={"error": "Too busy", "code": "unavailable"})

    await talk.leave()
    await talk.page.clock.install()
    await talk.page.route("**/stream", refused)
    await talk.come_back()
    await given_up(talk.page, talk)
    for _ in range(4):
        await talk.page.clock.fast_forward(5_000)
        await asyncio.sleep(0.2)

    assert len(looks) == 6
    await expect(talk.notice).to_contain_text("No answer from the gateway")
