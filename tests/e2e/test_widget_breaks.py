"""The widget where turns, lines and tokens break."""

import signal

import pytest
from playwright.async_api import Route, expect

from e2e.conftest import NewVisit
from e2e.silence import fall_silent
from e2e.visiting import LOOSE, Host, Visit
from gateway.waiting import until
from turnwire_lab.stage import Stage

END_OF_STORY = "this is the end."
STORY_MS = 60_000
"""A busy machine takes more than 15 seconds for a story."""
UNREACHED = "Cannot reach the chat service."
NOBODY = "http://127.0.0.1:1"


async def ran(visit: Visit, turns: int) -> None:
    await until(lambda: len(visit.runs) == turns)


@pytest.mark.parametrize("why", ["no gateway", "no permission"])
async def test_who_cannot_reach_the_gateway_is_told_so(
    new_visit: NewVisit, site_stage: Stage, why: str
) -> None:
    asked: list[str] = []
    url = NOBODY if why == "no gateway" else site_stage.gateway.url
    async with Host() as host:
        host.tell(gateway_url=url, session="", token="")
        visit = await new_visit(host=host, policy=LOOSE)
        visit.expects("ERR_|Failed to load|blocked by CORS policy|TURNWIRE_CORS_ORIGINS")
        visit.page.on("request", lambda request: asked.append(request.url))
        await visit.launcher.click()
        await until(lambda: len([each for each in asked if "/messages" in each]) > 2)
        await expect(visit.notice).to_have_text(f"{UNREACHED} Retry")

        # Once, to whoever put it on the page.
        (told,) = [each for each in visit.troubles if each.startswith("console warning")]
        assert (
            f"no answer from {url}. Likely TURNWIRE_CORS_ORIGINS there lacks {host.origin}," in told
        )
        assert site_stage.token not in told
        await visit.check()


async def test_a_gateway_that_was_away_is_reached(new_visit: NewVisit) -> None:
    visit = await new_visit()
    visit.expects("ERR_|Failed to load|TURNWIRE_CORS_ORIGINS")
    await visit.page.route("**/api/**", lambda route: route.abort())
    await visit.launcher.click()
    await visit.notice.get_by_role("button", name="Retry").click()
    await expect(visit.notice).to_contain_text(UNREACHED)
    await visit.page.unroute("**/api/**")
    await expect(visit.notice).to_be_empty()
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()


async def test_a_turn_that_fails_says_what_to_do(visit: Visit) -> None:
    await visit.ask("make the turn fail")
    await expect(visit.notice).to_contain_text("The turn failed")
    await visit.notice.get_by_role("button", name="Try again").click()
    # What is drawn comes a little later, and may still be of the first.
    await until(lambda: [run.reason for run in visit.runs] == ["error"] * 2)
    await expect(visit.notice).to_contain_text("The turn failed")
    await visit.ask("what is 1+1?")
    await expect(visit.notice).to_be_empty()
    await expect(visit.answer).to_contain_text("1+1 is 2.")


async def test_how_turns_ended_is_there_again_after_a_reload(visit: Visit) -> None:
    ended = visit.panel.locator("[data-role=assistant] .ended")
    told = ["This answer failed: The agent was told to fail this turn.", "This answer was stopped"]
    await visit.ask("make the turn fail")
    await expect(ended).to_have_text(told[:1])
    await visit.ask("hang")
    await expect(visit.answer).to_contain_text("until somebody stops me")
    await visit.panel.get_by_role("button", name="Stop").click()
    await expect(ended).to_have_text(told)
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()
    said = visit.panel.get_by_role("region", name="Conversation")
    live = await said.inner_html()
    await visit.page.reload()

    await expect(ended).to_have_text(told)
    await expect(visit.notice).to_be_empty()
    assert await said.inner_html() == live


async def test_a_broken_line_is_mended(visit: Visit) -> None:
    visit.expects("ERR_|Failed to load|TURNWIRE_CORS_ORIGINS")
    await visit.ask("tell me a long story")
    await expect(visit.answer).to_contain_text("Chapter 2.")
    await visit.page.route("**/api/**", lambda route: route.abort())
    await visit.stage.gateway.restart()
    await expect(visit.notice).to_contain_text("Connection lost. The answer goes on without it")
    await visit.page.unroute("**/api/**")
    await expect(visit.answer).to_contain_text(END_OF_STORY, timeout=STORY_MS)
    await visit.until_idle()
    said = await visit.answer.inner_text()
    assert [said.count(f"Chapter {number}.") for number in range(1, 11)] == [1] * 10
    await expect(visit.notice).to_be_empty()
    assert len(visit.runs) == 1


async def test_a_line_that_falls_silent_is_named_and_mended(visit: Visit) -> None:
    await visit.page.clock.install()
    await visit.ask("hang")
    await expect(visit.answer).to_contain_text("until somebody stops me")
    visit.stage.gateway.signal(signal.SIGSTOP)
    try:
        await fall_silent(visit.page, visit.notice, 50_000)
        await expect(visit.notice).to_contain_text(
            "The connection fell silent. The answer goes on without it, and will be picked up."
        )
    finally:
        visit.stage.gateway.signal(signal.SIGCONT)
    await expect(visit.notice).to_be_empty()
    await expect(visit.answer).to_contain_text("until somebody stops me")
    await visit.panel.get_by_role("button", name="Stop").click()
    await visit.until_idle()
    assert [run.reason for run in visit.runs] == ["canceled"]


