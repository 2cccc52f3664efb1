"""The page as its users use it, in a real browser, with a real gateway and agent behind it."""

import re
from pathlib import Path

from playwright.async_api import expect

from e2e.conftest import NewTalk
from e2e.talking import Talk
from gateway.waiting import until

END_OF_STORY = "this is the end."


async def test_a_prompt_is_answered_while_it_is_said(talk: Talk) -> None:
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Chapter 1.")
    await expect(talk.page.locator("[data-agent-status=streaming]")).to_be_visible()
    assert END_OF_STORY not in await talk.answer.inner_text()

    await expect(talk.answer).to_contain_text(END_OF_STORY)
    await talk.until_idle()
    assert await talk.answer.locator("strong", has_text="Chapter 10.").count() == 1
    # Shift+Enter is a new line, and the title of the session is its first prompt.
    box = talk.page.get_by_role("textbox", name="Message")
    await box.fill("one")
    await box.press("Shift+Enter")
    await box.press_sequentially("two")
    await box.press("Enter")
    await expect(talk.prompts.last).to_have_text(re.compile("one\ntwo"))
    await expect(talk.page.locator(".session[aria-current=true] .title")).to_have_text(
        "tell me a long story"
    )


async def test_tools_are_cards_in_the_order_of_what_was_said(talk: Talk) -> None:
    await talk.ask("what is 12*7?")
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()

    said = await talk.answer.inner_text()
    assert said.index("work that out") < said.index("calculator") < said.index("12*7 is 84.")
    await expect(talk.tool).to_have_attribute("data-tool-state", "done")
    await talk.tool.locator("summary").click()
    await expect(talk.tool.get_by_label("Input of calculator")).to_contain_text('"12*7"')
    await expect(talk.tool.get_by_label("Output of calculator")).to_contain_text('"value": 84')

    await talk.ask("make the tool fail")
    await expect(talk.tool).to_have_attribute("data-tool-state", "failed")
    await expect(talk.tool.locator(".failure").first).to_contain_text("zero")
    await expect(talk.answer).to_contain_text("The calculator gave up")


async def test_thoughts_are_folded_and_markup_is_text(talk: Talk) -> None:
    await talk.ask("think about rivers")
    await expect(talk.answer).to_contain_text("I thought about rivers")
    thought = talk.answer.locator("details.reasoning")
    await expect(thought.locator("p")).to_be_hidden()
    await thought.locator("summary").click()
    await expect(thought.locator("p")).to_contain_text("Counting its words")

    await talk.ask("<img src=x onerror=alert(1)> <b>bold</b> [x](javascript:alert(1))")
    await expect(talk.answer).to_contain_text("Things to try")
    await talk.until_idle()
    assert await talk.answer.locator("img, b, a[href^=javascript]").count() == 0
    await expect(talk.answer).to_contain_text("<img src=x")


async def test_a_question_is_answered_with_a_button(talk: Talk) -> None:
    await talk.ask("ask me: tea or coffee?")
    question = talk.page.get_by_role("region", name="Question")
    await expect(talk.page.locator("[data-live]")).to_have_text("The agent asks you something.")
    await expect(talk.page.locator("[data-agent-status=asking]")).to_be_visible()
    await question.get_by_role("button", name="tea").click()

    await expect(talk.answer).to_contain_text("you said tea")
    await expect(question).to_have_attribute("data-question", "resolved")
    await talk.ask("ask free text about lunch")
    await talk.page.get_by_role("textbox", name="Your answer").fill("soup")
    await talk.page.get_by_role("button", name="Answer", exact=True).click()
    await expect(talk.answer).to_contain_text("soup")


async def test_an_approval_is_given_or_denied_on_its_card(talk: Talk) -> None:
    for word, ending in (("Approve", "done"), ("Deny", "denied")):
        await talk.ask("approve 12*7")
        card = talk.page.get_by_role("group", name="Approval of calculator").last
        await card.get_by_role("button", name=word).click()
        await expect(talk.tool).to_have_attribute("data-tool-state", ending)
        await expect(talk.page.get_by_role("textbox", name="Message")).to_be_focused()
        await talk.until_idle()

    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]
    assert await talk.answers.count() == 2


async def test_a_stop_reaches_the_agent(talk: Talk) -> None:
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Chapter 1.")
    await talk.stop()
    await talk.until_idle()
    assert [(run.reason, run.aborted) for run in talk.runs] == [("canceled", True)]

    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    await talk.page.keyboard.press("Escape")
    await talk.until_idle()
    assert [(run.reason, run.aborted) for run in talk.runs] == [("canceled", True)] * 2
    await expect(talk.notice).to_be_hidden()


