"""How the wire view reads: the names of frames whole, the ways of what passed right, and a word
about what looks wrong and is not."""

import json
from typing import Any, Final

import pytest
from playwright.async_api import Locator, Route, ViewportSize, expect

from e2e.axe import violations
from e2e.conftest import NewTalk
from e2e.talking import WIDE, Talk

SIZES: Final[list[ViewportSize]] = [WIDE, {"width": 390, "height": 800}]
CUT: Final = """all => all.filter((it) => it.scrollWidth > it.clientWidth)
    .map((it) => it.textContent)"""
TWICE: Final = "This agent sends each word twice"


def wire(talk: Talk) -> Locator:
    return talk.page.get_by_role("complementary", name="Wire")


@pytest.mark.parametrize("size", SIZES)
async def test_the_names_of_frames_are_whole(new_talk: NewTalk, size: ViewportSize) -> None:
    talk = await new_talk(viewport=size, reduced_motion="reduce")
    if size is not WIDE:
        await talk.page.get_by_role("button", name="Wire").click()
    await talk.ask_and_wait("what is 12*7?")
    names = wire(talk).locator(".rows .kind")
    assert await names.count() > 40
    assert await names.evaluate_all(CUT) == []
    await expect(wire(talk).get_by_text(TWICE)).to_contain_text("The client gets it once.")
    assert await violations(talk.page) == []


async def test_the_filters_have_the_words_of_the_rows(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE)
    await talk.ask_and_wait("what is 12*7?")
    filters = wire(talk).get_by_role("group", name="Filter").get_by_role("button")
    await expect(filters).to_have_text(["From agent", "To client", "To agent", "Other"])
    rows = wire(talk).locator(".rows")
    for name in ("To client", "Other"):
        await filters.filter(has_text=name).click()
    assert set(await rows.locator(".lane").all_inner_texts()) == {"from agent", "to agent"}


async def test_a_flood_too_large_to_match_is_called_that(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE)

    async def flooded(route: Route) -> None:
        rows = [
            ("frame", "message.part.tool-input-delta"),
            ("chunk", "text-delta"),
            ("note", "the gateway hung up"),
            ("request", "no gateway there"),
        ]
        entries = [entry(talk, number, *row) for number, row in enumerate(rows, 1)]
        batch = json.dumps({"entries": entries, "links": [], "skipped": 0})
        stream = {"content-type": "text/event-stream"}
        await route.fulfill(headers=stream, body=f"data: {batch}\n\n")

    await talk.page.route("**/lab/wire", flooded)
    await talk.reload()
    await expect(wire(talk).locator(".median")).to_have_text("frame to chunk: too many to match")
    lanes = wire(talk).locator(".rows .lane")
    await expect(lanes).to_have_text(["from agent", "to client", "to client", "to client"])
    assert await wire(talk).locator(".rows .kind").evaluate_all(CUT) == []
    await expect(wire(talk).get_by_text(TWICE)).to_have_count(0)


async def test_a_second_tab_says_why_it_has_no_wire(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport=WIDE)
    await expect(talk.page.locator(".wire[data-connected=true]")).to_be_visible()
    second = await talk.tab()
    reason = second.get_by_role("complementary", name="Wire").get_by_role("status")
    await expect(reason).to_contain_text("A browser opens six connections to one host")
    assert await violations(second) == []


def entry(talk: Talk, number: int, lane: str, kind: str) -> dict[str, Any]:
    of = {"run": "r", "session": talk.session, "lane": lane, "kind": kind}
    return {"n": number, "at": number, "size": 0, "body": ""} | of
