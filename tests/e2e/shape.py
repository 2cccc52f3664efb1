"""What a conversation looks like, so that two of them can be compared: structure and words."""

import re
from typing import Any, Final

from playwright.async_api import Page

_WALK: Final = """() => {
    const kept = ["class", "role", "aria-label", "open", "disabled", "href", "src"];
    const own = (element) => [...element.attributes]
        .filter(({name}) => kept.includes(name) || name.startsWith("data-"))
        .map(({name, value}) => `${name}=${value}`)
        .sort();
    const walk = (element) => {
        const inside = [];
        for (const child of element.childNodes) {
            // That a break was survived is no part of what was said.
            if (child.className === "survived") continue;
            if (child.nodeType === Node.ELEMENT_NODE) inside.push(walk(child));
            else if (typeof inside.at(-1) === "string") inside[inside.length - 1] += child.data;
            else if (child.nodeType === Node.TEXT_NODE) inside.push(child.data);
        }
        return [element.localName, own(element), ...inside];
    };
    return [...document.querySelectorAll(".message")].map(walk);
}"""
_OWN: Final = re.compile(r"^data-(call|message-id)=|^id=")
"""Ids, which differ from turn to turn."""
_SECONDS: Final = re.compile(r" · \d+\.\d s$")
"""How long a page saw a tool run, which it cannot know of one that ran before it was loaded."""


async def shape(page: Page) -> list[Any]:
    """The messages as they stand there."""
    return [_aside(message) for message in await page.evaluate(_WALK)]


def _aside(node: Any) -> Any:
    """The same without what may differ."""
    if isinstance(node, str):
        return _SECONDS.sub("", node)
    name, attributes, *inside = node
    return [name, [each for each in attributes if not _OWN.match(each)], *map(_aside, inside)]
