"""The list of chats: found by their names, named, and deleted; by keyboard and on a phone too."""

from typing import Final

from playwright.async_api import Locator, ViewportSize, expect

from e2e.axe import violations
from e2e.conftest import NewTalk
from e2e.talking import Talk

NARROW: Final[ViewportSize] = {"width": 390, "height": 800}


def titles(talk: Talk) -> Locator:
    return talk.page.locator(".session .title")


async def another(talk: Talk, prompt: str) -> None:
    await talk.page.get_by_role("button", name="New chat").first.click()
    await talk.ask_and_wait(prompt)


async def test_chats_are_found_by_their_names(talk: Talk) -> None:
    await talk.ask_and_wait("what is 2+3?")
    await another(talk, "think about rivers")
    search = talk.page.get_by_role("searchbox", name="Search chats")
    await search.fill("RIVER")
    await expect(titles(talk)).to_have_text(["think about rivers"])
    await expect(talk.page.get_by_text("1 chat found")).to_be_attached()
    await search.fill("no such chat")
    await expect(titles(talk)).to_have_count(0)
    await expect(talk.page.get_by_text("No chat has these words")).to_be_visible()
    assert await violations(talk.page) == []
    # Esc ends the search, and no turn.
    await search.press("Escape")
    await expect(titles(talk).filter(has_text="what is 2+3?")).to_have_count(1)


async def test_a_chat_is_named_by_keyboard(talk: Talk) -> None:
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    rename = talk.page.get_by_role("button", name="Rename", exact=True).first
    await rename.focus()
    await rename.press("Enter")
    name = talk.page.get_by_role("textbox", name="Name of the chat")
    await expect(name).to_be_focused()
    assert await violations(talk.page) == []
    await name.fill("thrown away")
    await name.press("Escape")
    await expect(rename).to_be_focused()
    await expect(titles(talk).first).to_have_text("hang")

    await rename.press("Enter")
    await name.fill("  Rivers and lakes  ")
    await name.press("Enter")
    await expect(titles(talk).first).to_have_text("Rivers and lakes")
    await expect(talk.page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    await talk.reload()
    await expect(titles(talk).first).to_have_text("Rivers and lakes")
    await talk.stop()
    await talk.until_idle()


async def test_a_chat_is_deleted_after_a_second_look(talk: Talk) -> None:
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    count = await titles(talk).count()
    delete = talk.page.get_by_role("button", name="Delete", exact=True).first
    await delete.click()
    sure = talk.page.get_by_role("group", name="Delete this chat?")
    await expect(sure).to_contain_text("The agent keeps what was said.")
    assert await violations(talk.page) == []
    await sure.get_by_role("button", name="Keep it").click()
    await expect(sure).to_have_count(0)
    await expect(delete).to_be_focused()

    await delete.click()
    await sure.get_by_role("button", name="Delete the chat").click()
    await expect(titles(talk)).to_have_count(count - 1)
    await expect(titles(talk).filter(has_text="hang")).to_have_count(0)
    await expect(talk.page.get_by_role("textbox", name="Message")).to_be_focused()
    # Nor does the address bring it back; and its turn is no longer run for nobody.
    await talk.reload()
    await expect(titles(talk)).to_have_count(count - 1)
    assert [run.reason for run in talk.runs] == ["canceled"]


async def test_the_last_chat_makes_way_for_a_new_one(talk: Talk) -> None:
    for _ in range(await titles(talk).count()):
        await talk.page.get_by_role("button", name="Delete", exact=True).first.click()
        await talk.page.get_by_role("button", name="Delete the chat").click()
    await expect(titles(talk)).to_have_text(["New chat"])
    await talk.ask("what is 1+2?")
    await expect(talk.answer).to_contain_text("1+2 is 3.")


async def test_the_drawer_of_a_phone_has_a_scrim(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=NARROW, has_touch=True)
    await talk.page.get_by_role("button", name="Sessions").click()
    new = talk.page.get_by_role("button", name="New chat").first
    await expect(new).to_be_in_viewport()
    await expect(
        talk.page.get_by_role("button", name="Rename", exact=True).first
    ).to_be_in_viewport()
    assert await violations(talk.page) == []
    await talk.page.locator(".scrim").click(position={"x": 370, "y": 400})
    await expect(talk.page.get_by_role("button", name="New chat")).to_have_count(0)
