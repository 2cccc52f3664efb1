"""A browser opens six connections to a host over HTTP/1.1, for all its tabs together."""

from typing import Final

import httpx
from playwright.async_api import Locator, Page, expect

from e2e.conftest import NewTalk
from e2e.shape import shape
from e2e.talking import WIDE, Talk

TABS: Final = 6
HANGING: Final = "until somebody stops me."
TAKEN: Final = """async (count) => {
    const {token} = await (await fetch("/lab/setup")).json();
    const stream = () => {
        const ending = new AbortController();
        const headers = {authorization: `Bearer ${token}`};
        return fetch("/lab/wire", {headers, signal: ending.signal}).then(() => ending);
    };
    window.streams = await Promise.all(Array.from({length: count}, stream));
    window.seventh = fetch("/lab/setup?seventh");
}"""
FREED: Final = """async () => {
    const freed = performance.now();
    window.streams.pop().abort();
    await (await window.seventh).text();
    for (const stream of window.streams) stream.abort();
    const seen = performance.getEntriesByType("resource").find((e) => e.name.endsWith("?seventh"));
    return [freed, seen.requestStart];
}"""


async def test_a_seventh_request_waits_without_a_word(talk: Talk) -> None:
    """What the page must not run into; nothing on it would tell."""
    await talk.page.evaluate(TAKEN, TABS)
    async with httpx.AsyncClient(trust_env=False) as http:
        # It is not the server that keeps it waiting.
        assert (await http.get(f"{talk.url}lab/setup")).status_code == httpx.codes.OK
    freed, sent = await talk.page.evaluate(FREED)
    assert sent >= freed


async def test_six_tabs_share_six_connections(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE)
    tabs = [talk.page, *[await talk.tab() for _ in range(TABS - 1)]]
    # The wire is one tab's at a time.
    await expect(talk.page.locator(".wire[data-connected=true]")).to_be_visible()
    for tab in tabs[1:]:
        await expect(tab.get_by_text("Another tab of this browser has the wire.")).to_be_visible()

    await talk.ask("hang")
    for tab in tabs:
        await expect(tab.locator("[data-role=user]")).to_have_text("hang")
        # Either it follows, or it says why not.
        crowd = tab.get_by_label("Problem").get_by_text("Too many tabs follow")
        await expect(_answer(tab).or_(crowd)).to_be_visible()
    crowded = [tab for tab in tabs if await tab.get_by_label("Problem").count()]
    assert (len(crowded), talk.page in crowded) == (2, False)

    # A place that is free again can be had by asking.
    await next(tab for tab in tabs[1:] if tab not in crowded).close()
    await crowded[0].get_by_role("button", name="Reconnect").click()
    await expect(_answer(crowded[0])).to_contain_text(HANGING)
    await expect(crowded[0].get_by_label("Problem")).to_be_hidden()

    # A stop gets through whatever is open, and then everybody sees the same.
    await crowded[0].get_by_role("button", name="Stop", exact=True).click()
    await talk.until_idle()
    for tab in tabs:
        if not tab.is_closed():
            await expect(tab.get_by_label("Problem")).to_be_hidden()
            await expect(_answer(tab)).to_contain_text(HANGING)
            await expect(tab.get_by_role("button", name="Answer again")).to_be_visible()
            assert await shape(tab) == await shape(talk.page)
    assert [(run.reason, run.aborted) for run in talk.runs] == [("canceled", True)]


async def test_a_prompt_too_many_is_not_left_waiting(new_talk: NewTalk) -> None:
    talk = await new_talk()
    for _ in range(4):
        await talk.ask("hang")
        await expect(talk.answer).to_contain_text(HANGING)
        await talk.page.get_by_role("button", name="New chat").first.click()
        await expect(talk.page.get_by_role("heading", name="Any AI SDK client")).to_be_visible()
    await talk.ask("what is 1+1?")
    await expect(talk.notice).to_contain_text("Too many streams in this browser")

    await talk.page.locator(".session", has_text="hang").first.click()
    await talk.stop()
    await talk.until_idle()
    await talk.page.locator(".session", has_text="what is 1+1?").click()
    await talk.notice.get_by_role("button", name="Try again").click()
    await expect(talk.answer).to_contain_text("1+1 is 2.")
    await expect(talk.notice).to_be_hidden()
    for hanging in await talk.page.locator(".session", has_text="hang").all():
        await hanging.click()
        await expect(talk.answer).to_contain_text(HANGING)
        await talk.page.keyboard.press("Escape")
        await talk.until_idle()


def _answer(tab: Page) -> Locator:
    return tab.locator("[data-role=assistant]")
