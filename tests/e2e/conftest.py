"""A real browser on the demo's page: one browser for all, a stage of its own for each file.

`talk` is what most tests want: a page on a session that nobody used before. A test fails if the
page wrote an error to its console, if a request failed, or if anything but loopback was asked;
what a test expects of that kind it says with `talk.expects`.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.chromium import chromium
from gateway.needed import lacking
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.embed.site import BUILT as WIDGET
from turnwire_lab.page.serving import BUILT
from turnwire_lab.stage import Stage

try:
    from playwright.async_api import Browser
except ModuleNotFoundError:
    if os.environ.get("CI") == "1":
        raise
    collect_ignore_glob = ["*"]
else:
    from e2e.talking import Talk
    from e2e.visiting import Host, Visit

PACE_S = 0.006

NewTalk = Callable[..., Awaitable["Talk"]]
NewVisit = Callable[..., Awaitable["Visit"]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            # One loop for all, since the browser is one.
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.sockets)
            item.add_marker(pytest.mark.timeout(180))


@pytest.fixture(scope="session", autouse=True)
def _tools() -> None:
    """The page must be there; in CI a lack of it fails, elsewhere it skips."""
    (BUILT / "index.html").is_file() or lacking("the page is not built (`make page` does it)")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator["Browser"]:
    async with chromium("--font-render-hinting=none") as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage() -> AsyncIterator[Stage]:
    """Agent, gateway and page on ports of their own; the agent's log is at hand."""
    async with Stage(ReferenceAgent(Habits(pace_s=PACE_S))) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def new_talk(browser: "Browser", stage: Stage) -> AsyncIterator[NewTalk]:
    """Open pages: each call is a browser profile of its own; keywords are Playwright's."""
    talks: list[Talk] = []
    async with AsyncExitStack() as stack:

        async def new(session: str | None = None, **options: Any) -> Talk:
            talk = await stack.enter_async_context(Talk(browser, stage, session, **options))
            talks.append(talk)
            return talk

        yield new
        for talk in talks:
            talk.check()


@pytest_asyncio.fixture(loop_scope="session")
async def talk(new_talk: NewTalk) -> "Talk":
    return await new_talk()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site_stage() -> AsyncIterator[Stage]:
    """The same with a site that has the widget on it."""
    WIDGET.is_file() or lacking("the widget is not built (`make widget` does it)")
    async with Stage(ReferenceAgent(Habits(pace_s=PACE_S)), site=Host()) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def new_visit(browser: "Browser", site_stage: Stage) -> AsyncIterator[NewVisit]:
    """Open visits of the site; keywords are those of `Visit`, and Playwright's."""
    visits: list[Visit] = []
    async with AsyncExitStack() as stack:

        async def new(**options: Any) -> Visit:
            visit = await stack.enter_async_context(Visit(browser, site_stage, **options))
            visits.append(visit)
            return visit

        yield new
        for visit in visits:
            await visit.check()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(new_visit: NewVisit) -> "Visit":
    """An open panel, under the strictest policy."""
    visit = await new_visit()
    await visit.open()
    return visit
