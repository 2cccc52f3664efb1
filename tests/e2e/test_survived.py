"""A break that does no harm: nothing vanishes meanwhile, and the chat says that it was survived."""

from typing import Any, Final

from playwright.async_api import ViewportSize, expect

from e2e.axe import violations
from e2e.conftest import NewTalk
from e2e.talking import WIDE, Talk

END: Final = "this is the end."
SURVIVED: Final = "The agent hung up; nothing was lost."
WATCH: Final = """() => {
    window.lengths = [];
    const look = () => {
        const answer = [...document.querySelectorAll("[data-role=assistant] .markdown")].at(-1);
        window.lengths.push(answer?.textContent.length ?? 0);
    };
    new MutationObserver(look).observe(document.body, {
        subtree: true, childList: true, characterData: true,
    });
}"""
"""Write down how much of the newest answer stands there, whenever something changes."""
NARROW: Final[ViewportSize] = {"width": 390, "height": 800}


async def break_agent(talk: Talk) -> None:
    await talk.page.get_by_text("Break something").click()
    await talk.page.locator("[data-fault=agent-dies]").click()


async def test_half_an_answer_stays_until_the_rest_comes(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE)
    await talk.page.evaluate(WATCH)
    await break_agent(talk)
    await expect(talk.answer).to_contain_text(END)
    await talk.until_idle()
    lengths: list[int] = await talk.page.evaluate("() => window.lengths")
    assert max(lengths) > 0
    assert lengths == sorted(lengths)


async def test_a_break_that_did_no_harm_is_told_and_not_in_red(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE, reduced_motion="reduce")
    await talk.page.evaluate("""() => {
        window.hopeful = [];
        new MutationObserver(() => {
            const notice = document.querySelector(".notice");
            if (notice !== null) window.hopeful.push(notice.dataset.hopeful);
        }).observe(document.body, {subtree: true, childList: true});
    }""")
    await break_agent(talk)
    sign = talk.answer.get_by_role("status")
    await expect(sign).to_have_text(SURVIVED)
    await expect(talk.answer).to_contain_text(END)
    await talk.until_idle()
    await expect(sign).to_have_text(SURVIVED)
    assert set(await talk.page.evaluate("() => window.hopeful")) == {"true"}
    red = await talk.page.locator(".survived").evaluate("it => getComputedStyle(it).color")
    assert red != "rgb(163, 50, 42)"
    assert await violations(talk.page) == []

    # The next answer, which nothing broke, says nothing of the kind.
    await talk.ask_and_wait("what is 1+1?")
    await expect(talk.page.locator(".survived")).to_have_count(1)


async def test_a_stopped_answer_does_not_say_that_nothing_was_lost(talk: Talk) -> None:
    talk.expects("ERR_|status 503|503 \\(Service")
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    talk.stage.gateway.kill()
    await talk.stage.gateway.restart()
    await expect(talk.page.locator(".survived")).to_have_text(
        "The connection broke; nothing was lost."
    )
    await talk.stop()
    await expect(talk.answer.locator(".ended")).to_have_text("This answer was stopped")
    await expect(talk.page.locator(".survived")).to_have_count(0)


async def test_a_phone_shows_what_a_fault_does_to_the_chat(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=NARROW, reduced_motion="reduce")
    await talk.page.get_by_role("button", name="Wire").click()
    await break_agent(talk)
    wire = talk.page.get_by_role("complementary", name="Wire")
    await expect(talk.answer.get_by_role("status")).to_be_in_viewport()
    await expect(wire.get_by_text("the agent's line is cut")).to_be_attached()
    await expect(wire.locator("[data-fault=agent-dies]")).to_be_hidden()
    chat, below = await talk.page.get_by_role("main").bounding_box(), await wire.bounding_box()
    assert _bottom(chat) <= _top(below)
    await expect(wire.locator(".rows li").last).to_be_in_viewport()
    await talk.stop()
    await talk.until_idle()
    assert await violations(talk.page) == []


def _top(box: Any) -> float:
    return float(box["y"])


def _bottom(box: Any) -> float:
    return float(box["y"] + box["height"])
