"""Probes of a platform: plain HTTP on the agent's own port, without a token."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from runtime.host.hosted import QUICK, Hosted, Scripted, echo, hosted
from turnwire_agent.access.access import Access
from turnwire_agent.access.file_token import FileToken
from turnwire_agent.access.listening import listener
from turnwire_agent.host import probes
from turnwire_agent.host.replica import Replica
from turnwire_agent.host.server import HostServer
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.v2.frames import Frames

pytestmark = pytest.mark.sockets

PATIENT = HostSettings(lease_s=60)
"""Leases so long that the replica itself asks the journal for nothing meanwhile."""


class Flaky(MemoryJournal):
    """Answers, or does not, or not in time."""

    asked = 0
    is_there = True
    takes_s = 0.0

    async def due(self, limit: int = 100) -> Sequence[str]:
        if limit == 1:
            self.asked += 1
            await asyncio.sleep(self.takes_s)
            if not self.is_there:
                raise UnavailableError("it is not there")
        return await super().due(limit)


def answer(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()


async def ask(served: Hosted, path: str, **headers: str) -> tuple[int, bytes]:
    return await asyncio.to_thread(answer, served.port, path, **headers)


async def test_a_server_is_healthy_and_ready_and_says_nothing_more() -> None:
    async with hosted(Scripted(echo)) as host:
        assert await ask(host, "/healthz") == (200, b"")
        assert await ask(host, "/readyz") == (200, b"")
        # By the address that a platform has: it is no name of this machine.
        assert await ask(host, "/healthz", host="10.0.0.7:8765") == (200, b"")
        assert (await ask(host, "/healthz/"))[0] == 404
        assert (await ask(host, "/metrics"))[0] == 404


async def test_it_is_ready_only_while_the_journal_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "KEPT_S", 0.0)
    monkeypatch.setattr(probes, "ANSWER_S", 0.1)
    journal = Flaky()
    async with hosted(Scripted(echo), journal, PATIENT) as host:
        assert await ask(host, "/readyz") == (200, b"")
        journal.is_there = False
        assert await ask(host, "/readyz") == (503, b"")
        assert await ask(host, "/healthz") == (200, b"")
        journal.is_there, journal.takes_s = True, 60.0
        assert await ask(host, "/readyz") == (503, b"")
        journal.takes_s = 0.0
        assert await ask(host, "/readyz") == (200, b"")


async def test_many_probes_are_one_question_to_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "KEPT_S", 60.0)
    journal = Flaky()
    journal.takes_s = 0.1
    async with hosted(Scripted(echo), journal, PATIENT) as host:
        found = await asyncio.gather(*(ask(host, "/readyz") for _ in range(10)))

        assert {status for status, _ in found} == {200}
        assert journal.asked == 1


async def test_a_probe_needs_no_token_and_a_session_does(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("not-to-be-told")
    listening, _ = listener("127.0.0.1:0", has_token=True)
    replica = Replica(MemoryJournal(), Scripted(echo), Frames(), QUICK)
    access = Access(loopback=False, tokens=FileToken(KeyFile(token)))
    async with HostServer(replica, listening, access, QUICK):
        host = Hosted(listening.getsockname()[1], replica)
        assert await ask(host, "/healthz") == await ask(host, "/readyz") == (200, b"")
        assert (await ask(host, "/api/sessions/s1/ws"))[0] == 401
