"""The page before agents of frameworks, as `make demo AGENT=…` has it: one page, a chat a test.

FRAMEWORKS names those that are tried. Without it, as in `make test`, it is pydantic-ai without the
tests that take longest, and one test of LangGraph; `make agents` has all.
"""

import os
import re
from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from agents.scenarios import DROPPED_THOUGHTS, MARKED_FAILURES, SILENT_APPROVALS
from e2e.talking import WIDE, Talk
from gateway.needed import lacking
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS, PROMPTS
from turnwire_lab.faultproxy import FaultProxy, Way
from turnwire_lab.stage import Stage

TRIED: Final = os.environ.get("FRAMEWORKS", "pydantic-ai").split()
BRIEFLY: Final = os.environ.get("FRAMEWORKS", "pydantic-ai langgraph").split()
"""Those of the one test that has a text, a tool and a reload."""
HELLO: Final = "Hello! I am a small agent, and no model is behind me."
LINES: Final = 20
STORY: Final = f"tell me a story of {LINES} lines"
"""Two seconds, which leave time to do something in its middle."""
LINE: Final = re.compile(r"Line (\d+) of the story\.")
FAILURE: Final = {
    "agent-framework": "An internal error has occurred",
    "crewai": "CrewAI flow failed; see server logs",
}
"""Where it is not the model's own word."""
NO_HISTORY: Final = "501"
"""An agent over HTTP states no history; the browser writes an error for the page's question."""
BROKEN: Final = r"ERR_|status 503|503 \(Service"

long = pytest.mark.skipif("FRAMEWORKS" not in os.environ, reason="`make agents` has it")


