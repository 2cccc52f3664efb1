"""What the widget must not lose: a prompt that never arrived, and a turn that runs on."""

from typing import Any, Final

from playwright.async_api import Route, expect

from e2e.visiting import Visit

ASKED: Final = "what is 1+1?"
TOLD: Final = "1+1 is 2."
HANGING: Final = "until somebody stops me."
BROKEN: Final = r"ERR_|Failed to load|status of 429|TURNWIRE_CORS_ORIGINS"


async def gone(route: Route) -> None:
    await route.abort()


async def test_a_prompt_that_was_not_sent_is_there_when_the_panel_is_opened_again(
    visit: Visit,
) -> None:
    visit.expects(BROKEN)
    await visit.page.route("**/chat", gone, times=1)
    await visit.ask(ASKED)
    await expect(visit.notice).to_contain_text("Not sent")
    await visit.box.press("Escape")
    await visit.open()

    await expect(visit.notice).to_contain_text("Not sent")
    await expect(visit.prompts).to_have_text([ASKED])
    await visit.notice.get_by_role("button", name="Try again").click()
    await expect(visit.answer).to_contain_text(TOLD)
    await visit.until_idle()
    await expect(visit.prompts).to_have_text([ASKED])
    assert len(visit.runs) == 1


async def test_a_prompt_like_the_one_before_is_lost_by_no_number_of_breaks(visit: Visit) -> None:
    visit.expects(BROKEN)
    again = visit.notice.get_by_role("button", name="Try again")
    await visit.ask(ASKED)
    await expect(visit.answer).to_contain_text(TOLD)
    await visit.until_idle()
    await visit.page.route("**/chat", gone, times=2)
    await visit.ask(ASKED)
    for _ in range(2):
        await expect(visit.notice).to_contain_text("Not sent")
        await expect(visit.prompts).to_have_text([ASKED] * 2)
        await again.click()

    await expect(visit.notice).to_be_empty()
    await expect(visit.panel.locator("[data-role=assistant]")).to_have_count(2)
    await visit.until_idle()
    assert len(visit.runs) == 2


async def test_a_prompt_that_was_refused_and_then_broke_off_is_not_lost_either(
    visit: Visit,
) -> None:
    visit.expects(BROKEN)
    again = visit.notice.get_by_role("button", name="Try again")
    refused: dict[str, Any] = {
        "status": 429,
        "json": {"error": "Wait", "code": "too_many_turns"},
        "headers": {"access-control-allow-origin": "*"},
    }
    await visit.ask(ASKED)
    await expect(visit.answer).to_contain_text(TOLD)
    await visit.until_idle()
    await visit.page.route("**/chat", gone, times=1)
    await visit.page.route("**/chat", lambda route: route.fulfill(**refused), times=1)
    await visit.ask(ASKED)
    await expect(visit.notice).to_contain_text("Too many messages")
    await again.click()

    await expect(visit.notice).to_contain_text("Not sent")
    await expect(visit.prompts).to_have_text([ASKED] * 2)


async def test_a_turn_whose_stop_was_lost_goes_on_to_be_shown(visit: Visit) -> None:
    visit.expects(BROKEN)
    stop = visit.panel.get_by_role("button", name="Stop")
    await visit.ask("hang")
    await expect(visit.answer).to_contain_text(HANGING)
    await visit.page.route("**/stop", gone, times=1)
    async with visit.page.expect_response("**/stream"):
        await stop.click()

    await expect(stop).to_be_enabled()
    await expect(visit.answer).to_contain_text(HANGING)
    assert [run.reason for run in visit.runs] == [None]
    await stop.click()
    await expect(visit.answer).to_contain_text("This answer was stopped")
    await visit.until_idle()
    assert [run.reason for run in visit.runs] == ["canceled"]


async def test_what_could_not_be_read_is_read_again_and_nothing_asked(visit: Visit) -> None:
    """As long as a turn runs, to send its prompt again would be a second one."""
    visit.expects(BROKEN)
    odd: dict[str, Any] = {
        "status": 409,
        "json": {"error": "Somebody is here", "code": "conflict"},
        "headers": {"access-control-allow-origin": "*"},
    }
    await visit.ask("hang")
    await expect(visit.answer).to_contain_text(HANGING)
    await visit.page.route("**/messages?*", lambda route: route.fulfill(**odd), times=1)
    await visit.stage.gateway.restart()

    await visit.notice.get_by_role("button", name="Reconnect").click()
    await expect(visit.answer).to_contain_text(HANGING)
    await visit.panel.get_by_role("button", name="Stop").click()
    await visit.until_idle()
    assert [run.reason for run in visit.runs] == ["canceled"]
