"""What an empty chat of the widget offers, and the site that it stands on."""

import pytest
from playwright.async_api import expect

from e2e.axe import violations
from e2e.conftest import NewVisit
from turnwire_lab.embed.site import SUGGESTIONS


async def test_a_suggestion_is_asked_by_keyboard(new_visit: NewVisit) -> None:
    visit = await new_visit()
    await visit.open()
    offered = visit.panel.get_by_role("list", name="Suggestions").get_by_role("button")
    await expect(offered).to_have_text(list(SUGGESTIONS))
    assert await violations(visit.page) == []
    await offered.first.press("Enter")
    await expect(visit.prompts).to_have_text([SUGGESTIONS[0]])
    await expect(visit.answer).to_contain_text("12*7 is 84.")
    await visit.until_idle()
    await expect(offered).to_have_count(0)
    # The focus is in the panel still.
    await visit.page.keyboard.press("Escape")
    await expect(visit.launcher).to_be_focused()


async def test_a_site_without_suggestions_has_none(new_visit: NewVisit) -> None:
    visit = await new_visit(attributes={"suggestions": " | "})
    await visit.open()
    await expect(visit.panel.get_by_text("Ask a question to begin.")).to_be_visible()
    await expect(visit.panel.get_by_role("list")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
async def test_the_site_is_a_page_with_a_style(
    new_visit: NewVisit, scheme: str, width: int
) -> None:
    visit = await new_visit(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visit.page
    await expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    background = await page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(251, 250, 247)", "dark": "rgb(22, 24, 25)"}[scheme]
    assert await page.evaluate("() => document.documentElement.scrollWidth") == width
    assert await violations(page) == []
    await visit.open()
    assert await violations(page) == []
