"""docs/examples/approvals.tsx is used in a browser, before agents with and without a history."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from e2e.axe import violations
from e2e.example_page import AGENT_TOKEN, ask, opened, second_agent, served
from gateway.running import Gateway
from turnwire_lab.agents.ag_ui.server import AgUiAgent

BUILDS: Final = (("6.0.326", "production"), ("7.0.173", "development"))
KEYS: Final = "k" * 40


@pytest.fixture(scope="module", params=BUILDS, ids="-".join)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of a page that has the example alone, with a release of the client."""
    release, mode = request.param
    with served(release, tmp_path_factory.mktemp("site"), "approvals.tsx", mode) as origin:
        yield origin


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(site: str) -> AsyncIterator[Gateway]:
    """One before an agent that keeps the conversation."""
    given = {"agent_auth": "service", "agent_token": AGENT_TOKEN, "signing_keys": KEYS}
    more = {"cors_origins": site, "on_disconnect": "grace"}
    with second_agent(STORY_PAUSE_S="2") as url:
        async with Gateway(url, given=given | more) as gateway:
            yield gateway


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def forgetful(site: str) -> AsyncIterator[Gateway]:
    """One before an agent that keeps nothing: the gateway keeps the turn that waits."""
    given = {"dialect": "ag-ui", "signing_keys": KEYS, "cors_origins": site}
    async with AgUiAgent() as agent, Gateway(agent.url, given=given) as gateway:
        yield gateway


async def waits(page: Page) -> None:
    """One card waits, the stream is over, and no other prompt can be sent."""
    await expect(page.get_by_role("button", name="Approve")).to_have_count(1)
    await expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    await expect(page.get_by_role("button", name="Send")).to_be_disabled()


@pytest.mark.parametrize("reloaded", [False, True])
@pytest.mark.parametrize(
    ("button", "verdict", "outcome", "ended"),
    [
        ("Approve", "Approved", '"notes.txt is gone."', "notes.txt is gone."),
        ("Deny", "Denied", "Denied", "It stays."),
    ],
)
async def test_a_card_has_its_user_and_its_outcome(
    browser: Browser,
    site: str,
    gateway: Gateway,
    button: str,
    verdict: str,
    outcome: str,
    ended: str,
    *,
    reloaded: bool,
) -> None:
    async with opened(browser, site, gateway) as page:
        await ask(page, "delete notes.txt")
        await waits(page)
        await expect(page.get_by_role("group", name="delete_file")).to_contain_text("notes.txt")
        assert await violations(page) == []
        if reloaded:
            await page.reload()
            await waits(page)
        await page.get_by_label("Reason").fill("as I said")
        async with page.expect_request(lambda request: request.method == "POST") as sent:
            await page.get_by_role("button", name=button).click()
        await expect(page.get_by_text(ended, exact=True)).to_be_visible()
        await expect(page.get_by_text(verdict, exact=True).first).to_be_visible()
        await expect(page.locator("output")).to_have_text(outcome)
        await expect(page.get_by_role("button", name="Approve")).to_have_count(0)
        assert "as I said" in str((await sent.value).post_data)
        assert await violations(page) == []
        await page.reload()
        await expect(page.locator("output")).to_have_text(outcome)
        await expect(page.locator("article")).to_have_count(2)
        await ask(page, "what is 12/4?")
        await expect(page.get_by_text("It is 3.")).to_be_visible()


@pytest.mark.parametrize(("button", "verdict"), [("Approve", "Approved"), ("Deny", "Denied")])
async def test_without_a_history_each_card_is_there_once_after_a_reload(
    browser: Browser, site: str, forgetful: Gateway, button: str, verdict: str
) -> None:
    async with opened(browser, site, forgetful, has_history=False) as page:
        cards = page.get_by_role("group")
        await ask(page, "approve 12*7")
        await waits(page)
        assert "approval-" not in str(await page.evaluate("JSON.stringify(localStorage)"))
        await page.reload()
        await waits(page)
        await expect(cards).to_have_count(1)
        await page.get_by_role("button", name=button).click()
        await expect(cards.get_by_text(verdict, exact=True)).to_be_visible()
        await expect(page.get_by_role("button", name="Send")).to_be_enabled()
        await expect(page.locator("output")).to_have_count(1)
        shown = await page.locator("article").all_text_contents()
        assert ("84" in shown[-1]) == (button == "Approve")
        await page.reload()
        await expect(page.locator("article")).to_have_text(shown)


async def test_a_reload_in_mid_turn_shows_the_same_turn_and_the_button_stops_it(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    async with opened(browser, site, gateway) as page:
        stop = page.get_by_role("button", name="Stop")
        await expect(stop).to_be_disabled()
        await ask(page, "tell me a story")
        answer = page.get_by_label("assistant").locator("p")
        await expect(answer).to_contain_text("Line 2 of the story.")
        await page.reload()
        await expect(answer).to_contain_text("Line 1 of the story. Line 2 of the story. Line 3")
        await stop.click()
        await expect(page.get_by_role("button", name="Send")).to_be_enabled()
        assert "Line 40" not in await answer.inner_text()


async def test_two_cards_are_answered_one_after_the_other(
    browser: Browser, site: str, forgetful: Gateway
) -> None:
    async with opened(browser, site, forgetful, has_history=False) as page:
        await ask(page, "approve two things")
        await expect(page.get_by_role("button", name="Approve")).to_have_count(2)
        await page.get_by_role("button", name="Approve").first.click()
        await expect(page.get_by_text("Approved", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Deny").click()
        await expect(page.locator("output")).to_have_count(2)
        await expect(page.get_by_role("button", name="Send")).to_be_enabled()


async def test_what_was_refused_is_said_and_the_chat_goes_on(
    browser: Browser, site: str, forgetful: Gateway
) -> None:
    """Another tab of the user was first."""
    async with opened(browser, site, forgetful, has_history=False) as first:
        await ask(first, "approve 12*7")
        await waits(first)
        page = await browser.new_page()
        await page.goto(first.url)
        await waits(page)
        await first.get_by_role("button", name="Deny").click()
        await expect(first.get_by_role("button", name="Send")).to_be_enabled()
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("alert")).to_contain_text("question_closed")
        await expect(page.get_by_role("button", name="Approve")).to_have_count(0)
        await ask(page, "what is 8*2?")
        await expect(page.locator("article").last).to_contain_text("16")
        await page.close()
