"""A visitor of a site that is not the gateway's, with the widget on it."""

import re
import uuid
from types import TracebackType
from typing import Any, Final, Self

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from gateway.waiting import PATIENCE_S
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.embed.site import Site
from turnwire_lab.stage import Stage

WAIT_MS: Final = 1_000 * PATIENCE_S
SIZE: Final = {"width": 1000, "height": 760}
LOOSE: Final = "default-src *; style-src 'unsafe-inline'; script-src 'self'"
SEEN: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


class Host(Site):
    """The site, with a page for each visit."""

    def __init__(self) -> None:
        super().__init__()
        self.visits: dict[str, Visit] = {}

    async def page(self, request: Request) -> Response:
        return self.visits[request.query_params["visit"]].written()

    async def hand_token(self, request: Request) -> Response:
        return self.visits[request.query_params["visit"]].next_token()


class Visit:
    """One browser profile on the site, with a session of its own.

    The page is the site's, with what a test adds to it. Tokens come from `tokens`, one after the
    other, and the last again and again.
    """

    def __init__(
        self,
        browser: Browser,
        stage: Stage,
        *,
        head: str = "",
        policy: str | None = None,
        tokens: list[str] | None = None,
        attributes: dict[str, str] | None = None,
        host: Host | None = None,
        **options: Any,
    ) -> None:
        self.stage = stage
        self.session = f"widget-{uuid.uuid4().hex[:8]}"
        self.page: Page
        self.token_requests = 0
        self.troubles: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        self._browser = browser
        self._options = {"viewport": SIZE, "color_scheme": "light"} | options
        self._head = head
        self._policy = policy
        self._tokens = tokens or [stage.token]
        self._attributes = attributes or {}
        self._context: BrowserContext
        site = host or stage.site
        assert isinstance(site, Host)
        self._host = site
        self._host.visits[self.session] = self

    async def __aenter__(self) -> Self:
        self._context = await self._browser.new_context(**self._options)
        self._context.set_default_timeout(WAIT_MS)
        await self._context.add_init_script(SEEN)
        self.page = await self._context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.troubles.append(f"crash: {error}"))
        await self.page.goto(f"{self._host.origin}/?visit={self.session}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._context.close()

    def expects(self, pattern: str) -> None:
        """Troubles in which this is found are part of the test."""
        self._expected.append(re.compile(pattern))

    async def check(self) -> None:
        """Fail for every trouble that was not expected, and for what the page's policy refused."""
        told = await self.page.evaluate("window.violations")
        troubles = self.troubles + [f"violation: {each}" for each in told]
        left = [t for t in troubles if not any(p.search(t) for p in self._expected)]
        if left:
            pytest.fail("\n".join(left))

    # What a visitor does.

    async def open(self) -> None:
        await self.launcher.click()
        await expect(self.page.get_by_role("region", name="Conversation")).to_have_attribute(
            "aria-busy", "false"
        )

    async def ask(self, text: str) -> None:
        before = await self.prompts.count()
        await self.box.fill(text)
        await expect(self.panel.get_by_role("button", name="Send")).to_be_enabled()
        await self.box.press("Enter")
        await expect(self.prompts).to_have_count(before + 1)

    # What a visitor sees.

    @property
    def launcher(self) -> Locator:
        return self.page.get_by_role("button", name="Open chat")

    @property
    def panel(self) -> Locator:
        return self.page.get_by_role("dialog", name="Ask the demo")

    @property
    def box(self) -> Locator:
        return self.panel.get_by_role("textbox", name="Message")

    @property
    def answer(self) -> Locator:
        return self.panel.locator("[data-role=assistant]").last

    @property
    def prompts(self) -> Locator:
        return self.panel.locator("[data-role=user]")

    @property
    def notice(self) -> Locator:
        return self.panel.get_by_role("alert")

    async def until_idle(self) -> None:
        await expect(self.panel.get_by_role("button", name="Send")).to_be_visible()

    # What the agent knows.

    @property
    def runs(self) -> list[Run]:
        agent = self.stage.agent
        assert isinstance(agent, ReferenceAgent)
        return list(agent.journal.of(self.session))

    # What the site answers.

    def written(self) -> Response:
        headers = dict(self._host.headers())
        if self._policy is not None:
            headers["content-security-policy"] = self._policy
        own = {"session": self.session, "token-url": f"/token?visit={self.session}"}
        page = self._host.written(self._head, **own, **self._attributes)
        return HTMLResponse(page, headers=headers)

    def next_token(self) -> Response:
        token = self._tokens[min(self.token_requests, len(self._tokens) - 1)]
        self.token_requests += 1
        return JSONResponse({"token": token})

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.troubles.append(f"console {message.type}: {message.text}")
