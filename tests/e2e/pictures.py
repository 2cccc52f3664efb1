"""Pictures of the page for the docs: `make pictures`. Not collected unless it is named."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from e2e.conftest import NewTalk
from e2e.talking import Talk
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import PROMPTS
from turnwire_lab.runtime.process import LOCAL, RuntimeAgent
from turnwire_lab.runtime.steering import PROMPTS as MODEL_PROMPTS
from turnwire_lab.stage import Stage

SIZE = {"width": 1360, "height": 850}
LOOKS: dict[str, Any] = {"viewport": SIZE, "device_scale_factor": 1.5, "reduced_motion": "reduce"}
FOLDER = Path(os.environ.get("PICTURES", "docs/pictures"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_pictures_of_a_talk(new_talk: NewTalk, scheme: str) -> None:
    talk = await new_talk(
        f"tour-{scheme}",
        color_scheme=scheme,
        **LOOKS,
    )
    page = talk.page
    await page.screenshot(path=FOLDER / f"page-welcome-{scheme}.png")

    await talk.ask_and_wait("think about rivers")
    await talk.ask_and_wait("what is 12*7?")
    await talk.tool.locator("summary").click()
    await talk.ask("ask me: tea or coffee?")
    await expect(page.get_by_role("button", name="tea", exact=True)).to_be_visible()
    await page.get_by_role("log").evaluate("log => log.scrollTop = log.scrollHeight")
    await page.screenshot(path=FOLDER / f"page-talk-{scheme}.png")

    await page.get_by_role("button", name="tea", exact=True).click()
    await talk.until_idle()
    await talk.ask("approve 12*7")
    await page.get_by_role("button", name="Approve", exact=True).click()
    await talk.until_idle()
    tools = page.locator(".rows [data-kind='message.part.tool-update'] button")
    await tools.last.click()
    await page.screenshot(path=FOLDER / f"page-wire-{scheme}.png")

    await page.get_by_role("button", name="Close the entry").click()
    await page.get_by_text("Break something").click()
    await page.locator("[data-fault=agent-babbles]").click()
    await expect(talk.answer).to_contain_text("Chapter 3.")
    await page.screenshot(path=FOLDER / f"page-faults-{scheme}.png")
    await talk.until_idle()


async def test_a_picture_of_a_narrow_screen(new_talk: NewTalk) -> None:
    talk = await new_talk(
        "tour-narrow", viewport={"width": 390, "height": 780}, device_scale_factor=1.5
    )
    await talk.ask("approve 12*7")
    await expect(talk.page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    await talk.page.screenshot(path=FOLDER / "page-narrow.png")


async def test_a_picture_before_an_agent_of_langgraph(browser: Browser) -> None:
    async with (
        Stage(FrameworkAgent("langgraph"), wire="ag-ui", prompts=PROMPTS) as stage,
        Talk(browser, stage, "langgraph", **LOOKS) as talk,
    ):
        await talk.ask_and_wait("what is 12*7?")
        await talk.tool.locator("summary").click()
        await talk.ask("delete notes.txt")
        await expect(talk.page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
        await talk.page.get_by_role("log").evaluate("log => log.scrollTop = log.scrollHeight")
        asked = talk.page.locator(".rows [data-kind=tool-approval-request] button")
        await asked.click()
        await talk.page.screenshot(path=FOLDER / "page-langgraph.png")


async def test_pictures_of_an_agent_whose_process_is_killed(
    browser: Browser, tmp_path: Path
) -> None:
    agent = RuntimeAgent(LOCAL, folder=tmp_path)
    async with (
        Stage(agent, prompts=MODEL_PROMPTS) as stage,
        Talk(browser, stage, "killed", **LOOKS) as talk,
    ):
        page = talk.page
        await page.get_by_text("Break something").click()
        await page.locator("[data-fault=agent-killed]").click()
        await expect(talk.tool).to_have_attribute("data-tool-state", "interrupted", timeout=60_000)
        await page.screenshot(path=FOLDER / "page-agent-killed.png")
        await talk.tool.locator("summary").click()
        await expect(talk.tool).to_have_attribute("data-tool-state", "done", timeout=60_000)
        await talk.until_idle()
        note = page.locator(".rows [data-lane=note] button").last
        await note.scroll_into_view_if_needed()
        await page.screenshot(path=FOLDER / "page-agent-went-on.png")
