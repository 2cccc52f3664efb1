"""The wire view, and what turnwire does about each fault that the page can play."""

import re

import pytest
from playwright.async_api import ViewportSize, expect

from e2e.conftest import NewTalk
from e2e.talking import WIDE

END_OF_STORY = "this is the end."


async def test_a_frame_shows_what_it_became(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE)
    await talk.ask_and_wait("what is 12*7?")
    wire = talk.page.get_by_role("complementary", name="Wire")
    rows = wire.locator(".rows li")

    await (
        rows.locator("xpath=self::li[@data-kind='message.part.tool-update']")
        .last.get_by_role("button")
        .click()
    )
    detail = wire.get_by_role("region", name="Chosen entry")
    await expect(detail.locator(".became .kind")).to_have_text(["tool-output-available"])
    await expect(detail.get_by_label("Its text")).to_contain_text('"status": "completed"')
    await detail.locator(".became button").click()
    await expect(detail.get_by_role("heading", name="tool-output-available")).to_be_visible()
    await expect(detail.locator(".became .kind")).to_have_text(["message.part.tool-update"])
    await detail.get_by_role("button", name="Close the entry").click()

    # Every chunk of the turn but keepalives came from some frame.
    chunks = rows.locator("xpath=self::li[@data-lane='chunk']")
    kinds = await chunks.locator(".kind").all_inner_texts()
    delays = await chunks.locator(".delay").all_inner_texts()
    assert len(kinds) > 20
    assert {
        kind
        for kind, delay in zip(kinds, delays, strict=True)
        if not re.fullmatch(r"\d+\.\d m?s", delay)
    } <= {"keepalive"}
    lanes = set(await rows.locator(".lane").all_inner_texts())
    assert lanes == {"from client", "to agent", "from agent", "to client"}
    answers = rows.locator("xpath=self::li[starts-with(@data-kind, '200 ')]")
    assert set(await answers.locator(".lane").all_inner_texts()) == {"to client"}
    await wire.get_by_role("group").get_by_role("button", name="From agent").click()
    await expect(rows.locator("xpath=self::li[@data-lane='frame']")).to_have_count(0)
    await wire.get_by_role("searchbox").fill("finish-step")
    kinds = await rows.locator(".kind").all_inner_texts()
    assert set(kinds) == {"finish-step"}


@pytest.mark.parametrize("viewport", [WIDE, {"width": 390, "height": 800}])
async def test_the_newest_stays_in_sight(new_talk: NewTalk, viewport: ViewportSize) -> None:
    talk = await new_talk(viewport=viewport)
    wire = talk.page.get_by_role("complementary", name="Wire")
    if viewport is not WIDE:
        await talk.page.get_by_role("button", name="Wire").click()
    await talk.ask_and_wait("what is 12*7?")
    newest = wire.locator(".rows li").last
    await expect(newest).to_be_in_viewport()
    await talk.page.get_by_text("Break something").click()
    await expect(wire.locator("[data-fault=agent-dies]")).to_be_visible()
    await expect(newest).to_be_in_viewport()
    # Where there is little room, it is the type that gives way.
    gists = wire.locator(".rows li:not([data-lane=note]) .gist")
    widths = await gists.evaluate_all("all => all.map((each) => each.clientWidth)")
    assert min(widths) >= 40


@pytest.mark.parametrize(
    "fault", ["agent-dies", "agent-floods", "agent-babbles", "gateway-restarts"]
)
async def test_a_story_survives(new_talk: NewTalk, fault: str) -> None:
    talk = await new_talk(viewport=WIDE)
    if fault == "gateway-restarts":
        talk.expects("status 503|503 \\(Service|ERR_(INCOMPLETE|EMPTY|CONNECTION)")
    await talk.page.get_by_text("Break something").click()
    await talk.page.locator(f"[data-fault={fault}]").click()

    await expect(talk.answer).to_contain_text(END_OF_STORY, timeout=30_000)
    await talk.until_idle()
    await expect(talk.notice).to_be_hidden()
    said = await talk.answer.inner_text()
    assert [said.count(f"Chapter {number}.") for number in range(1, 11)] == [1] * 10
    assert [run.reason for run in talk.runs] == ["end_turn"]
    assert await talk.answers.count() == 1
