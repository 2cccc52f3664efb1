"""What the page says of a turn: that it waits for its user, that it runs, and how it ended."""

import re
from typing import Final

import httpx
import pytest
from playwright.async_api import Locator, expect

from e2e.conftest import NewTalk
from e2e.shape import shape
from e2e.talking import Talk
from gateway.waiting import until

END_OF_STORY: Final = "this is the end."
BROKEN: Final = r"ERR_|status 503|503 \(Service"
REASON: Final = "The agent was told to fail this turn."
FAILED: Final = f"This answer failed: {REASON}"
STOPPED: Final = "This answer was stopped"
WATCH: Final = """() => {
    window.idle = [];
    const look = () => {
        const running = document.querySelector("main .act.stop") !== null;
        const status = document.querySelector(".status");
        if (running && status.innerText.trim() === "Idle") window.idle.push(performance.now());
    };
    new MutationObserver(look).observe(document.body, {
        subtree: true, childList: true, attributes: true, characterData: true,
    });
}"""
"""Write down each moment at which the page could stop a turn and called the agent idle."""


def header(talk: Talk) -> Locator:
    return talk.page.locator(".status")


async def plan(talk: Talk, fault: str) -> None:
    """Have the demo's own server play this with the next prompt."""
    async with httpx.AsyncClient(base_url=talk.url, trust_env=False) as http:
        signed = {"authorization": f"Bearer {talk.stage.token}"}
        planned = await http.post(
            "/lab/faults", json={"session": talk.session, "fault": fault}, headers=signed
        )
    assert planned.is_success


def actions(talk: Talk) -> Locator:
    return talk.answer.get_by_role("button", name=re.compile("Answer again|Copy the answer"))


def approval(talk: Talk) -> Locator:
    return talk.page.get_by_role("group", name="Approval of calculator").last


async def test_an_open_approval_waits_for_its_user(talk: Talk) -> None:
    await talk.ask("approve 12*7")
    approve = approval(talk).get_by_role("button", name="Approve")
    await expect(approve).to_be_enabled()
    await expect(header(talk)).to_have_text("Waiting for you")
    await expect(talk.page.locator("[data-live]")).to_have_text("The agent asks you something.")
    await expect(actions(talk)).to_have_count(0)
    await talk.reload()
    await expect(approve).to_be_enabled()
    await expect(header(talk)).to_have_text("Waiting for you")
    await expect(actions(talk)).to_have_count(0)

    await approve.click()
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()
    await expect(actions(talk)).to_have_count(2)
    live = await shape(talk.page)
    await talk.reload()
    await expect(actions(talk)).to_have_count(2)
    assert await shape(talk.page) == live


async def test_who_leaves_an_approval_stops_its_turn(talk: Talk) -> None:
    await talk.ask("approve 12*7")
    await expect(approval(talk)).to_be_visible()
    await talk.page.keyboard.press("Escape")
    await expect(talk.tool).to_have_attribute("data-tool-state", "canceled")
    await expect(talk.page.locator("[data-live]")).to_contain_text(STOPPED)
    await expect(talk.answer.locator(".ended")).to_have_text(STOPPED)
    await talk.until_idle()
    live = await shape(talk.page)
    await talk.reload()
    await expect(talk.answer.locator(".ended")).to_have_text(STOPPED)
    assert await shape(talk.page) == live

    await talk.ask("approve 6*7")
    await expect(approval(talk)).to_be_visible()
    await talk.ask("what is 1+2?")
    await expect(talk.answer).to_contain_text("1+2 is 3.")
    await talk.until_idle()
    await expect(approval(talk)).to_have_count(0)
    assert [run.reason for run in talk.runs] == ["canceled", "canceled", "end_turn"]


