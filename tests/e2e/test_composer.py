"""The message box: what it takes, what it keeps, and that the keyboard comes back to it."""

import re
from pathlib import Path
from typing import Final

from playwright.async_api import Locator, expect

from e2e.talking import Talk

LIMIT_BYTES: Final = 9_000_000
"""As base64, what the gateway takes of one file."""


def box(talk: Talk) -> Locator:
    return talk.page.get_by_role("textbox", name="Message")


def keys(talk: Talk) -> Locator:
    return talk.page.locator("#keys")


async def attach(talk: Talk, *files: Path) -> None:
    async with talk.page.expect_file_chooser() as chooser:
        await talk.page.get_by_role("button", name="Attach a file").click()
    await (await chooser.value).set_files(files)


async def test_a_question_keeps_what_is_typed_and_speaks_of_no_time(talk: Talk) -> None:
    await expect(keys(talk)).to_contain_text("Enter sends")
    await talk.ask("ask me: tea or coffee?")
    question = talk.page.get_by_role("region", name="Question")
    await expect(keys(talk)).to_have_text("Answer the question above, or press Esc to stop it.")
    await box(talk).fill("later")
    await box(talk).press("Enter")
    await expect(box(talk)).to_have_value("later")
    await expect(keys(talk)).to_have_attribute("data-pressed", "true")
    await talk.page.keyboard.press("Escape")
    await talk.until_idle()

    await expect(question.locator(".outcome")).to_have_text("Not answered")
    await expect(keys(talk)).to_contain_text("Enter sends")
    await talk.reload()
    await expect(question.locator(".outcome")).to_have_text("Not answered")
    await expect(box(talk)).to_have_value("later")
    assert len(talk.runs) == 1


async def test_the_keyboard_comes_back_to_it(talk: Talk) -> None:
    await talk.ask("ask me: tea or coffee?")
    await talk.page.get_by_role("button", name="tea", exact=True).click()
    await expect(talk.answer).to_contain_text("you said tea")
    await expect(box(talk)).to_be_focused()
    await talk.until_idle()
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    await expect(keys(talk)).to_contain_text("Wait for the answer")
    stop = talk.page.get_by_role("button", name="Stop", exact=True)
    await stop.focus()
    await stop.press("Enter")
    await expect(box(talk)).to_be_focused()
    await talk.until_idle()
    await expect(box(talk)).to_have_value("")


async def test_each_session_keeps_its_draft(talk: Talk) -> None:
    await talk.ask_and_wait("what is 2+3?")
    await box(talk).fill("one thing")
    await talk.page.get_by_role("button", name="New chat").first.click()
    await expect(box(talk)).to_have_value("")
    await box(talk).fill("another")
    await talk.page.get_by_role("button", name="what is 2+3?").click()
    await expect(box(talk)).to_have_value("one thing")
    await talk.ask_and_wait("what is 1+2?")
    await talk.reload()
    await expect(talk.answer).to_contain_text("1+2 is 3.")
    await expect(box(talk)).to_have_value("")
    await talk.page.get_by_role("button", name="New chat").nth(1).click()
    await expect(box(talk)).to_have_value("another")


async def test_files_that_are_too_much_are_left_out_at_once(talk: Talk, tmp_path: Path) -> None:
    large, most = tmp_path / "large.txt", tmp_path / "most.txt"
    large.write_bytes(b"x" * (LIMIT_BYTES + 1))
    most.write_bytes(b"x" * (LIMIT_BYTES - 100))
    small = [tmp_path / f"{number}.txt" for number in range(9)]
    for each in small:
        each.write_text("hello")
    refusal = talk.page.locator(".left-out")
    attached = talk.page.locator(".attached")

    await attach(talk, large)
    await expect(refusal).to_have_text(
        "large.txt is too large. Files may have up to about 9 MB here."
    )
    await attach(talk, most)
    await expect(attached).to_have_text(["most.txt"])
    await expect(refusal).to_be_empty()
    await attach(talk, most)
    await expect(refusal).to_contain_text("up to about 12 MB together")
    await attached.get_by_role("button", name="Remove the file").click()
    await attach(talk, *small)
    await expect(refusal).to_have_text("8.txt was left out. A message may have up to 8 files.")
    await expect(attached).to_have_count(8)
    await talk.ask("describe these files")
    await expect(talk.answer).to_contain_text("7.txt text/plain 5 bytes")
    await expect(refusal).to_be_empty()


async def test_a_prompt_that_is_refused_is_put_back(talk: Talk, tmp_path: Path) -> None:
    talk.expects("status 400|400 \\(Bad")
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom")
    await attach(talk, clip)
    await talk.ask("describe these files")
    await expect(talk.notice).to_contain_text("An attachment is of a type that is not accepted")
    await expect(talk.notice.get_by_role("button")).to_have_text(["Dismiss"])
    await expect(box(talk)).to_have_value("describe these files")
    await expect(talk.page.locator(".attached")).to_have_text(["clip.mp4"])
    await expect(talk.prompts).to_have_count(0)

    await talk.page.get_by_role("button", name="Remove the file").click()
    await box(talk).press("Enter")
    await expect(talk.notice).to_be_hidden()
    await expect(talk.answer).to_contain_text(re.compile("file", re.IGNORECASE))
    await talk.until_idle()
    assert len(talk.runs) == 1
