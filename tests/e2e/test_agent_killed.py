"""The page before the agent runtime, whose process is killed in a tool: one message goes on.

The model is played; gateway, runtime, journal, tool and browser are real.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from e2e.axe import violations
from e2e.scripted_model import ANSWER, BEFORE, WORD, ScriptedModel
from e2e.talking import WIDE, Talk
from turnwire_lab.runtime.process import RuntimeAgent
from turnwire_lab.runtime.steering import PROMPTS
from turnwire_lab.stage import Stage

NOT_BACK: Final = r"status 503|503 \(Service"
"""What a browser says of a look for the turn that came before the agent was back."""
GOES_ON_MS: Final = 60_000
CARDS: Final = """
window.cards = [];
new MutationObserver(() => {
  const tool = document.querySelector("[data-tool]");
  if (tool === null) return;
  const card = `${tool.dataset.toolState} ${tool.querySelector(".hint").textContent}`;
  if (card !== cards.at(-1)) cards.push(card);
}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
"""
"""What the card of the tool says, each time that it changes."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def agent(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RuntimeAgent]:
    folder: Path = tmp_path_factory.mktemp("journal")
    async with ScriptedModel() as model:
        # The stage starts it, and ends it.
        yield RuntimeAgent("llama-cpp:played", folder=folder, base_url=f"{model.url}/v1")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(agent: RuntimeAgent) -> AsyncIterator[Stage]:
    async with Stage(agent, prompts=PROMPTS) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def talk(browser: Browser, stage: Stage) -> AsyncIterator[Talk]:
    async with Talk(browser, stage, viewport=WIDE, reduced_motion="reduce") as talk:
        talk.expects(NOT_BACK)
        yield talk
        talk.check()


async def one_whole_message(talk: Talk) -> None:
    """A prompt, and one answer with all that the turn had, before and after the process died."""
    await expect(talk.prompts).to_have_count(1)
    await expect(talk.answers).to_have_count(1)
    await expect(talk.answer.locator(".markdown")).to_have_text([BEFORE.strip(), ANSWER])
    await expect(talk.answer.locator("[data-tool]")).to_have_count(1)
    await expect(talk.tool).to_have_attribute("data-tool-state", "done")
    await expect(talk.tool.locator(".hint")).to_have_text(WORD)
    await expect(talk.answer.locator(".ended")).to_have_count(0)
    await expect(talk.notice).to_be_hidden()


async def test_a_turn_outlives_the_process_of_its_agent(talk: Talk, agent: RuntimeAgent) -> None:
    deaths, killed = agent.deaths, agent.pid
    await talk.page.evaluate(CARDS)
    await talk.page.get_by_text("Break something").click()
    await talk.page.locator("[data-fault=agent-killed]").click()
    await expect(talk.page.locator("[data-agent-status=reconnecting]")).to_be_visible()
    await expect(talk.tool).to_have_attribute("data-tool-state", "interrupted")
    assert await violations(talk.page) == []
    cards = await talk.page.evaluate("cards")
    states = [card.split(" ")[0] for card in cards]
    # It died in the middle of the tool, which nobody calls failed while the turn may go on.
    assert list(dict.fromkeys(states)) == ["writing", "running", "interrupted"]
    written = [card.removeprefix("writing ") for card in cards if card.startswith("writing")]
    assert written == sorted(written, key=len)  # an input is shown while the model writes it
    assert any(0 < len(word) < len(WORD) and WORD.startswith(word) for word in written), cards

    await expect(talk.answer).to_contain_text(ANSWER, timeout=GOES_ON_MS)
    await talk.until_idle()
    await one_whole_message(talk)
    assert (agent.deaths, agent.pid != killed) == (deaths + 1, True)
    assert await violations(talk.page) == []

    await talk.reload()
    await one_whole_message(talk)


async def test_only_an_agent_that_may_be_killed_offers_it(talk: Talk) -> None:
    await talk.page.get_by_text("Break something").click()
    offered = talk.page.locator("[data-fault]")

    await expect(offered.first).to_have_attribute("data-fault", "agent-killed")
    await expect(talk.page.locator("[data-fault=slow-client]")).to_have_count(0)
