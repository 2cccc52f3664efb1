"""The widget before an agent that keeps no history: what was said is in the tab."""

import json
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest_asyncio
from playwright.async_api import expect

from e2e.conftest import PACE_S, NewVisit
from e2e.visiting import Host, Visit
from gateway.needed import lacking
from gateway.waiting import until
from turnwire_lab.agents.ag_ui.journal import End
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits
from turnwire_lab.embed.site import BUILT
from turnwire_lab.stage import VISITOR, Stage

KEY: Final = "turnwire-widget-messages"
NO_HISTORY: Final = "status of 501"
"""The browser writes an error for the widget's question."""
MOST_MESSAGES: Final = 500
MOST_CHARACTERS: Final = 1_000_000
ROOM: Final = 5 * 1024 * 1024
"""Characters that Chromium keeps for a tab."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site_stage() -> AsyncIterator[Stage]:
    BUILT.is_file() or lacking("the widget is not built (`make widget` does it)")
    async with Stage(AgUiAgent(Habits(pace_s=PACE_S)), wire="ag-ui", site=Host()) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def visit(new_visit: NewVisit) -> Visit:
    visit = await new_visit()
    visit.expects(NO_HISTORY)
    await visit.open()
    return visit


def sent(visit: Visit) -> list[str]:
    """What the agent was sent last: roles, and the texts of the user."""
    agent = visit.stage.agent
    assert isinstance(agent, AgUiAgent)
    messages = agent.runs[-1].input["messages"]
    return [each["content"] if each["role"] == "user" else each["role"] for each in messages]


def message(number: int, role: str, text: str) -> dict[str, Any]:
    return {"id": f"m{number}", "role": role, "parts": [{"type": "text", "text": text}]}


def turns(number: int, text: str, filler: int = 0) -> list[dict[str, Any]]:
    """So many prompts and answers; each message has so many characters more that nobody draws."""
    roles = ("user", "assistant")
    messages = [message(each, roles[each % 2], f"{text} {each}") for each in range(2 * number)]
    for each in messages if filler else []:
        each["parts"].append({"type": "data-filler", "data": "x" * filler})
    return messages


def chat(visit: Visit, messages: list[dict[str, Any]], **other: str) -> dict[str, Any]:
    owner = {"gateway": visit.stage.gateway.url, "session": visit.session, "user": VISITOR}
    return {**owner, **other, "messages": messages}


async def put(visit: Visit, stored: object) -> None:
    """What stands in the tab when the page is loaded; text as it is."""
    text = stored if isinstance(stored, str) else json.dumps(stored, separators=(",", ":"))
    await visit.page.evaluate(f"(text) => sessionStorage.setItem('{KEY}', text)", text)
    await visit.page.reload()


async def kept(visit: Visit) -> list[dict[str, Any]]:
    chats: list[dict[str, Any]] = json.loads(
        await visit.page.evaluate(f"sessionStorage.getItem('{KEY}') ?? '[]'")
    )
    return chats


async def test_what_was_said_outlives_a_reload_and_the_agent_gets_it(visit: Visit) -> None:
    await visit.ask("what is 12*7?")
    await expect(visit.answer).to_contain_text("12*7 is 84.")
    await visit.until_idle()
    await visit.page.reload()

    await expect(visit.prompts).to_have_text(["what is 12*7?"])
    await expect(visit.answer).to_contain_text("12*7 is 84.")
    await visit.ask("approve 2*3")
    await visit.page.reload()
    await visit.panel.get_by_role("button", name="Approve").click()
    await expect(visit.answer).to_contain_text("The calculator says 6.")
    await visit.until_idle()
    await expect(visit.answer.locator("[data-tool-state]")).to_have_attribute(
        "data-tool-state", "done"
    )
    await visit.ask("hang")
    await expect(visit.answer).to_contain_text("until somebody stops me")
    assert sent(visit) == [
        *("what is 12*7?", "assistant", "tool", "assistant"),
        *("approve 2*3", "assistant", "tool", "assistant", "hang"),
    ]
    agent = visit.stage.agent
    assert isinstance(agent, AgUiAgent)
    await visit.panel.get_by_role("button", name="Stop").click()
    await expect(visit.answer.locator(".ended")).to_have_text("This answer was stopped")
    await until(lambda: agent.runs[-1].ended is End.HUNG_UP)
    shown = await visit.panel.get_by_role("region", name="Conversation").inner_html()
    await visit.page.reload()

    await expect(visit.prompts).to_have_text(["what is 12*7?", "approve 2*3", "hang"])
    await expect(visit.answer.locator(".ended")).to_have_text("This answer was stopped")
    assert await visit.panel.get_by_role("region", name="Conversation").inner_html() == shown
    # Nothing outlives the tab, and the token is not in it.
    assert visit.stage.token not in json.dumps(await kept(visit))
    assert await visit.page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    new_tab = await visit.page.context.new_page()
    await new_tab.goto(visit.page.url)
    assert await new_tab.evaluate("sessionStorage.length") == 0
    await new_tab.close()


async def test_what_is_kept_has_bounds(visit: Visit) -> None:
    other = chat(visit, turns(1, "elsewhere"), session="other")
    await put(visit, [other, chat(visit, turns(252, "before"))])
    await expect(visit.prompts).to_have_count(252)
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()
    stored = await kept(visit)
    assert [each["session"] for each in stored] == ["other", visit.session]
    assert len(stored[1]["messages"]) == MOST_MESSAGES
    assert stored[1]["messages"][0]["role"] == "user"
    # What was said since the page was loaded stays there, whatever is kept of it.
    await visit.box.press("Escape")
    await visit.open()
    await expect(visit.prompts).to_have_count(253)

    await put(visit, [other, chat(visit, turns(2, "long", 300_000))])
    await expect(visit.prompts).to_have_count(2)
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()
    stored = await kept(visit)
    assert len(json.dumps(stored, separators=(",", ":"))) < MOST_CHARACTERS
    assert [len(each["messages"]) for each in stored] == [2, 4]


async def test_a_storage_that_is_full_or_broken_breaks_nothing(visit: Visit) -> None:
    for broken in ('[{"gateway":', [None, {"session": 1}, chat(visit, [{"id": "m1"}])]):
        await put(visit, broken)
        await expect(visit.panel).to_contain_text("Ask a question to begin.")
    await put(visit, [chat(visit, turns(2, "before", 9_000))])
    await expect(visit.prompts).to_have_count(2)
    fill = f"(room) => sessionStorage.setItem('site', 'x'.repeat({ROOM} - room))"
    used = f"'{KEY}turnwire-widget-opensite'.length + sessionStorage.getItem('{KEY}').length"
    await visit.page.evaluate(fill, await visit.page.evaluate(used) + 100)
    await visit.ask("what is 1+1?")
    await expect(visit.answer).to_contain_text("1+1 is 2.")
    await visit.until_idle()
    (stored,) = await kept(visit)
    assert len(stored["messages"]) == 4
    assert "1+1" in stored["messages"][-1]["parts"][-1]["text"]

    await visit.page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('no'); } })"
    )
    await visit.page.reload()
    await visit.open()
    for prompts in (["what is 1+1?"], ["what is 1+1?", "what is 1+1?"]):
        await visit.ask("what is 1+1?")
        await expect(visit.answer).to_contain_text("1+1 is 2.")
        await visit.until_idle()
        await visit.box.press("Escape")
        await visit.open()
        await expect(visit.prompts).to_have_text(prompts)
    assert sent(visit) == ["what is 1+1?", "assistant", "tool", "assistant", "what is 1+1?"]


async def test_what_another_user_said_in_the_tab_is_removed(visit: Visit) -> None:
    theirs = chat(visit, turns(1, "secret"), user="somebody")
    elsewhere = chat(visit, turns(1, "elsewhere"), gateway="https://other.example", user="somebody")
    await put(visit, [theirs, elsewhere, chat(visit, turns(1, "mine"))])

    await expect(visit.prompts).to_have_text(["mine 0"])
    assert [each["user"] for each in await kept(visit)] == ["somebody", VISITOR]
    assert "secret" not in json.dumps(await kept(visit))
