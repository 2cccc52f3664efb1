"""The widget on a site of another origin, in a real browser, with a real gateway and agent."""

import asyncio
import json

import pytest
from playwright.async_api import Route, expect

from e2e.axe import violations
from e2e.conftest import NewVisit
from e2e.visiting import LOOSE, Visit
from gateway.waiting import until
from turnwire_lab.agents.v2.files import picture
from turnwire_lab.embed.site import SUGGESTIONS

ROOT = "document.querySelector('turnwire-widget').shadowRoot"
END_OF_STORY = "this is the end."
HOSTILE = """<style>
* { display: none !important; visibility: hidden !important; opacity: 0 !important;
    position: static !important; color: #fff !important; background: #fff !important;
    font-size: 1px !important; pointer-events: none !important; transform: scale(0) !important; }
html, body { display: block !important; opacity: 1 !important; transform: none !important; }
</style>"""


async def test_an_answer_streams_and_is_there_again_after_a_reload(visit: Visit) -> None:
    seen: list[str] = []
    visit.page.on("request", lambda request: seen.append(request.url))
    await visit.ask("tell me a long story")
    await expect(visit.answer).to_contain_text("Chapter 1.")
    assert END_OF_STORY not in await visit.answer.inner_text()

    # In mid-turn; the panel was open, and is again.
    await visit.page.reload()
    await expect(visit.panel.locator(".working")).to_have_text("Writing…")
    await expect(visit.answer).to_contain_text(END_OF_STORY)
    await visit.until_idle()
    said = await visit.answer.inner_text()
    assert [said.count(f"Chapter {number}.") for number in range(1, 11)] == [1] * 10
    await expect(visit.panel.locator("article")).to_have_count(2)
    assert await visit.answer.locator("strong", has_text="Chapter 10.").count() == 1
    assert [run.reason for run in visit.runs] == ["end_turn"]

    await visit.page.reload()
    await expect(visit.panel.locator("article")).to_have_count(2)
    await expect(visit.answer).to_contain_text(END_OF_STORY)
    # The token is in no URL and in no storage.
    assert not [url for url in seen if visit.stage.token in url]
    assert [url for url in seen if url.endswith("/chat")]
    stored = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    assert visit.stage.token not in await visit.page.evaluate(stored)
    # Nor is the conversation, which the agent keeps.
    assert await visit.page.evaluate("Object.keys({...localStorage, ...sessionStorage})") == [
        "turnwire-widget-open"
    ]


async def test_a_tool_is_a_folded_card_and_markup_is_text(visit: Visit) -> None:
    await visit.ask("what is 12*7?")
    await expect(visit.answer).to_contain_text("12*7 is 84.")
    await visit.until_idle()
    tool = visit.answer.locator("[data-tool=calculator]")
    await expect(tool).to_have_attribute("data-tool-state", "done")
    output = tool.get_by_label("Output of calculator")
    await expect(output).to_be_hidden()
    await tool.locator("summary").click()
    await expect(output).to_contain_text('"value": 84')

    await visit.ask("make the tool fail")
    await expect(visit.answer.locator("[data-tool-state=failed]")).to_be_visible()
    await visit.until_idle()
    await visit.ask(
        "<img src=x onerror=alert(1)> <b>bold</b> [x](javascript:alert(1)) "
        "[y](https://example.com/) ![z](https://example.com/z.png)"
    )
    await expect(visit.answer).to_contain_text("<img src=x")
    await visit.until_idle()
    assert await visit.answer.locator("img, b, a[href^=javascript]").count() == 0
    link = visit.answer.get_by_role("link", name="y")
    assert await link.get_attribute("rel") == "noopener noreferrer"
    assert await visit.answer.get_by_role("link", name="z").count() == 1


