"""docs/examples/chat.tsx is built and used in a browser, before the second agent of the docs."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from e2e.example_page import AGENT_TOKEN, ask, opened, props, second_agent, served
from gateway.http_agent import Asked, HttpAgent
from gateway.needed import lacking
from gateway.running import Gateway
from gateway.waiting import PATIENCE_S
from support import ag_ui_frames as frames
from support.http_dialect import CHUNKED, END, chunk
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS
from turnwire_lab.faultproxy import FaultProxy

BUILDS: Final = (
    ("5.0.277", "production"),
    ("6.0.326", "development"),
    ("7.0.173", "development"),
)
REASONED: Final = {"approved": False, "reason": "not now"}
PAUSE_S: Final = "2"
"""After each of the 40 lines of a story, which so outlasts all that is waited for here."""


@pytest.fixture(scope="module", params=BUILDS, ids="-".join)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of a page that has the example alone, with a release of the client."""
    release, mode = request.param
    with served(release, tmp_path_factory.mktemp("site"), mode=mode) as origin:
        yield origin


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    with second_agent(STORY_PAUSE_S=PAUSE_S) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(site: str, agent: str) -> AsyncIterator[Gateway]:
    given = {"agent_auth": "service", "agent_token": AGENT_TOKEN}
    more = {"cors_origins": site, "on_disconnect": "grace"}
    async with Gateway(agent, given=given | more) as gateway:
        yield gateway


