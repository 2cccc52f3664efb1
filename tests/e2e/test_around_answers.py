"""What stands around an answer: copy and Answer again, one notice for one error, Stop where
something is asked, and things to try that no conversation hides."""

from typing import Final

from playwright.async_api import expect

from e2e.axe import violations
from e2e.conftest import NewTalk
from e2e.talking import Talk

COPIED: Final = "() => navigator.clipboard.readText()"
FAILED: Final = "The agent was told to fail this turn."


async def test_an_answer_is_copied_while_it_is_written(new_talk: NewTalk) -> None:
    talk = await new_talk(permissions=["clipboard-read", "clipboard-write"])
    await talk.ask_and_wait("what is 12*7?")
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Chapter 2.")
    await talk.answer.get_by_role("button", name="Copy the answer").click()
    await expect(talk.answer.get_by_text("Copied.")).to_be_attached()
    copied = await talk.page.evaluate(COPIED)
    assert "**Chapter 1.**" in copied
    assert "this is the end." not in copied
    await expect(talk.page.get_by_role("button", name="Answer again")).to_have_count(0)
    first = talk.answers.first
    await first.hover()
    await first.get_by_role("button", name="Copy the answer").click()
    await expect(first.get_by_text("Copied.")).to_be_attached()
    assert "12*7 is **84**." in await talk.page.evaluate(COPIED)
    await talk.stop()
    await talk.until_idle()


async def test_an_error_is_told_once_with_all_that_can_be_done(talk: Talk) -> None:
    await talk.ask("make the turn fail")
    main = talk.page.get_by_role("main")
    await expect(talk.notice).to_contain_text(FAILED)
    await expect(talk.notice.get_by_role("button")).to_have_text(["Answer again", "Dismiss"])
    await expect(main.get_by_role("button", name="Answer again")).to_have_count(1)
    await expect(talk.page.locator(".ended")).to_have_count(0)
    assert await violations(talk.page) == []
    await talk.notice.get_by_role("button", name="Dismiss").click()
    await expect(talk.page.locator(".ended")).to_have_text(f"This answer failed: {FAILED}")
    await main.get_by_role("button", name="Answer again").click()
    await expect(talk.notice).to_contain_text(FAILED)
    assert len(talk.runs) == 2


async def test_what_asks_is_stopped_by_the_same_button(talk: Talk) -> None:
    stop = talk.page.get_by_role("button", name="Stop", exact=True)
    send = talk.page.get_by_role("button", name="Send", exact=True)
    await talk.ask("ask me: tea or coffee?")
    await expect(talk.page.get_by_role("button", name="tea", exact=True)).to_be_visible()
    await expect(stop).to_be_visible()
    await stop.click()
    await talk.until_idle()
    await talk.ask("approve 12*7")
    await expect(talk.page.get_by_role("button", name="Approve", exact=True)).to_be_enabled()
    await expect(stop).to_be_visible()
    box = talk.page.get_by_role("textbox", name="Message")
    await box.fill("something else")
    await expect(send).to_be_visible()
    await box.fill("")
    await stop.click()
    await talk.until_idle()
    await expect(talk.tool).to_have_attribute("data-tool-state", "canceled")
    assert [run.reason for run in talk.runs] == ["canceled", "canceled"]


async def test_things_to_try_are_there_in_a_conversation_too(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport={"width": 390, "height": 800})
    await talk.ask_and_wait("what is 2+3?")
    tries = talk.page.get_by_role("button", name="Things to try")
    await tries.press("Enter")
    prompts = talk.page.get_by_role("list", name="Prompts to try")
    await expect(prompts.get_by_role("button").first).to_be_focused()
    assert await violations(talk.page) == []
    await talk.page.keyboard.press("Escape")
    await expect(prompts).to_be_hidden()
    await expect(talk.page.get_by_role("textbox", name="Message")).to_be_focused()
    await tries.click()
    await prompts.get_by_role("button", name="think about rivers").click()
    await expect(talk.prompts.last).to_have_text("think about rivers")
    await expect(prompts).to_be_hidden()
    await talk.until_idle()
