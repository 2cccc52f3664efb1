"""AI Elements in Chromium: a page is served streams, and what it shows is compared with them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from conformance.clients import FOLDER
from gateway.chromium import chromium
from turnwire.testing.client_model import Client, Part
from turnwire_lab.process import HOST
from turnwire_lab.service import listener, serving

HERE: Final = FOLDER / "ai-elements"
BUILT: Final = HERE / "dist"
LABELS: Final = {
    "approval-requested": "Awaiting Approval",
    "output-available": "Completed",
    "output-error": "Error",
}
"""How the states in which a turn leaves its tools are named on the page."""
PAUSE: Final = b": the page has time to show what came before\n\n"
RENDERED_S: Final = 0.5
HEADERS: Final = {"x-vercel-ai-ui-message-stream": "v1", "cache-control": "no-cache"}

Content: TypeAlias = dict[str, Any]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One chat as its page shows it; the fields are explained in `page.jsx`."""

    name: str
    status: str
    posts: int
    answers: int
    error: str | None
    parts: list[Content]


class Pages(msgspec.Struct, frozen=True, kw_only=True):
    """All chats of one page, and what the browser reported meanwhile."""

    chats: list[Shown]
    troubles: list[str]

    def chat(self, name: str) -> Shown:
        return next(chat for chat in self.chats if chat.name == name)


@asynccontextmanager
async def _site(streams: Sequence[bytes]) -> AsyncIterator[str]:
    """Serve the page, and each stream under its number; gives the page's address."""

    async def chat(request: Request) -> StreamingResponse:
        return StreamingResponse(
            _records(streams[request.path_params["number"]]),
            media_type="text/event-stream",
            headers=HEADERS,
        )

    routes = [
        Route("/chat/{number:int}", chat, methods=["POST"]),
        Mount("/", StaticFiles(directory=BUILT, html=True)),
    ]
    listening = listener(0)
    async with serving(Starlette(routes=routes), listening):
        yield f"http://{HOST}:{listening.getsockname()[1]}/"


async def _records(stream: bytes) -> AsyncIterator[bytes]:
    """One record after another, so that the page shows the turn while it is growing."""
    for record in re.split(rb"(?<=\n\n)", stream):
        yield record
        await asyncio.sleep(RENDERED_S if record == PAUSE else 0)


async def _show(streams: dict[str, bytes]) -> Pages:
    troubles: list[str] = []
    async with _site([*streams.values()]) as url, chromium() as browser:
        page = await browser.new_page()
        page.on("console", lambda line: _printed(line.type, line.text, troubles))
        page.on("pageerror", lambda error: troubles.append(f"thrown: {error}"))
        page.on("requestfailed", lambda request: _failed(request.url, troubles))
        await page.goto(url)
        jobs = [{"name": name, "api": f"{url}chat/{n}"} for n, name in enumerate(streams)]
        seen = await page.evaluate("jobs => window.play(jobs)", jobs)
    return msgspec.convert({"chats": seen, "troubles": troubles}, Pages)


def _printed(kind: str, text: str, troubles: list[str]) -> None:
    if kind in {"error", "warning"}:
        troubles.append(text)


def _failed(url: str, troubles: list[str]) -> None:
    """Take down what did not load. A chat leaves its stream at an error, which is no trouble."""
    if "/chat/" not in url:
        troubles.append(f"failed: {url}")


def show(streams: dict[str, bytes]) -> Pages:
    """Show each stream in a chat of its own, all in one page, which has to be built before."""
    return asyncio.run(_show(streams))


def prose(markdown: str) -> str:
    """Give what a page shows of the texts that the transcripts have: they use little Markdown."""
    plain = re.sub(r"(\*+)(\w+)\1", r"\2", markdown)
    return _visible(plain.replace("\0", "\ufffd"))


def _visible(text: str) -> str:
    return " ".join(text.split())


def expected(part: Part) -> Content | None:
    """Give what the page has to show of a part; None if AI Elements have nothing for it."""
    match part:
        case {"type": "text" | "reasoning" as kind, "text": str(text)}:
            return {"kind": kind, "text": prose(text)}
        case {"type": "source-url", "url": url}:
            return {"kind": "link", "text": part.get("title", url), "url": url}
        case {"type": "file", "url": url, "mediaType": media_type}:
            return {"kind": "link", "text": media_type, "url": url}
        case {"type": str(kind), "state": str(state)} if kind.startswith("tool-"):
            name = kind.removeprefix("tool-")
            return {"kind": "tool", "name": name, "label": LABELS[state], "blocks": _blocks(part)}
        case {"type": str(kind)} if kind == "step-start" or kind.startswith("data-"):
            return None
        case _:
            raise ValueError(part)


def _blocks(part: Part) -> dict[str, str]:
    blocks = {"Parameters": _json(part["input"])}
    if part["state"] == "output-error":
        return blocks | {"Error": part["errorText"]}
    output = part.get("output")
    # They show no result that JavaScript takes for false.
    if output is None or output is False or output in (0, ""):
        return blocks
    result = output if isinstance(output, str) else _json(output)
    return blocks | {"Result": result.replace("\r\n", "\n")}  # they cut text into lines


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def faults(answer: Client, chat: Shown) -> list[str]:
    """Tell what is wrong with the page, given what the stream says; nothing is a pass."""
    found: list[str] = []

    def same(what: str, has: Any, needs: Any) -> None:
        if has != needs:
            found.append(f"{what} is {has!r}, must be {needs!r}")

    same("posts", chat.posts, 1)
    same("status", chat.status, "ready" if answer.error is None else "error")
    same("error", chat.error, answer.error)
    same("answers", chat.answers, int(answer.shown))
    same("parts", [*map(_read, chat.parts)], [need for need in map(expected, answer.parts) if need])
    return found


def _read(part: Content) -> Content:
    """Give a part as it is compared: what JSON says, not how it is written; words without gaps."""
    if part["kind"] == "tool":
        return part
    return part | {"text": _visible(part["text"])}