@pytest.fixture(scope="module", params=TRIED)
def framework(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(framework: str) -> AsyncIterator[Stage]:
    FRAMEWORKS[framework].python.exists() or lacking(f"{framework} is not installed: `make agents`")
    async with Stage(FrameworkAgent(framework), wire="ag-ui", prompts=PROMPTS) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def line(stage: Stage) -> AsyncIterator[FaultProxy]:
    """The line between the browser and what serves the page."""
    assert stage.page is not None
    async with FaultProxy(int(stage.page.url.rsplit(":", 1)[1].strip("/"))) as line:
        yield line


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(browser: Browser, stage: Stage, line: FaultProxy) -> AsyncIterator[Talk]:
    async with Talk(browser, stage, url=f"http://127.0.0.1:{line.port}/", viewport=WIDE) as talk:
        talk.expects(NO_HISTORY)
        yield talk


@pytest_asyncio.fixture(loop_scope="session")
async def talk(page: Talk) -> AsyncIterator[Talk]:
    """The page with a new chat in it."""
    await page.page.get_by_role("button", name="New chat").first.click()
    await expect(page.page.get_by_role("heading", name="Any AI SDK client")).to_be_visible()
    yield page
    page.check()
    page.troubles.clear()


def tool(talk: Talk, name: str) -> Locator:
    return talk.answer.locator(f"[data-tool={name}]")


async def lines(talk: Talk) -> list[int]:
    """The lines of the story that stand there."""
    return [int(number) for number in LINE.findall(await talk.answer.inner_text())]


async def test_what_to_try_is_what_the_agent_knows(talk: Talk, framework: str) -> None:
    tries = talk.page.get_by_label("Things to try").get_by_role("button")

    await expect(tries.locator("span")).to_have_text([prompt for prompt, _ in PROMPTS])
    await expect(talk.page.get_by_role("heading", level=1)).to_have_text(
        f"turnwire before {FRAMEWORKS[framework].title}"
    )


async def test_a_text_stands_there_once(talk: Talk) -> None:
    await talk.ask_and_wait("hello")

    await expect(talk.answer.locator(".markdown")).to_have_text([HELLO])
    await expect(talk.notice).to_be_hidden()


async def test_two_calls_at_once_are_two_cards(talk: Talk) -> None:
    await talk.ask_and_wait("what is 12*7 and what time is it in Tokyo?")

    for name, given, came in (
        ("calculator", "12*7", "12*7 is 84"),
        ("clock", "Tokyo", "it is 12:00 in Tokyo"),
    ):
        card = tool(talk, name)
        await expect(card).to_have_count(1)
        await expect(card).to_have_attribute("data-tool-state", "done")
        await expect(card.locator(".hint")).to_have_text(given)
        await card.locator("summary").click()
        await expect(card.get_by_label(f"Output of {name}")).to_contain_text(came)
    await expect(talk.answer.locator(".markdown").last).to_have_text(
        "So: 12*7 is 84 and it is 12:00 in Tokyo."
    )


async def test_a_tool_that_fails_says_why(talk: Talk, framework: str) -> None:
    await talk.ask_and_wait("make the tool fail")

    marked = framework in MARKED_FAILURES
    card = tool(talk, "calculator")
    await expect(card).to_have_attribute("data-tool-state", "failed" if marked else "done")
    await expect(card.locator(".failure.short")).to_have_count(1 if marked else 0)
    await expect(talk.answer.locator(".markdown").last).to_have_text(
        re.compile(r"^So: .*(division by zero|failed)")
    )


async def test_thoughts_are_folded(talk: Talk, framework: str) -> None:
    await talk.ask_and_wait("think about rivers")

    await expect(talk.answer.locator(".markdown")).to_have_text([HELLO])
    thought = talk.answer.locator("details.reasoning")
    await expect(thought).to_have_count(0 if framework in DROPPED_THOUGHTS else 1)
    if framework not in DROPPED_THOUGHTS:
        await expect(thought.locator("p")).to_be_hidden()
        await thought.locator("summary").click()
        await expect(thought.locator("p")).to_contain_text("A river begins small.")


@pytest.mark.parametrize("button", ["Approve", "Deny"])
async def test_an_approval_outlives_a_reload_and_is_answered(
    talk: Talk, framework: str, button: str
) -> None:
    if framework in SILENT_APPROVALS:
        pytest.skip(f"{framework} asks for no approval on this wire")
    await talk.ask("delete notes.txt")
    card = talk.page.get_by_role("group", name="Approval of delete_file")
    await expect(card.get_by_role("button", name="Approve")).to_be_visible()
    await talk.reload()
    await card.get_by_role("button", name=button).click()

    await expect(tool(talk, "delete_file")).to_have_attribute(
        "data-tool-state", {"Approve": "done", "Deny": "denied"}[button]
    )
    await talk.until_idle()
    await expect(talk.page.locator("[data-role]")).to_have_count(2)
    await expect(talk.notice).to_be_hidden()
    assert ("is deleted" in await talk.answer.inner_text()) == (button == "Approve")


@pytest.mark.parametrize("framework", BRIEFLY, indirect=True, scope="module")
async def test_a_reload_in_mid_turn_loses_nothing(talk: Talk) -> None:
    await talk.ask_and_wait("what is 12*7?")
    await talk.ask(STORY)
    await expect(talk.answer).to_contain_text("Line 4 ")
    await talk.reload()

    await expect(talk.answer).to_contain_text(f"Line {LINES} ")
    await talk.until_idle()
    assert await lines(talk) == list(range(1, LINES + 1))
    await expect(talk.prompts).to_have_text(["what is 12*7?", STORY])
    await expect(talk.answers.first.locator("[data-tool=calculator]")).to_have_count(1)


@long
async def test_a_line_that_is_cut_in_mid_turn_is_taken_up(talk: Talk, line: FaultProxy) -> None:
    talk.expects(BROKEN)
    await talk.ask(STORY)
    await expect(talk.answer).to_contain_text("Line 4 ")
    line.there = line.back = Way(cut_after=0)
    line.cut()
    await expect(talk.page.locator("[data-agent-status=reconnecting]")).to_be_visible()
    line.there = line.back = Way()

    await expect(talk.answer).to_contain_text(f"Line {LINES} ")
    await talk.until_idle()
    assert await lines(talk) == list(range(1, LINES + 1))
    await expect(talk.notice).to_be_hidden()


async def test_a_turn_that_is_stopped_ends_and_stays_so(talk: Talk) -> None:
    await talk.ask("tell me a long story")
    await expect(talk.answer).to_contain_text("Line 4 ")
    await talk.stop()
    await talk.until_idle()
    await expect(talk.answer.locator(".ended")).to_have_text("This answer was stopped")
    at_rest = await lines(talk)
    await talk.reload()
    await talk.until_idle()

    await expect(talk.answer.locator(".ended")).to_have_text("This answer was stopped")
    assert await lines(talk) == at_rest == list(range(1, len(at_rest) + 1))
    assert len(at_rest) < 60


@long
async def test_an_agent_that_hangs_up_is_said_to_have_done_so(talk: Talk) -> None:
    if not await talk.page.locator("[data-fault=agent-dies]").is_visible():
        await talk.page.get_by_text("Break something").click()
    await expect(talk.page.locator("[data-fault=slow-client]")).to_have_count(0)
    await talk.page.locator("[data-fault=agent-dies]").click()

    await expect(talk.notice).to_contain_text("The turn ended with it.")
    await talk.until_idle()
    assert len(await lines(talk)) > 3
    await talk.ask_and_wait("hello")
    await expect(talk.answer.locator(".markdown")).to_have_text([HELLO])
    await expect(talk.notice).to_be_hidden()


async def test_a_turn_that_fails_says_why(talk: Talk, framework: str) -> None:
    await talk.ask("make the turn fail")

    await expect(talk.notice).to_contain_text(FAILURE.get(framework, "the model is overloaded"))
    await talk.until_idle()
    await expect(talk.answers).to_have_count(1)
    await talk.ask_and_wait("what is 12*7?")
    await expect(talk.answer.locator(".markdown").last).to_have_text("So: 12*7 is 84.")


async def test_what_the_agent_sends_stands_beside_what_it_became(
    talk: Talk, framework: str
) -> None:
    await talk.ask_and_wait("what is 12*7?")
    wire = talk.page.get_by_role("complementary", name="Wire")
    await wire.locator(".rows [data-kind=tool-input-start] button").last.click()

    detail = wire.get_by_role("region", name="Chosen entry")
    became = detail.locator(".became .kind")
    await expect(became).to_have_text(re.compile("TOOL_CALL_(START|CHUNK)"))
    await talk.ask_and_wait("hello")
    await wire.locator(".rows [data-kind=RunAgentInput] button").last.click()
    sent = detail.get_by_label("Its text")
    await expect(sent).to_contain_text("hello")
    # An agent that keeps nothing is sent what was said before.
    is_sent_all = FRAMEWORKS[framework].history == "client"
    await expect(sent.get_by_text("So: 12*7 is 84.")).to_have_count(1 if is_sent_all else 0)
    await detail.get_by_role("button", name="Close the entry").click()
