"""A chat in a browser, as its user sees it: what to press, what is shown, and what went wrong."""

import re
import uuid
from types import TracebackType
from typing import Any, Final, Self

import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
)

from gateway.waiting import PATIENCE_S
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.stage import Stage

WAIT_MS: Final = 1_000 * PATIENCE_S
SIZE: Final = {"width": 1000, "height": 800}
"""Too narrow for the wire view, which costs a third of the time."""
WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}

VIOLATIONS: Final = """addEventListener("securitypolicyviolation", (event) =>
    console.error(`violation: ${event.effectiveDirective} ${event.blockedURI}`));"""

expect.set_options(timeout=WAIT_MS)


class Talk:
    """One browser profile on one session; `tab` opens another tab of the same profile."""

    def __init__(
        self,
        browser: Browser,
        stage: Stage,
        session: str | None = None,
        *,
        url: str | None = None,
        **options: Any,
    ) -> None:
        self.stage = stage
        assert stage.page is not None
        self.url = url or stage.page.url
        self.session = session or f"e2e-{uuid.uuid4().hex[:8]}"
        self.address = f"{self.url}?session={self.session}"
        self.page: Page
        self.troubles: list[str] = []
        self._browser = browser
        self._options: dict[str, Any] = {"viewport": SIZE, "color_scheme": "light"} | options
        self._expected: list[re.Pattern[str]] = []
        self.context: BrowserContext

    async def __aenter__(self) -> Self:
        self.context = await self._browser.new_context(**self._options)
        self.context.set_default_timeout(WAIT_MS)
        await self.context.add_init_script(VIOLATIONS)
        self.page = await self.tab()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.context.close()

    async def tab(self) -> Page:
        """Another tab on the same session, with everything it complains about written down."""
        page = await self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.troubles.append(f"crash: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        await page.goto(self.address)
        await expect(page.get_by_role("main")).to_have_attribute("aria-busy", "false")
        return page

    def expects(self, pattern: str) -> None:
        """Troubles in which this is found are part of the test."""
        self._expected.append(re.compile(pattern))

    def check(self) -> None:
        """Fail for every trouble that was not expected."""
        left = [t for t in self.troubles if not any(p.search(t) for p in self._expected)]
        if left:
            pytest.fail("\n".join(left))

    # What a user does.

    async def ask(self, text: str) -> None:
        box = self.page.get_by_role("textbox", name="Message")
        await box.fill(text)
        await box.press("Enter")

    async def ask_and_wait(self, text: str) -> None:
        """Until the answer to it is whole: a page is idle before it takes a prompt, too."""
        await self.ask(text)
        await expect(self.page.locator("[data-role=user]").last).to_contain_text(text)
        await expect(self.page.locator("[data-role]").last).to_have_attribute(
            "data-role", "assistant"
        )
        await self.until_idle()

    async def stop(self) -> None:
        await self.page.get_by_role("button", name="Stop", exact=True).click()

    async def reload(self) -> None:
        await self.page.reload()

    async def leave(self) -> None:
        """Nothing the page had begun, as its look at what runs, is under way any more."""
        await self.page.goto("about:blank")

    async def come_back(self) -> None:
        await self.page.goto(self.address)

    # What a user sees.

    @property
    def answer(self) -> Locator:
        """The newest answer."""
        return self.answers.last

    @property
    def answers(self) -> Locator:
        return self.page.locator("[data-role=assistant]")

    @property
    def prompts(self) -> Locator:
        return self.page.locator("[data-role=user] .bubble")

    @property
    def tool(self) -> Locator:
        return self.page.locator("[data-tool]").last

    @property
    def notice(self) -> Locator:
        return self.page.get_by_label("Problem")

    async def until_idle(self) -> None:
        """Until the turn is over for this page."""
        await expect(self.page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        await expect(self.page.locator("[data-agent-status=idle]")).to_be_visible()

    # What the agent knows.

    @property
    def runs(self) -> list[Run]:
        agent = self.stage.agent
        assert isinstance(agent, ReferenceAgent)
        return list(agent.journal.of(self.session))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.troubles.append(f"console {message.type}: {message.text}")

    def _failed(self, request: Request) -> None:
        # What the page itself gave up is no failure: a stream it left, or a reload.
        if request.failure != "net::ERR_ABORTED":
            self.troubles.append(f"failed: {request.method} {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        url = response.url
        if not url.startswith((self.url, "data:", "blob:")):
            self.troubles.append(f"outside: {url}")
        if response.status >= 400:
            self.troubles.append(f"status {response.status}: {url}")
