"""CORS where it counts: in a browser, with pages of several origins.

What the gateway says in its headers, `web/server/test_cors.py` has; here is what a page can do.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from gateway.agent import ScriptedAgent
from gateway.chromium import chromium
from gateway.clients import Json, ask, is_whole, outline, said
from gateway.listening import Listening
from gateway.running import Gateway
from gateway.tokens import bearer, token
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_scope="module"),
]

SCRIPT = """
const tell = async (response) => ({
    type: response.type,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
});

// What came of a request: all that a page may read of it.
window.tried = async (url, init) => {
    try {
        return await tell(await fetch(url, init));
    } catch (problem) {
        return {error: problem.name};
    }
};

// A stream that is read as it comes.
window.streams = {};
window.follow = async (name, url, init) => {
    const response = await fetch(url, init);
    const stream = window.streams[name] = {status: response.status, body: '', over: false};
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
        const {done, value} = await reader.read();
        if (done) break;
        stream.body += value;
    }
    stream.over = true;
};

// The older ways to send something.
window.oldWays = async (url, body, token) => {
    const old = new XMLHttpRequest();
    const xhr = new Promise((resolve) => {
        old.onloadend = () => resolve([old.status, old.responseText]);
    });
    old.open('POST', url);
    old.setRequestHeader('authorization', `Bearer ${token}`);
    old.send(body);
    const source = new EventSource(`${url}/chat-1/stream?token=${token}`);
    const events = new Promise((resolve) => {
        source.onmessage = () => resolve('message');
        source.onerror = () => resolve('error');
    });
    const socket = new WebSocket(url.replace('http', 'ws'));
    const socketed = new Promise((resolve) => {
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('error');
    });
    const beacon = navigator.sendBeacon(url, new Blob([body], {type: 'text/plain'}));
    const told = {xhr: await xhr, events: await events, socket: await socketed, beacon};
    source.close();
    return told;
};
"""


class Site(Listening):
    """An origin with one page: `async with Site() as site:`."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        frame = b"" if b" /framed " in asked else b"<iframe sandbox=allow-scripts src=/framed>"
        page = b"<!doctype html><script>" + SCRIPT.encode() + b"</script>" + frame
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n"
        writer.write(head + b"content-length: %d\r\n\r\n" % len(page) + page)
        await writer.drain()
        writer.close()


class Page:
    """A page of a site, and its sandboxed frame, whose origin is `null`."""

    def __init__(self, page: Any, preflights: list[str]) -> None:
        self._page = page
        self.preflights = preflights
        """URLs that the browser asked about before it sent anything."""

    async def tried(self, url: str, *, framed: bool = False, **init: Any) -> Json:
        """What `fetch` told the page."""
        where = next(f for f in self._page.frames if f.url.endswith("/framed") == framed)
        told: Json = await where.evaluate("([url, init]) => tried(url, init)", [url, init])
        return told

    async def follow(self, name: str, url: str, **init: Any) -> None:
        call = "([name, url, init]) => { void follow(name, url, init) }"
        await self._page.evaluate(call, [name, url, init])

    async def sees(self, name: str, text: str) -> None:
        fact = "([name, text]) => streams[name]?.body.includes(text)"
        await self._page.wait_for_function(fact, arg=[name, text])

    async def end(self, name: str) -> str:
        await self._page.wait_for_function("name => streams[name]?.over", arg=name)
        return str(await self._page.evaluate("name => streams[name].body", name))

    async def old_ways(self, url: str) -> Json:
        call = "([url, body, token]) => oldWays(url, body, token)"
        told: Json = await self._page.evaluate(call, [url, json.dumps(ask()), token()])
        return told


class Browser:
    """One browser for all tests, and two sites; pages of the first are listed."""

    def __init__(self, browser: Any, listed: Site, other: Site) -> None:
        self._browser = browser
        self.listed = listed
        self.other = other

    @asynccontextmanager
    async def page(self, site: Site) -> AsyncIterator[Page]:
        context = await self._browser.new_context()
        page = await context.new_page()
        preflights: list[str] = []

        def sent(event: Json) -> None:
            if event["request"]["method"] == "OPTIONS":
                preflights.append(event["request"]["url"])

        devtools = await context.new_cdp_session(page)
        devtools.on("Network.requestWillBeSent", sent)
        await devtools.send("Network.enable")
        await page.goto(site.origin)
        yield Page(page, preflights)
        await context.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(chromium())
        listed = await stack.enter_async_context(Site())
        other = await stack.enter_async_context(Site())
        yield Browser(running, listed, other)


def chat_url(gateway: Gateway) -> str:
    return f"{gateway.url}/api/sessions/s1/chat"


