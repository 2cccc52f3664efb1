"""A wire whose agent names its sessions: each request learns which of them is that of its chat."""

from typing import Final

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from support.telling_dialect import Telling
from turnwire.core.requests import AgentSession, HistoryRequest, PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects import DIALECTS
from turnwire.dialects.v2 import V2
from turnwire.dialects.v2.history import HistoryOperation
from turnwire.dialects.v2.turn import PromptProtocol

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