async def test_a_prompt_that_was_never_sent_is_not_lost(visit: Visit) -> None:
    visit.expects("ERR_|Failed to load|TURNWIRE_CORS_ORIGINS")
    again = visit.notice.get_by_role("button", name="Try again")
    refused: list[str] = []

    async def refuse(route: Route) -> None:
        refused.append(route.request.method)
        await route.abort()

    await visit.page.route("**/api/**", refuse)
    await visit.ask("what is 1+1?")
    await until(lambda: len(refused) > 2)
    # Nothing is promised of a turn that may never have begun.
    await expect(visit.notice).to_have_text(
        "No connection. It is not known yet whether your message was sent."
    )
    await visit.page.unroute("**/api/**")
    await expect(visit.notice).to_contain_text("Not sent. The connection broke before.")
    await expect(visit.prompts).to_have_text(["what is 1+1?"])
    # Nor is it lost the second time, or when the same was asked before.
    for asked in (["what is 1+1?"], ["what is 1+1?"] * 2):
        refused.clear()
        await visit.page.route("**/chat", refuse, times=1)
        await (visit.ask(asked[0]) if await again.count() == 0 else again.click())
        await until(lambda: refused)
        await expect(visit.notice).to_contain_text("Not sent")
        await expect(visit.prompts).to_have_text(asked)
        await again.click()
        await expect(visit.notice).to_be_empty()
        await expect(visit.answer).to_contain_text("1+1 is 2.")
        await visit.until_idle()
        await expect(visit.prompts).to_have_text(asked)
    assert len(visit.runs) == 2


async def test_a_retry_that_was_never_sent_is_no_answer_either(visit: Visit) -> None:
    visit.expects("ERR_|Failed to load|TURNWIRE_CORS_ORIGINS")
    again = visit.panel.get_by_role("button", name="Try again")
    await visit.ask("make the turn fail")
    await expect(visit.notice).to_contain_text("The turn failed")
    await visit.page.route("**/chat", lambda route: route.abort(), times=1)
    await again.click()
    await expect(visit.notice).to_contain_text("Not sent")
    await expect(visit.prompts).to_have_text(["make the turn fail"])
    assert len(visit.runs) == 1
    await again.click()
    await expect(visit.notice).to_contain_text("The turn failed")
    assert len(visit.runs) == 2


async def test_an_answer_that_did_not_end_well_is_asked_for_again(visit: Visit) -> None:
    again = visit.panel.get_by_role("button", name="Try again")
    await visit.ask("make the turn fail")
    await expect(visit.notice).to_contain_text("The turn failed")
    await expect(again).to_have_count(1)
    await visit.page.reload()
    await expect(visit.notice).to_be_empty()
    await again.click()
    await ran(visit, 2)
    await expect(visit.notice).to_contain_text("The turn failed")
    await expect(again).to_have_count(1)

    await visit.ask("hang")
    for runs in (3, 4, 5):
        await ran(visit, runs)
        await expect(visit.answer).to_contain_text("until somebody stops me")
        await expect(again).to_have_count(0)
        await visit.panel.get_by_role("button", name="Stop").click()
        await expect(visit.answer).to_contain_text("This answer was stopped")
        await visit.until_idle()
        if runs == 4:
            await visit.page.reload()
        await again.click()
        await expect(visit.panel.get_by_role("region", name="Conversation")).to_be_focused()
    await visit.until_idle()


async def test_a_stream_that_just_ends_is_no_answer(visit: Visit) -> None:
    said = [
        '{"type":"start","messageId":"t1"}',
        '{"type":"text-start","id":"t1:t0"}',
        '{"type":"text-delta","id":"t1:t0","delta":"It is"}',
    ]
    headers = {"content-type": "text/event-stream", "access-control-allow-origin": "*"}
    body = "".join(f"data: {each}\n\n" for each in said)
    cut = {"body": body, "headers": headers}
    await visit.page.route("**/chat", lambda route: route.fulfill(**cut), times=1)
    await visit.ask("what is 1+1?")
    # The agent has heard of nothing; a client that trusts the end would show half an answer.
    await expect(visit.notice).to_contain_text("Not sent")
    await expect(visit.answer).to_have_count(0)


async def test_an_expired_token_is_replaced_once(new_visit: NewVisit, site_stage: Stage) -> None:
    visit = await new_visit(tokens=[site_stage.new_token(-3600), site_stage.token])
    visit.expects("status of 401")
    assert visit.token_requests == 0
    await visit.open()
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()
    assert visit.token_requests == 2


async def test_a_token_refused_twice_is_told(new_visit: NewVisit, site_stage: Stage) -> None:
    bad = site_stage.new_token(-3600)
    visit = await new_visit(tokens=[bad, bad, site_stage.token])
    visit.expects("status of 401")
    await visit.launcher.click()
    await expect(visit.notice).to_contain_text("Signed out")
    assert visit.token_requests == 2
    assert visit.runs == []
    await visit.notice.get_by_role("button", name="Reconnect").click()
    await expect(visit.notice).to_be_empty()
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    assert visit.token_requests == 3

    # Nor is what is no token sent to anybody.
    none = await new_visit(tokens=["no token"])
    await none.launcher.click()
    await expect(none.notice).to_contain_text("Signed out")
    assert none.token_requests == 1
