"""A wire whose agent names its sessions: each request learns which of them is that of its chat."""

import json
from typing import Any, Final

import httpx
import pytest

from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, chatting, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support import acp_messages as f
from support.telling_dialect import Telling
from turnwire.core.requests import AgentSession, HistoryRequest, PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects import DIALECTS
from turnwire.dialects.v2 import V2
from turnwire.dialects.v2.history import HistoryOperation
from turnwire.dialects.v2.turn import PromptProtocol
from turnwire.relay.turn_log.memory import MemoryTurnLog

pytestmark = pytest.mark.sockets

KNOWN: Final[list[str | None]] = []


class Naming(V2):
    """Each prompt goes into a session of its own, and the next one learns which that was."""

    name = "naming"
    operations = Telling.operations
    names_sessions = True

    def prompt(self, request: PromptRequest, member: Member | None = None) -> PromptProtocol:
        _note(request.agent_session)
        return super().prompt(request, member)

    def read_history(self, request: HistoryRequest) -> HistoryOperation:
        _note(request.agent_session)
        return super().read_history(request)


def _note(session: AgentSession) -> None:
    KNOWN.append(session.known)
    session.keep(f"session-{len(KNOWN)}")


@pytest.fixture(autouse=True)
def in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Naming.name, Naming())
    KNOWN.clear()


@pytest.mark.parametrize("log", ["memory", "off"])
async def test_the_next_request_of_a_chat_knows_its_session(log: str) -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), dialect=Naming.name, turn_log=log) as gateway,
        new_client() as client,
    ):
        for chat in ("c1", "c1", "c2"):
            url = f"{gateway.url}/api/sessions/{chat}/chat"
            answered = await client.post(url, json=ask("hi"), headers=bearer("u1"))
            assert answered.status_code == 200

    assert ([None, "session-1", None] if log == "memory" else [None] * 3) == KNOWN


async def test_the_session_is_found_after_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn that held the chat until then may have kept another one."""
    calls: list[str] = []
    claim, session = MemoryTurnLog.claim, MemoryTurnLog.session

    async def noted_claim(log: MemoryTurnLog, *args: Any) -> Any:
        calls.append("claim")
        return await claim(log, *args)

    async def noted_session(log: MemoryTurnLog, *args: Any) -> Any:
        calls.append("session")
        return await session(log, *args)

    monkeypatch.setattr(MemoryTurnLog, "claim", noted_claim)
    monkeypatch.setattr(MemoryTurnLog, "session", noted_session)
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), dialect=Naming.name, turn_log="memory") as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/c1/chat"
        await client.post(url, json=ask("hi"), headers=bearer("u1"))

    assert calls == ["claim", "session"]


async def say(line: Line, *messages: bytes) -> None:
    await line.say(*map(json.loads, messages))


async def speak_acp(line: Line) -> None:
    """Answer a prompt as far as `Hello`; of a session that is loaded, tell that and the prompt."""
    await say(line, f.initialized(load=True))
    await until(lambda: line.closed or len(line.heard) > 1)
    if line.heard[1]["method"] == "session/load":
        await say(line, f.prompted("hi"), f.text("Hello"), f.response(2))
        return
    await say(line, f.made())
    await until(lambda: line.closed or len(line.heard) > 2)
    await say(line, f.text("Hello"))


def speaks_acp(agent: ScriptedAgent) -> Gateway:
    return Gateway(agent.url(), dialect="acp", agent_cwd="/srv/project", turn_log="memory")


async def history(gateway: Gateway) -> httpx.Response:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/messages"
        return await client.get(url, headers=bearer("u1"))


async def test_a_history_leaves_out_the_answer_that_a_resume_brings() -> None:
    async with (
        ScriptedAgent(speak_acp) as agent,
        speaks_acp(agent) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        running = await history(gateway)
        await say(await agent.line(), f.done())
        await chat.end()
        over = await history(gateway)

    assert [message["role"] for message in running.json()] == ["user"]
    assert [message["role"] for message in over.json()] == ["user", "assistant"]


async def test_the_agent_is_not_asked_for_the_history_of_a_chat_that_has_no_session() -> None:
    async with ScriptedAgent(speak_acp) as agent, speaks_acp(agent) as gateway:
        empty = await history(gateway)

    assert (empty.status_code, empty.json(), agent.lines) == (200, [], [])


async def test_an_agent_that_cannot_open_the_session_now_has_no_empty_history() -> None:
    async def busy(line: Line) -> None:
        if len(agent.lines) > 1:
            await say(line, f.initialized(load=True), f.failure(2, "overloaded"))
        else:
            await speak_acp(line)
            await say(line, f.done())

    async with (
        ScriptedAgent(busy) as agent,
        speaks_acp(agent) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.end()
        failed = await history(gateway)

    assert (failed.status_code, failed.json()["code"]) == (503, "unavailable")