async def test_a_question_is_answered_with_a_button(visit: Visit) -> None:
    await visit.ask("ask me: tea or coffee?")
    question = visit.panel.get_by_role("region", name="Question")
    await expect(visit.panel.locator("[aria-live]")).to_have_text("The agent asks you something.")
    await expect(visit.panel.locator(".working")).to_have_text("Waiting for your answer")
    # Asked again of whoever comes back.
    await visit.page.reload()
    await question.get_by_role("button", name="tea").click()
    await expect(visit.answer).to_contain_text("you said tea")
    await expect(question).to_have_attribute("data-question", "resolved")
    await visit.until_idle()

    tool = visit.answer.locator(".tool .state")
    await visit.ask("approve 12*7")
    await expect(tool).to_have_text("needs approval")
    await visit.page.reload()
    await expect(tool).to_have_text("needs approval")
    await visit.panel.get_by_role("button", name="Approve").click()
    await expect(tool).to_have_text("done")
    await expect(visit.answer).to_contain_text("12*7 is 84.")
    await visit.until_idle()
    await visit.ask("ask free text about lunch")
    await visit.panel.get_by_role("textbox", name="Your answer").fill("soup")
    await visit.panel.get_by_role("button", name="Answer", exact=True).click()
    await expect(visit.answer).to_contain_text("you said soup")
    await visit.until_idle()


async def test_what_was_denied_or_stopped_has_not_failed(visit: Visit) -> None:
    states = visit.panel.locator(".tool .state")
    colour = "(element) => getComputedStyle(element).color"
    await visit.ask("approve 12*7")
    await visit.panel.get_by_role("button", name="deny").click()
    await expect(visit.answer).to_contain_text("I did not work out 12*7")
    await visit.until_idle()
    await visit.ask("approve 2*3")
    await expect(visit.answer.get_by_role("button", name="deny")).to_be_visible()
    await visit.panel.get_by_role("button", name="Stop").click()
    await expect(visit.answer.locator(".question .outcome")).to_have_text("Not answered")
    await visit.until_idle()
    await expect(states).to_have_text(["denied", "canceled"])
    await visit.page.reload()

    await expect(states).to_have_text(["denied", "canceled"])
    await expect(visit.answer.locator(".question .outcome")).to_have_text("Not answered")
    await visit.ask("what is 1+1?")
    await expect(states).to_have_text(["denied", "canceled", "done"])
    assert len({await states.nth(number).evaluate(colour) for number in range(3)}) == 1
    await visit.until_idle()


async def test_pictures_and_files_are_shown(visit: Visit) -> None:
    """Under a policy that allows no pictures at all."""
    corner = "(canvas) => [...canvas.getContext('2d').getImageData(47, 0, 1, 1).data]"
    shown = visit.answer.get_by_role("img", name="A picture")
    file = visit.answer.get_by_role("link", name="File (text/plain)")
    await visit.ask("send me a picture")
    await expect(visit.answer).to_contain_text("That was all I had.")
    await visit.until_idle()
    for _ in range(2):
        await expect(shown).to_have_attribute("width", "48")
        assert await shown.evaluate(corner) == [235, 0, 160, 255]
        await visit.page.reload()
    await expect(shown).to_be_visible()
    await visit.ask("send me a file")
    async with visit.page.expect_download() as downloading:
        await file.click()
    assert "thought of by a model" in (await (await downloading.value).path()).read_text()
    await visit.until_idle()


async def test_files_of_a_prompt_are_shown_and_none_is_loaded(visit: Visit) -> None:
    files = {
        "here.png": picture().url,
        "broken.png": "data:image/png;base64,AAAA",
        "far.png": "https://example.com/far.png",
    }
    kind = {"type": "file", "mediaType": "image/png"}
    parts = [{**kind, "filename": name, "url": url} for name, url in files.items()]
    history = [{"id": "m1", "role": "user", "parts": parts}]
    headers = {"access-control-allow-origin": "*"}
    told = {"json": history, "headers": headers}
    await visit.page.route("**/messages?*", lambda route: route.fulfill(**told))
    seen: list[str] = []
    visit.page.on("request", lambda request: seen.append(request.url))
    await visit.page.reload()

    await expect(visit.prompts.get_by_role("img", name="here.png")).to_have_attribute("width", "48")
    links = visit.prompts.get_by_role("link")
    await expect(links).to_have_text(["broken.png (image/png)", "far.png (image/png)"])
    assert not [url for url in seen if "example.com" in url]