async def test_a_tool_is_shown_and_the_answer_is_there_after_a_reload(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    async with opened(browser, site, gateway) as page:
        await ask(page, "what is 12/4?")
        await expect(page.locator("pre")).to_contain_text('"output": 3')
        await expect(page.get_by_text("It is 3.")).to_be_visible()
        await page.reload()
        await expect(page.get_by_label("user")).to_have_text("what is 12/4?")
        await expect(page.get_by_text("It is 3.")).to_be_visible()


async def test_a_reload_in_mid_turn_shows_the_same_turn_and_the_button_stops_it(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    async with opened(browser, site, gateway) as page:
        await ask(page, "tell me a story")
        answer = page.get_by_label("assistant").locator("p")
        await expect(answer).to_contain_text("Line 2 of the story.")
        await page.reload()
        await expect(answer).to_contain_text("Line 1 of the story. Line 2 of the story. Line 3")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("button", name="Stop")).to_be_disabled()
        assert "Line 40" not in await answer.inner_text()


@pytest.mark.parametrize(("button", "ended"), [("approve", "is gone."), ("deny", "It stays.")])
async def test_a_call_waits_for_its_user(
    browser: Browser, site: str, gateway: Gateway, button: str, ended: str
) -> None:
    async with opened(browser, site, gateway) as page:
        await ask(page, "delete notes.txt")
        await expect(page.get_by_role("button", name=button, exact=True)).to_be_enabled()
        # Another prompt would be refused, and would stand there without an answer.
        await expect(page.get_by_role("button", name="Send")).to_be_disabled()
        await page.get_by_label("Message").fill("what is 12/4?")
        await page.get_by_label("Message").press("Enter")
        await page.get_by_role("button", name=button, exact=True).click()
        await expect(page.locator("p", has_text=ended)).to_be_visible()
        await expect(page.locator("output")).to_have_text(button)
        await expect(page.get_by_label("user")).to_have_text("delete notes.txt")
        await expect(page.get_by_role("group").get_by_role("button")).to_have_count(0)
        await page.reload()
        await expect(page.locator("output")).to_have_text(button)


async def test_a_verdict_with_a_reason_is_shown_as_a_verdict(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    """So it comes from a native approval of another client."""

    async def with_a_reason(route: Route) -> None:
        given = (route.request.post_data_json or {}) | {"answer": REASONED}
        await route.continue_(post_data=json.dumps(given))

    async with opened(browser, site, gateway) as page:
        await ask(page, "delete notes.txt")
        await page.route("**/answer", with_a_reason)
        await page.get_by_role("button", name="approve", exact=True).click()
        await expect(page.locator("output")).to_have_text("deny")
        await expect(page.locator("p", has_text="It stays.")).to_be_visible()


async def test_an_agent_without_a_history_is_not_asked_for_it(browser: Browser, site: str) -> None:
    """One behind AG-UI, whose approvals have no options."""
    name = "pydantic-ai"
    FRAMEWORKS[name].python.exists() or lacking(f"{name} is not installed (`make e2e` does it)")
    async with (
        FrameworkAgent(name) as agent,
        Gateway(agent.url, dialect="ag-ui", cors_origins=site, on_disconnect="grace") as gateway,
        opened(browser, site, gateway, has_history=False) as page,
    ):
        await page.reload()
        await ask(page, "delete notes.txt")
        await page.get_by_role("button", name="approve", exact=True).click()
        await expect(page.get_by_text("notes.txt is deleted.")).to_be_visible()


async def test_a_prompt_without_a_text_is_not_sent(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    async with opened(browser, site, gateway) as page:
        await ask(page, "  ")
        await ask(page, "what is 12/4?")
        await expect(page.get_by_text("It is 3.")).to_be_visible()
        assert await page.get_by_label("user").count() == 1


@pytest.mark.parametrize("breaks", [True, False])
async def test_a_history_that_cannot_be_loaded_leaves_the_chat(
    browser: Browser, site: str, gateway: Gateway, *, breaks: bool
) -> None:
    page = await browser.new_page()
    await page.route(
        "**/messages", lambda route: route.abort() if breaks else route.fulfill(status=503)
    )
    await page.goto(f"{site}/?{urlencode(props(gateway, has_history=True))}")
    await expect(page.get_by_role("alert")).to_have_text(
        "The earlier messages could not be loaded."
    )
    await ask(page, "what is 12/4?")
    await expect(page.get_by_text("It is 3.")).to_be_visible()
    await page.close()


async def test_what_was_refused_is_said_in_words(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    page = await browser.new_page()
    given = props(gateway, has_history=False) | {"token": "none"}
    await page.goto(f"{site}/?{urlencode(given)}")
    await ask(page, "what is 12/4?")
    await expect(page.get_by_role("alert")).to_have_text("Missing or invalid authentication")
    await page.route("**/chat", lambda route: route.fulfill(status=502, body="Bad gateway"))
    await ask(page, "what is 12/4?")
    await expect(page.get_by_role("alert")).to_have_text("Bad gateway")
    await page.close()


async def test_a_stop_that_does_not_arrive_is_noticed(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    page = await browser.new_page()
    await page.goto(f"{site}/?{urlencode(props(gateway, has_history=True))}")
    await ask(page, "tell me a story")
    await expect(page.get_by_text("Line 1 of the story.")).to_be_visible()
    await page.route("**/stop", lambda route: route.abort(), times=1)
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("alert")).to_have_text("Failed to fetch")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.close()


@pytest_asyncio.fixture(loop_scope="session")
async def line(agent: str) -> AsyncIterator[FaultProxy]:
    """What is between a gateway and the agent, whose turns outlive it."""
    port = urlsplit(agent).port
    assert port is not None
    async with FaultProxy(port) as line:
        yield line


@pytest_asyncio.fixture(loop_scope="session")
async def behind(site: str, agent: str, line: FaultProxy) -> AsyncIterator[Gateway]:
    """A gateway behind this line."""
    url = agent.replace(f":{urlsplit(agent).port}/", f":{line.port}/")
    given = {"agent_auth": "service", "agent_token": AGENT_TOKEN}
    async with Gateway(url, given=given | {"cors_origins": site}) as gateway:
        yield gateway


async def broken(page: Page, line: FaultProxy) -> None:
    """Its stream breaks in the middle of a call, and the turn goes on."""
    await ask(page, "what is 12/4?")
    await expect(page.locator("pre")).to_be_visible()
    line.cut()
    await expect(page.get_by_role("alert")).to_have_text("Stream interrupted")


async def until_kept(page: Page, text: str) -> None:
    """Wait until the history of the page's session has this text."""
    given = dict(parse_qsl(urlsplit(page.url).query))
    url = f"{given['gateway']}/api/sessions/{given['session']}/messages"
    headers = {"authorization": f"Bearer {given['token']}"}
    async with asyncio.timeout(PATIENCE_S):
        while text not in await (await page.request.get(url, headers=headers)).text():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_turn_that_ends_while_the_page_is_loaded_is_shown(
    browser: Browser, site: str, gateway: Gateway
) -> None:
    """It ran when the history was loaded, and runs no more when the page looks for it."""
    async with opened(browser, site, gateway) as page:

        async def late(route: Route) -> None:
            await until_kept(page, "It is 3.")
            await route.continue_()

        await ask(page, "what is 12/4?")
        await expect(page.locator("pre")).to_be_visible()
        await page.route("**/stream", late)
        async with page.expect_response("**/messages") as loaded:
            await page.reload()
        assert "It is 3." not in await (await loaded.value).text()
        await expect(page.get_by_text("It is 3.")).to_be_visible()
        await expect(page.locator("article")).to_have_count(2)


@pytest.mark.parametrize("is_over", [True, False])
async def test_after_a_break_a_look_shows_the_whole_answer(
    browser: Browser, site: str, behind: Gateway, line: FaultProxy, *, is_over: bool
) -> None:
    async with opened(browser, site, behind) as page:
        await broken(page, line)
        if is_over:
            await until_kept(page, "It is 3.")
        await page.get_by_role("button", name="Look again").click()
        await expect(page.get_by_text("It is 3.")).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)
        await expect(page.get_by_role("button", name="Look again")).to_have_count(0)
        await expect(page.locator("article")).to_have_count(2)
        assert "No result" not in await page.locator("pre").inner_text()


async def test_a_look_that_fails_leaves_what_is_there_and_the_next_prompt_helps_too(
    browser: Browser, site: str, behind: Gateway, line: FaultProxy
) -> None:
    page = await browser.new_page()
    await page.goto(f"{site}/?{urlencode(props(behind, has_history=True))}")
    await broken(page, line)
    async with page.expect_response("**/messages"):
        await page.route("**/messages", lambda route: route.fulfill(status=503))
        await page.get_by_role("button", name="Look again").click()
    await expect(page.get_by_role("button", name="Look again")).to_be_enabled()
    await expect(page.get_by_role("alert")).to_have_text("Stream interrupted")
    await expect(page.locator("article")).to_have_count(2)
    await ask(page, "what is 8/2?")
    await expect(page.get_by_text("It is 4.")).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.close()


async def test_a_page_without_a_history_offers_no_look(
    browser: Browser, site: str, behind: Gateway, line: FaultProxy
) -> None:
    async with opened(browser, site, behind, has_history=False) as page:
        await broken(page, line)
        await expect(page.get_by_role("button", name="Look again")).to_have_count(0)


def before_ag_ui(agent_url: str, site: str) -> Gateway:
    """A gateway that has no history, since the wire has no word for it."""
    return Gateway(agent_url, dialect="ag-ui", cors_origins=site, on_disconnect="grace")


async def test_without_a_history_a_reload_shows_each_message_once(
    browser: Browser, site: str
) -> None:
    async with (
        AgUiAgent(Habits(pace_s=0.1)) as agent,
        before_ag_ui(agent.url, site) as gateway,
        opened(browser, site, gateway, has_history=False) as page,
    ):
        messages = page.locator("article")
        await ask(page, "what is 12*7?")
        await expect(page.get_by_role("button", name="Stop")).to_be_disabled()
        first = await messages.all_text_contents()
        await ask(page, "tell me a long story")
        story = messages.last
        await expect(story).to_contain_text("evening 3 ")
        stored = await page.evaluate("JSON.stringify(localStorage)")
        assert "a long story" in stored
        assert "evening" not in stored  # older releases would show it twice
        await page.reload()
        await expect(story).to_contain_text("evening 8 ")
        assert (await story.inner_text()).count("evening 1 ") == 1
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("button", name="Stop")).to_be_disabled()
        shown = await messages.all_text_contents()
        await page.reload()
        await expect(messages).to_have_text(shown)

    assert shown[:2] == first
    assert len(shown) == 4


async def test_without_a_history_an_open_approval_is_there_once_and_a_stop_ends_it(
    browser: Browser, site: str
) -> None:
    async with (
        AgUiAgent() as agent,
        before_ag_ui(agent.url, site) as gateway,
        opened(browser, site, gateway, has_history=False) as page,
    ):
        await ask(page, "approve 12*7")
        await expect(page.get_by_role("button", name="approve", exact=True)).to_be_enabled()
        await page.reload()
        await expect(page.get_by_role("button", name="approve", exact=True)).to_be_enabled()
        await page.get_by_role("button", name="Stop").click()
        for _ in range(2):
            await expect(page.locator("output")).to_have_text("expired")
            await expect(page.get_by_role("group").get_by_role("button")).to_have_count(0)
            await expect(page.locator("article")).to_have_count(2)
            await page.reload()


async def test_a_question_without_options_is_answered_in_words(browser: Browser, site: str) -> None:
    async def asks(asked: Asked) -> None:
        """It says what it was answered."""
        answers = json.loads(asked.body).get("resume") or []
        told = [frames.text_start(), *(frames.text(each["payload"]) for each in answers)]
        question = {"type": "interrupt", "interrupts": [{"id": "i1", "message": "Which colour?"}]}
        ended = frames.event("RUN_FINISHED", **({} if answers else {"outcome": question}))
        events = [frames.event("RUN_STARTED"), *told, ended]
        data = b"".join(b"data: %b\n\n" % event for event in events)
        await asked.say(CHUNKED, chunk(data), END)

    async with (
        HttpAgent(asks) as agent,
        before_ag_ui(agent.url, site) as gateway,
        opened(browser, site, gateway, has_history=False) as page,
    ):
        await ask(page, "paint it")
        await page.get_by_role("button", name="Answer").click()  # an empty one is not sent
        await page.get_by_label("Answer").and_(page.locator("input")).fill("blue")
        await page.get_by_role("button", name="Answer").click()
        await expect(page.locator("output")).to_have_text("blue")
        await expect(page.get_by_label("assistant").locator("p")).to_have_text("blue")
        await expect(page.get_by_role("button", name="Answer")).to_have_count(0)


async def test_a_browser_that_stores_nothing_has_a_chat(browser: Browser, site: str) -> None:
    page = await browser.new_page()
    await page.add_init_script("delete window.localStorage; localStorage = undefined")
    async with AgUiAgent() as agent, before_ag_ui(agent.url, site) as gateway:
        await page.goto(f"{site}/?{urlencode(props(gateway, has_history=False))}")
        await ask(page, "what is 12*7?")
        await expect(page.get_by_label("assistant")).to_contain_text("84")
        await page.close()
