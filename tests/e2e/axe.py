"""What axe finds on a page, with the rules that all tests ask for."""

from typing import Any, Final

from playwright.async_api import Page

from turnwire_lab.page.serving import BUILT

_AXE: Final = BUILT.parent / "node_modules/axe-core/axe.min.js"
_RULES: Final = """{resultTypes: ['violations'], runOnly:
    ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}"""

_STANDS_STILL: Final = """async () => {
    const all = [...document.querySelectorAll("*")];
    const shadows = all.flatMap(({ shadowRoot }) => shadowRoot ?? []);
    const moves = [document, ...shadows].flatMap((each) => each.getAnimations());
    const ending = moves.filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
}"""
"""What fades in has other colors until it is there."""


async def violations(page: Page) -> list[dict[str, Any]]:
    """Each rule that is violated, and where, once what moves has come to its end."""
    await page.evaluate(_STANDS_STILL)
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(_AXE.read_text())
    found = await page.evaluate(f"async () => (await axe.run(document, {_RULES})).violations")
    return [
        {"rule": each["id"], "where": [node["target"] for node in each["nodes"]]} for each in found
    ]