async def test_who_is_faster_than_the_history_is_heard(new_visit: NewVisit) -> None:
    visit = await new_visit()
    told = asyncio.Event()

    async def late(route: Route) -> None:
        await told.wait()
        await route.continue_()

    await visit.page.route("**/messages?*", late)
    await visit.launcher.click()
    await visit.box.fill("what is 1+1?")
    await visit.box.press("Enter")
    await expect(visit.panel.get_by_role("button", name="Send")).to_be_disabled()
    await expect(visit.prompts).to_have_count(0)
    told.set()
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await expect(visit.box).to_have_value("")


async def test_what_is_not_known_yet_is_never_shown_as_known(new_visit: NewVisit) -> None:
    """In the task that opens the panel: else a button can be pressed that soon cannot be."""
    visit = await new_visit()
    await visit.page.route("**/messages?*", lambda route: route.abort())
    visit.expects("ERR_FAILED|TURNWIRE_CORS_ORIGINS")
    busy = await visit.page.evaluate(f"""async () => {{
        {ROOT}.querySelector("button").click();
        await new Promise((resolve) => setTimeout(resolve));
        return {ROOT}.querySelector("[role=region]").ariaBusy;
    }}""")

    assert busy == "true"


async def test_an_answer_that_is_there_at_once_is_told_too(visit: Visit) -> None:
    said = [
        {"type": "start", "messageId": "t1"},
        {"type": "text-start", "id": "t1:t0"},
        {"type": "text-delta", "id": "t1:t0", "delta": "Here it is."},
        {"type": "text-end", "id": "t1:t0"},
        {"type": "finish"},
    ]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in said) + "data: [DONE]\n\n"
    # From the page itself, without a wait for anything.
    await visit.page.evaluate(
        """(body) => {
            const headers = { "content-type": "text/event-stream" };
            const { fetch } = window;
            window.fetch = async (url, init) =>
                String(url).endsWith("/chat") ? new Response(body, { headers }) : fetch(url, init);
        }""",
        body,
    )
    await visit.ask("what is it?")

    live = visit.panel.locator("[aria-live]")
    await expect(live).to_have_text("Answer: Here it is.")


async def test_stop_stops_the_agent(visit: Visit) -> None:
    await visit.ask("tell me a long story")
    await expect(visit.answer).to_contain_text("Chapter 1.")
    await visit.panel.get_by_role("button", name="Stop").click()
    await until(lambda: visit.runs[0].reason == "canceled")
    await visit.until_idle()
    assert visit.runs[0].aborted
    assert END_OF_STORY not in await visit.answer.inner_text()
    await expect(visit.notice).to_be_empty()
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()


async def test_hostile_styles_do_not_reach_it_and_its_own_stay_inside(
    new_visit: NewVisit,
) -> None:
    style = "(element) => [getComputedStyle(element).fontSize, getComputedStyle(element).color]"
    kind = await new_visit()
    heading = await kind.page.locator("h1").evaluate(style)
    await kind.open()
    wanted = await kind.panel.evaluate(style)
    assert await kind.page.locator("h1").evaluate(style) == heading
    # The page has one of its own.
    assert await kind.page.evaluate("document.querySelectorAll('style').length") == 1

    visit = await new_visit(head=HOSTILE, policy=LOOSE)
    await expect(visit.page.locator("h1")).to_be_hidden()
    await visit.open()
    assert await visit.panel.evaluate(style) == wanted
    await expect(visit.panel).to_be_in_viewport(ratio=1)
    await visit.ask("what is 12*7?")
    await expect(visit.answer).to_contain_text("12*7 is 84.")
    assert await visit.panel.evaluate("(e) => e.checkVisibility({opacityProperty: true})")


async def test_it_takes_its_looks_from_the_site(new_visit: NewVisit) -> None:
    head = "<style>:root { --turnwire-accent: rgb(120, 0, 90); --turnwire-width: 333px }</style>"
    attributes = {"theme": "dark", "position": "left", "open": "", "welcome": "Hello there."}
    visit = await new_visit(head=head, policy=LOOSE, attributes=attributes)
    await expect(visit.panel).to_contain_text("Hello there.")
    look = "(element) => getComputedStyle(element).backgroundColor"
    assert await visit.panel.get_by_role("button", name="Send").evaluate(look) == "rgb(120, 0, 90)"
    assert await visit.panel.evaluate(look) == "rgb(26, 30, 31)"
    box = await visit.panel.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (20, 333)