async def test_an_answer_is_made_again(talk: Talk) -> None:
    await talk.ask("what is 6*7?")
    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await talk.until_idle()
    before = talk.runs[0].turn_id
    await talk.page.get_by_role("button", name="Answer again").click()

    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await talk.until_idle()
    assert [run.reason for run in talk.runs] == ["end_turn", "end_turn"]
    assert talk.runs[1].turn_id != before
    assert (await talk.prompts.count(), await talk.answers.count()) == (1, 1)


async def test_a_second_tab_follows_and_may_stop(talk: Talk) -> None:
    other = await talk.tab()
    await talk.ask("hang")
    follower = other.locator("[data-role=assistant]")
    await expect(follower).to_contain_text("until somebody stops me.")
    await expect(other.locator("[data-role=user]")).to_have_text("hang")
    await other.get_by_role("button", name="Stop", exact=True).click()

    await talk.until_idle()
    await expect(other.get_by_role("button", name="Send", exact=True)).to_be_visible()
    assert [(run.reason, run.aborted) for run in talk.runs] == [("canceled", True)]


async def test_sessions_keep_their_histories_apart(new_talk: NewTalk) -> None:
    talk = await new_talk()
    await talk.ask("what is 2+3?")
    await expect(talk.answer).to_contain_text("2+3 is 5.")
    await talk.page.get_by_role("button", name="New chat").first.click()
    await expect(talk.page.get_by_role("heading", name="Any AI SDK client")).to_be_visible()
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Chapter 1.")
    # The one that is left goes on.
    await talk.page.get_by_role("button", name="what is 2+3?").click()
    await expect(talk.answer).to_contain_text("2+3 is 5.")
    await talk.page.get_by_role("button", name="tell me a long story").click()
    await expect(talk.answer).to_contain_text(END_OF_STORY)

    elsewhere = await new_talk(talk.session)
    await expect(elsewhere.answer).to_contain_text("2+3 is 5.")


async def test_a_file_goes_along(talk: Talk, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("hello from a file\n")
    async with talk.page.expect_file_chooser() as chooser:
        await talk.page.get_by_role("button", name="Attach a file").click()
    await (await chooser.value).set_files(note)
    await expect(talk.page.locator(".attached")).to_contain_text("note.txt")
    await talk.ask("describe these files")

    await expect(talk.answer).to_contain_text('note.txt text/plain 18 bytes ("hello from a file")')
    await expect(talk.page.locator(".attached")).to_have_count(0)
    await talk.ask("send me a picture")
    await expect(talk.answer.get_by_role("img")).to_have_attribute("src", re.compile("^data:image"))


async def test_a_turn_that_fails_says_why_and_what_to_do(talk: Talk) -> None:
    await talk.ask("make the turn fail")
    await expect(talk.notice).to_contain_text("The agent was told to fail this turn.")
    # What there is to do stands once, and together.
    await expect(talk.notice.get_by_role("button")).to_have_text(["Answer again", "Dismiss"])
    await expect(talk.page.locator("[data-live]")).to_have_text("The turn failed.")
    await talk.notice.get_by_role("button", name="Answer again").click()
    await until(lambda: [run.reason for run in talk.runs] == ["error", "error"])
    await expect(talk.notice).to_contain_text("The agent was told to fail this turn.")
    await talk.ask("what is 1+2?")
    await expect(talk.answer).to_contain_text("1+2 is 3.")
    await expect(talk.notice).to_be_hidden()


async def test_a_stream_that_is_cut_short_is_no_answer(talk: Talk) -> None:
    await talk.ask("what is 1+1?")
    await expect(talk.answer).to_contain_text("1+1 is 2.")
    await talk.until_idle()
    cut = (
        'data: {"type":"start","messageId":"m"}\n\ndata: {"type":"text-start","id":"t"}\n\n'
        'data: {"type":"text-delta","id":"t","delta":"Half of"}\n\n'
    )
    stream = {"content-type": "text/event-stream"}
    await talk.page.route("**/chat", lambda route: route.fulfill(headers=stream, body=cut), times=1)
    await talk.ask("what is 6*7?")

    await expect(talk.notice).to_contain_text("The turn ended without an answer")
    await expect(talk.prompts).to_have_text(["what is 1+1?", "what is 6*7?"])
    await expect(talk.page.get_by_text("Half of")).to_have_count(0)
    await talk.notice.get_by_role("button", name="Try again").click()
    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await expect(talk.notice).to_be_hidden()
