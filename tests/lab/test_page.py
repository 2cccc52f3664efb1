"""The page's server and the faults it plays, with a real gateway and agent and no browser."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from gateway.waiting import PATIENCE_S
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.page.guard import HEADERS
from turnwire_lab.stage import Stage
from turnwire_lab.wiretap.harm import FAULTS, FLOOD

pytestmark = [pytest.mark.sockets, pytest.mark.asyncio(loop_scope="module")]

QUICK = {"TURNWIRE_IDLE_S": "2", "TURNWIRE_STALL_S": "1", "TURNWIRE_KEEPALIVE_S": "0.2"}
STORY = "tell me a long story"
END = "this is the end."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    built = tmp_path_factory.mktemp("dist")
    (built / "index.html").write_text("<!doctype html><title>page</title>")
    agent = ReferenceAgent(Habits(pace_s=0.001))
    async with Stage(agent, settings=QUICK, built=built) as stage:
        yield stage


class Browser:
    """What the page does, without one."""

    def __init__(self, http: httpx.AsyncClient, session: str) -> None:
        self.http = http
        self.session = session
        self.path = f"/api/sessions/{session}"

    async def plan(self, fault: str) -> None:
        body = {"session": self.session, "fault": fault}
        assert (await self.http.post("/lab/faults", json=body)).status_code == 204

    async def ask(self, prompt: str) -> list[dict[str, Any]]:
        """The chunks of the answer; those before a break, if it breaks."""
        body = {"message": {"role": "user", "content": prompt}}
        return await self._stream("POST", "chat", json=body)

    async def resume(self, until: str | None = None) -> list[dict[str, Any]]:
        """The chunks of the turn that runs: all, or up to the first with these words."""
        return await self._stream("GET", "chat/any/stream", until)

    async def until_there(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (await self.http.get(f"{self.path}/messages")).status_code != httpx.codes.OK:  # noqa: ASYNC110 (another process has no event)
                await asyncio.sleep(0.05)

    async def _stream(
        self, method: str, route: str, until: str | None = None, **more: Any
    ) -> list[dict[str, Any]]:
        chunks = []
        try:
            async with self.http.stream(method, f"{self.path}/{route}", **more) as response:
                assert response.status_code == httpx.codes.OK
                async for line in response.aiter_lines():
                    if line.startswith("data: {"):
                        chunks.append(json.loads(line.removeprefix("data: ")))
                    if until is not None and until in line:
                        return chunks
        except httpx.TransportError:
            pass
        return chunks


@pytest_asyncio.fixture(loop_scope="module")
async def browser(stage: Stage, request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    assert stage.page is not None
    name = "".join(letter for letter in request.node.name if letter.isalnum())
    async with httpx.AsyncClient(base_url=stage.page.url, trust_env=False, timeout=60) as http:
        token = (await http.get("/lab/setup")).json()["token"]
        http.headers["authorization"] = f"Bearer {token}"
        yield Browser(http, name)


def text(chunks: list[dict[str, Any]]) -> str:
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


def errors(chunks: list[dict[str, Any]]) -> list[str]:
    return [chunk["errorText"] for chunk in chunks if chunk["type"] == "error"]


async def test_it_serves_the_page_and_only_to_its_own_host(browser: Browser) -> None:
    page = await browser.http.get("/")
    stranger = await browser.http.get("/", headers={"host": "attacker.example"})
    setup = (await browser.http.get("/lab/setup")).json()
    unsigned = {"authorization": "Bearer nobody"}
    wire = await browser.http.get("/lab/wire", headers=unsigned)
    fault = await browser.http.post("/lab/faults", headers=unsigned, json={})
    unknown = await browser.http.post("/lab/faults", json={"session": "s", "fault": "x"})

    assert "<title>page" in page.text
    assert HEADERS.items() <= dict(page.headers).items()
    assert HEADERS.items() <= dict(stranger.headers).items()
    assert (stranger.status_code, unknown.status_code) == (400, 400)
    assert (wire.status_code, fault.status_code) == (401, 401)
    assert (setup["session"], setup["wire"], setup["faults"]) == ("demo", "v2", list(FAULTS))


async def test_the_gateway_is_behind_it_and_the_wire_beside_it(browser: Browser) -> None:
    seen: list[dict[str, Any]] = []
    links: list[list[int]] = []

    async def watch() -> None:
        async with browser.http.stream("GET", "/lab/wire") as response:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    batch = json.loads(line.removeprefix("data: "))
                    seen.extend(e for e in batch["entries"] if e["session"] == browser.session)
                    links.extend(batch["links"])
                    if any(entry["kind"] == "[DONE]" for entry in seen):
                        return

    watching = asyncio.create_task(watch())
    chunks = await browser.ask("what is 12*7?")
    await watching

    assert text(chunks).endswith("12*7 is **84**.\n")
    assert [e["kind"] for e in seen if e["lane"] == "request"] == ["POST chat", "200 chat"]
    assert [e["kind"] for e in seen if e["lane"] == "command"] == ["prompt"]
    told = [e["kind"] for e in seen if e["lane"] == "chunk" and e["kind"] != "keepalive"]
    assert told == [chunk["type"] for chunk in chunks] + ["[DONE]"]
    by_number = {entry["n"]: entry for entry in seen}
    came = {by_number[c]["kind"]: by_number[f]["kind"] for c, f in links if c in by_number}
    assert came["tool-output-available"] == "message.part.tool-update"
    assert came["finish"] == "message.finalize"
    assert [e["run"] for e in seen] == [seen[0]["run"]] * len(seen)


async def test_a_browser_that_leaves_is_a_client_that_leaves(
    browser: Browser, stage: Stage
) -> None:
    # It says something all the time: nobody stops it but who was left.
    body = {"message": {"role": "user", "content": "be slow"}}
    url = f"{browser.path}/chat?onDisconnect=abort"
    async with browser.http.stream("POST", url, json=body) as response:
        await anext(response.aiter_bytes())
    assert isinstance(stage.agent, ReferenceAgent)
    agent = stage.agent
    runs = agent.journal.of
    async with asyncio.timeout(PATIENCE_S):
        await agent.until(lambda: [run.aborted for run in runs(browser.session)] == [True])


async def test_an_agent_that_dies_is_told_and_its_turn_goes_on(browser: Browser) -> None:
    await browser.plan("agent-dies")
    chunks = await browser.ask(STORY)
    assert errors(chunks) == ["Stream interrupted"]
    assert END not in text(chunks)
    assert text(await browser.resume()).endswith(END)


async def test_an_agent_that_hangs_is_aborted(browser: Browser, stage: Stage) -> None:
    await browser.plan("agent-hangs")
    assert errors(await browser.ask("be slow")) == ["Agent stopped responding"]
    assert isinstance(stage.agent, ReferenceAgent)
    agent = stage.agent
    async with asyncio.timeout(PATIENCE_S):
        await agent.until(
            lambda: [run.reason for run in agent.journal.of(browser.session)] == ["canceled"]
        )


@pytest.mark.parametrize("fault", ["agent-floods", "agent-babbles"])
async def test_what_nobody_asked_for_changes_nothing(browser: Browser, fault: str) -> None:
    await browser.plan(fault)
    chunks = await browser.ask(STORY)
    assert len(chunks) < FLOOD
    assert text(chunks).endswith(END)
    assert errors(chunks) == []


@pytest.mark.timeout(180)
async def test_a_client_that_reads_nothing_is_let_go(browser: Browser) -> None:
    # The agent writes a flood into its own memory, and so would be done by then.
    await browser.plan("slow-client")
    chunks = await browser.ask("flood 60000 and hang")
    assert 0 < len(chunks) < 60_000
    assert "finish" not in {chunk["type"] for chunk in chunks} or errors(chunks)


async def test_a_gateway_that_restarts_goes_on_where_it_was(browser: Browser) -> None:
    await browser.plan("gateway-restarts")
    chunks = await browser.ask("be slow")
    assert errors(chunks) == ["Gateway restarting"]
    await browser.until_there()
    resumed = await browser.resume(until="no hurry. ")
    assert text(resumed).startswith("1 of 50, no hurry. ")
    stopped = await browser.http.post(f"{browser.path}/stop", json={})
    assert stopped.json()["reason"] == "canceled"


async def test_the_page_is_left_out_where_it_was_not_built(tmp_path: Path) -> None:
    async with Stage(ReferenceAgent(), built=tmp_path) as stage:
        assert stage.page is None