def prompting(text: str = "hi", **init: Any) -> Json:
    """What `DefaultChatTransport` gives to `fetch`."""
    headers = {"content-type": "application/json", **bearer()}
    return {"method": "POST", "headers": headers, "body": json.dumps(ask(text)), **init}


async def test_a_page_of_a_listed_origin_prompts_resumes_and_stops(browser: Browser) -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url, cors_origins=browser.listed.origin) as gateway,
        browser.page(browser.listed) as page,
    ):
        url = chat_url(gateway)
        told = await page.tried(url, **prompting())
        refused = await page.tried(f"{gateway.url}/api/sessions/s1/stop", **prompting(headers={}))

        await page.follow("first", url, **prompting("hang"))
        await page.sees("first", "text-delta")
        await page.follow("again", f"{url}/chat-1/stream", headers=bearer())
        await page.sees("again", "text-delta")
        stopped = await page.tried(f"{gateway.url}/api/sessions/s1/stop", **prompting(body="{}"))
        first, again = await page.end("first"), await page.end("again")
        messages = await page.tried(f"{gateway.url}/api/sessions/s1/messages", headers=bearer())

    assert (told["type"], told["status"]) == ("cors", 200)
    assert is_whole(told["body"])
    assert set(told["headers"]) == {"cache-control", "content-type", "x-request-id"}
    assert (refused["status"], refused["headers"]["x-request-id"]) == (
        401,
        json.loads(refused["body"])["requestId"],
    )
    assert outline(first)[-2:] == outline(again)[-2:] == ["abort", "finish"]
    assert said(first) == said(again)
    assert stopped["status"] == 200
    assert [each["role"] for each in json.loads(messages["body"])][:2] == ["user", "assistant"]
    assert set(page.preflights) >= {url, f"{url}/chat-1/stream"}


@pytest.mark.attack(
    "a page of an origin that is not listed, in a real browser: `fetch` in every mode, "
    "`XMLHttpRequest`, `EventSource`, `sendBeacon`, a WebSocket",
    "the browser shows the page nothing; no turn starts",
)
async def test_a_page_of_another_origin_can_do_nothing(browser: Browser) -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), cors_origins=browser.listed.origin) as gateway,
        browser.page(browser.other) as page,
    ):
        url = chat_url(gateway)
        told = [
            await page.tried(url, **prompting()),
            await page.tried(url, **prompting(credentials="include")),
            await page.tried(url, **prompting(headers={"content-type": "text/plain"})),
            await page.tried(f"{url}/chat-1/stream", headers=bearer()),
            await page.tried(f"{url}?token={token()}", method="POST", body="{}"),
        ]
        blind = await page.tried(url, **prompting(mode="no-cors"))
        old = await page.old_ways(url)
        admitted = gateway.telemetry.registry.get_sample_value(
            "turnwire_refusals_total", {"code": "unauthorized"}
        )

        assert told == [{"error": "TypeError"}] * len(told)
        assert (blind["type"], blind["status"], blind["body"]) == ("opaque", 0, "")
        assert old == {"xhr": [0, ""], "events": "error", "socket": "error", "beacon": True}
        assert agent.connections == 0
        assert gateway.ended("completed") == 0
        assert admitted  # what needs no preflight got there, without a token


@pytest.mark.attack(
    "a page without an origin (`null`: a sandboxed frame), in a real browser",
    "the same as for every origin that is not listed",
)
@pytest.mark.parametrize(("origins", "may"), [("listed", False), ("*", True)])
async def test_null_is_an_origin_like_any_that_is_not_listed(
    browser: Browser, origins: str, *, may: bool
) -> None:
    listed = browser.listed.origin if origins == "listed" else origins
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), cors_origins=listed) as gateway,
        browser.page(browser.listed) as page,
    ):
        told = await page.tried(chat_url(gateway), framed=True, **prompting())

        assert told.get("status") == (200 if may else None)
        assert agent.connections == (1 if may else 0)


@pytest.mark.attack(
    "a page that sends cookies along (`credentials: include`), in a real browser",
    "the browser refuses before anything is sent, for listed origins and `*` alike",
)
@pytest.mark.parametrize("origins", ["listed", "*"])
async def test_nobody_may_send_credentials(browser: Browser, origins: str) -> None:
    listed = browser.listed.origin if origins == "listed" else origins
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), cors_origins=listed) as gateway,
        browser.page(browser.listed) as page,
    ):
        told = await page.tried(chat_url(gateway), **prompting(credentials="include"))
        assert told == {"error": "TypeError"}
        assert agent.connections == 0

        told = await page.tried(chat_url(gateway), **prompting(credentials="omit"))
        assert is_whole(told["body"])
