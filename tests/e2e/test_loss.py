"""What does not mend itself: the page says what happened, and the next step it offers works."""

from collections.abc import AsyncIterator
from typing import Final

import pytest_asyncio
from playwright.async_api import expect

from e2e.conftest import NewTalk
from e2e.mortal import MortalAgent
from turnwire_lab.stage import Stage

HANG: Final = "hang"
"""A turn that is in its middle for as long as a test takes."""
HANGING: Final = "until somebody stops me."
HEARD: Final = """() => {
    window.said = [];
    const live = document.querySelector("[data-live]");
    new MutationObserver(() => window.said.push(live.textContent)).observe(live, {
        subtree: true, childList: true, characterData: true,
    });
}"""
"""Write down what a screen reader is told."""
BROKEN: Final = r"ERR_|status 50[234]|50[234] \("


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage() -> AsyncIterator[Stage]:
    """With an agent in a process of its own."""
    async with Stage(MortalAgent()) as stage:
        yield stage


async def test_an_agent_that_is_killed_has_forgotten_and_can_be_asked_anew(
    new_talk: NewTalk, stage: Stage
) -> None:
    assert isinstance(stage.agent, MortalAgent)
    talk = await new_talk()
    talk.expects(BROKEN)
    await talk.ask("what is 12*7?")
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()
    await talk.ask(HANG)
    await expect(talk.answer).to_contain_text(HANGING)
    await stage.agent.kill()
    await expect(talk.notice).to_contain_text("hung up")
    await stage.agent.revive()

    await expect(talk.notice).to_contain_text("The agent forgot this session")
    await expect(talk.prompts).to_have_text([HANG])
    await expect(talk.answers).to_have_count(0)
    await talk.notice.get_by_role("button", name="Try again").click()
    await expect(talk.answer).to_contain_text(HANGING)
    await talk.stop()
    await talk.until_idle()
    await expect(talk.notice).to_be_hidden()
    await expect(talk.prompts).to_have_text([HANG])
    await expect(talk.answers).to_have_count(1)


async def test_an_agent_that_stays_away_is_told_and_a_prompt_kept(
    new_talk: NewTalk, stage: Stage
) -> None:
    assert isinstance(stage.agent, MortalAgent)
    talk = await new_talk()
    talk.expects(BROKEN)
    await stage.agent.kill()
    await talk.ask("what is 6*7?")
    await expect(talk.notice).to_contain_text("The agent was not reached")
    await expect(talk.prompts).to_have_text(["what is 6*7?"])
    await stage.agent.revive()
    await talk.notice.get_by_role("button", name="Try again").click()
    await expect(talk.answer).to_contain_text("6*7 is 42.")
    await expect(talk.notice).to_be_hidden()


async def test_a_gateway_that_stays_away_is_tried_and_then_left_to_the_user(
    new_talk: NewTalk, stage: Stage
) -> None:
    talk = await new_talk()
    talk.expects(BROKEN)
    await talk.ask(HANG)
    await expect(talk.answer).to_contain_text(HANGING)
    await talk.page.clock.install()
    await talk.page.evaluate(HEARD)
    stage.gateway.kill()
    try:
        await expect(talk.notice).to_contain_text("Connection lost")
        while "No answer from the gateway" not in await talk.notice.inner_text():
            await talk.page.clock.fast_forward(5_000)  # the longest wait between two tries
        await expect(talk.notice.get_by_role("button", name="Reconnect")).to_be_enabled()
    finally:
        await stage.gateway.restart()
    await talk.page.clock.resume()
    # Half an answer is none.
    assert HANGING not in "".join(await talk.page.evaluate("() => window.said"))
    await talk.notice.get_by_role("button", name="Reconnect").click()
    await expect(talk.answer).to_contain_text(HANGING)
    await talk.stop()
    await talk.until_idle()
    assert HANGING in (await talk.page.evaluate("() => window.said"))[-1]
    await expect(talk.notice).to_be_hidden()
    await expect(talk.answers).to_have_count(1)


async def test_an_approval_that_did_not_arrive_can_be_given_again(
    new_talk: NewTalk, stage: Stage
) -> None:
    talk = await new_talk()
    talk.expects(BROKEN)
    await talk.ask("approve 12*7")
    approve = talk.page.get_by_role("button", name="Approve", exact=True)
    await expect(approve).to_be_enabled()
    stage.gateway.kill()
    try:
        await approve.click()
        await expect(talk.notice).to_contain_text("Not available for now")
    finally:
        await stage.gateway.restart()
    await expect(talk.notice).to_be_hidden()
    await approve.click()
    await expect(talk.answer).to_contain_text("12*7 is 84.")
    await talk.until_idle()