async def test_another_tab_that_shows_an_approval_hears_of_its_end(talk: Talk) -> None:
    other = await talk.tab()
    await talk.ask("approve 12*7")
    await expect(other.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    await expect(other.locator(".status")).to_have_text("Waiting for you")
    await approval(talk).get_by_role("button", name="Approve").click()
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await expect(other.locator(".status")).to_have_text("Idle")
    await expect(other.get_by_role("button", name="Approve", exact=True)).to_have_count(0)


async def test_who_answers_is_never_called_idle(talk: Talk) -> None:
    talk.expects(BROKEN)
    await talk.page.evaluate(WATCH)
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Chapter 1.")
    talk.stage.gateway.kill()
    await talk.stage.gateway.restart()
    await expect(talk.answer).to_contain_text(END_OF_STORY)
    await talk.until_idle()
    assert await talk.page.evaluate("() => window.idle") == []


async def test_a_turn_that_did_not_end_well_is_marked(talk: Talk) -> None:
    ended = talk.page.locator(".ended")
    await talk.ask("make the turn fail")
    await expect(talk.notice).to_contain_text(REASON)
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    other = await talk.tab()
    await expect(other.locator("[data-role=assistant]").last).to_contain_text("somebody stops me")
    await talk.stop()
    # Of the one it was there for the end, of the other the history says it.
    await expect(other.locator(".ended")).to_have_text([FAILED, STOPPED])
    said = talk.page.locator("[data-live]")
    await expect(said).to_have_text(re.compile(rf"^{STOPPED}:\s+I will say this much"))
    await talk.ask("what is 1+2?")
    await expect(talk.answer).to_contain_text("1+2 is 3.")
    await talk.until_idle()

    await expect(ended).to_have_text([FAILED, STOPPED])
    assert [await each.locator(".ended").count() for each in await talk.answers.all()] == [1, 1, 0]
    live = await shape(talk.page)
    await talk.reload()
    await expect(ended).to_have_text([FAILED, STOPPED])
    assert await shape(talk.page) == live


@pytest.mark.parametrize(("prompt", "mark"), [("make the turn fail", FAILED), ("hang", STOPPED)])
async def test_a_reload_does_not_hide_how_a_turn_ended(talk: Talk, prompt: str, mark: str) -> None:
    await talk.ask(prompt)
    if prompt == "hang":
        await expect(talk.answer).to_contain_text("until somebody stops me")
        await talk.stop()
    ended = talk.answer.locator(".ended")
    # One that failed while this page looked on has a notice instead.
    seen = ended if prompt == "hang" else talk.notice
    await expect(seen).to_contain_text("was stopped" if prompt == "hang" else REASON)
    await talk.reload()

    await expect(ended).to_have_text(mark)
    await expect(talk.notice).to_be_hidden()
    again = talk.answer.get_by_role("button", name="Answer again")
    await expect(again.get_by_text("Answer again")).to_be_visible()
    await again.click()
    await until(lambda: len(talk.runs) == 2)
    if prompt == "hang":
        await expect(talk.answer).to_contain_text("until somebody stops me")
        await expect(ended).to_have_count(0)
        await talk.stop()
    await expect(seen).to_contain_text("was stopped" if prompt == "hang" else REASON)
    await expect(talk.answers).to_have_count(1)


async def test_an_answer_that_was_cut_short_says_so(talk: Talk) -> None:
    talk.expects(BROKEN)
    await plan(talk, "slow-client")
    await talk.ask("flood 60000 and hang")
    await expect(header(talk)).to_have_text("Waiting for the answer")
    # The gateway waits for 6 s, once the buffers in between are full.
    await expect(talk.notice).to_contain_text("The answer was cut short", timeout=45_000)
    await expect(talk.notice.get_by_role("button")).to_have_text(["Answer again", "Dismiss"])
    # It is told once, and not as something that its user did.
    await expect(actions(talk)).to_have_count(1)
    await expect(talk.answer.locator(".ended")).to_have_count(0)
    assert [run.reason for run in talk.runs] == ["canceled"]

    await talk.ask("what is 1+2?")
    await expect(talk.notice).to_be_hidden()
    await expect(talk.answer).to_contain_text("1+2 is 3.")
    await talk.until_idle()
    await expect(talk.notice).to_be_hidden()
    await expect(talk.page.locator(".ended")).to_have_text(STOPPED)


async def test_what_was_made_again_is_marked_no_more(talk: Talk) -> None:
    cut = "event: none\n\n"
    stream = {"content-type": "text/event-stream"}
    await talk.page.route("**/chat", lambda route: route.fulfill(headers=stream, body=cut), times=1)
    await talk.ask("what is 6*7?")
    await expect(talk.notice).to_contain_text("The turn ended without an answer")
    await expect(talk.page.locator(".ended")).to_have_text("This prompt failed: no answer")
    await talk.notice.get_by_role("button", name="Try again").click()
    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await expect(talk.page.locator(".ended")).to_have_count(0)


@pytest.mark.parametrize("width", [375, 1000])
async def test_a_new_chat_opens_at_its_top(new_talk: NewTalk, width: int) -> None:
    talk = await new_talk(viewport={"width": width, "height": 500})
    heading = talk.page.get_by_role("heading", name="Any AI SDK client")
    await expect(heading).to_be_in_viewport()
    await talk.ask_and_wait("tell me a long story")
    await expect(talk.answer.get_by_text(END_OF_STORY)).to_be_in_viewport()
    await talk.reload()
    await expect(talk.answer.get_by_text(END_OF_STORY)).to_be_in_viewport()
    if width < 400:
        await talk.page.get_by_role("button", name="Sessions").click()
    await talk.page.get_by_role("button", name="New chat").first.click()
    await expect(heading).to_be_in_viewport()
    assert await talk.page.get_by_role("log").evaluate("log => log.scrollTop") == 0