async def test_what_was_pressed_and_is_gone_leaves_the_focus_in_the_panel(visit: Visit) -> None:
    log = visit.panel.get_by_role("region", name="Conversation")
    await visit.ask("ask me: tea or coffee?")
    await visit.panel.get_by_role("button", name="tea").press("Enter")
    await expect(log).to_be_focused()
    await expect(visit.answer).to_contain_text("you said tea")
    await visit.until_idle()
    await visit.ask("ask free text about lunch")
    answer = visit.panel.get_by_role("textbox", name="Your answer")
    await answer.fill("soup")
    await answer.press("Enter")
    await expect(log).to_be_focused()
    await expect(visit.answer).to_contain_text("you said soup")
    await visit.until_idle()
    await visit.ask("hang")
    await expect(visit.answer).to_contain_text("until somebody stops me")
    await visit.panel.get_by_role("button", name="Stop").press("Enter")
    await expect(visit.box).to_be_focused()
    await visit.until_idle()


async def test_it_works_by_keyboard_alone(visit: Visit) -> None:
    await expect(visit.box).to_be_focused()
    names = f"{ROOT}.activeElement?.ariaLabel"
    await visit.page.keyboard.type("what is 1")
    # The focus passes by a button that cannot be pressed yet.
    await expect(visit.panel.get_by_role("button", name="Send")).to_be_enabled()
    seen = []
    suggestions = [None] * len(SUGGESTIONS)
    wanted = ["Send", "Close chat", "Conversation", *suggestions, "Message", "Send"]
    for _ in wanted:
        await visit.page.keyboard.press("Tab")
        seen.append(await visit.page.evaluate(names))
    assert seen == wanted
    for _ in wanted[1:]:
        await visit.page.keyboard.press("Shift+Tab")
    assert await visit.page.evaluate(names) == "Send"
    await visit.page.keyboard.press("Escape")
    await expect(visit.panel).to_be_hidden()
    await expect(visit.launcher).to_be_focused()
    await visit.page.keyboard.press("Enter")
    # What was typed before is still there.
    await visit.page.keyboard.type("+1?")
    await visit.page.keyboard.press("Enter")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await expect(visit.prompts).to_have_text(["what is 1+1?"])
    await expect(visit.panel.locator("[aria-live]")).to_contain_text("Answer: ")
    # What came while it was closed is marked at the button.
    await visit.until_idle()
    await visit.ask("tell me a long story")  # so that it is closed before it is all there
    await visit.page.keyboard.press("Escape")
    await expect(visit.page.get_by_role("button", name="Open chat, new answer")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(new_visit: NewVisit, scheme: str) -> None:
    narrow = {"width": 320, "height": 640}
    visit = await new_visit(color_scheme=scheme, reduced_motion="reduce", viewport=narrow)
    assert await violations(visit.page) == []
    await visit.open()
    await visit.ask("what is 12*7?")
    await visit.until_idle()
    await visit.answer.locator("summary").click()
    await visit.ask("think about rivers")
    await visit.until_idle()
    await visit.ask("send me a picture")
    await expect(visit.answer.get_by_role("img")).to_be_visible()
    await visit.until_idle()
    await visit.ask("make the turn fail")
    await expect(visit.notice).to_contain_text("The turn failed")
    assert await violations(visit.page) == []
    await visit.ask("ask me: tea or coffee?")
    await expect(visit.panel.get_by_role("button", name="tea")).to_be_visible()
    assert await violations(visit.page) == []
    await visit.panel.get_by_role("button", name="Stop").click()
    await expect(visit.panel.get_by_role("button", name="Try again")).to_be_visible()
    assert await violations(visit.page) == []
    box = await visit.panel.bounding_box()
    assert box == {"x": 0, "y": 0, **narrow}
    assert await visit.page.evaluate("document.documentElement.scrollWidth") == 320


async def test_what_is_missing_is_said_in_the_console(new_visit: NewVisit) -> None:
    visit = await new_visit(attributes={"url": "ftp://example.com"})
    visit.expects("turnwire widget: the gateway's URL is needed")
    await until(lambda: visit.troubles)
    await expect(visit.launcher).to_have_count(0)
