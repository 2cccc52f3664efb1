"""What the doctor sees without a turn, by asking for the history."""

import asyncio
import json

import pytest

from gateway.agent import Line, ScriptedAgent
from gateway.agent_process import AgentProcess
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import Question, reply
from gateway.process import Process, command, environ
from gateway.running import Gateway
from gateway.tokens import token
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import Target
from turnwire.doctor.findings import Code, Severity

pytestmark = pytest.mark.sockets

UNSEEN = "Nothing is wrong that can be seen without a turn."


def refusal(code: str) -> bytes:
    return json.dumps({"error": "x", "code": code, "requestId": "r"}).encode()


async def doctor(url: str, *more: str, given: str) -> tuple[int, str]:
    code, out, _ = await command(
        *("doctor", "--url", url, "--session", "s1", "--token", given, *more), env=environ()
    )
    return code, out


async def test_the_command_sees_tokens_sessions_and_agents() -> None:
    """All with the lab's agent, which is killed in the end."""
    others = token(sessions={"s2": "collaborator"})
    viewer = token(sessions={"s1": "viewer"})
    async with AgentProcess() as agent, Process(agent.url) as gateway:
        well, garbage, absent, read, prompted = await asyncio.gather(
            doctor(gateway.url, given=token()),
            doctor(gateway.url, given="garbage"),
            doctor(gateway.url, given=others),
            doctor(gateway.url, given=viewer),
            doctor(gateway.url, "--yes", given=viewer),
        )
        agent.signal(9)
        await agent.gone()
        orphan, orphan_with_yes = await asyncio.gather(
            doctor(gateway.url, given=token()), doctor(gateway.url, "--yes", given=token())
        )

    for code, out in (well, read):
        assert code == 0
        assert UNSEEN in out
        assert "Not tried:\n- whether a prompt is taken\n" in out
        assert "whether the token is taken" not in out
    ill = {
        "ERROR unauthorized: asked for the history: 401, Missing or invalid": garbage,
        "ERROR not-found: asked for the history: 404, Not found": absent,
        "ERROR not-found: 404, Not found": prompted,  # a viewer may read, and may not prompt
        "ERROR agent-unreachable: asked for the history: 503, Temporarily": orphan,
        "ERROR agent-unreachable: ": orphan_with_yes,
    }
    for told, (code, out) in ill.items():
        assert code == 1
        assert told in out
        assert "Something is wrong." in out
        assert "turns begun: 0" in out


async def examined(url: str, *, prompt: str | None = None, within_s: float = 3) -> Report:
    target = Target(url=url, session="s1", token=token(), within_s=within_s)
    return await Checkup(target).run(prompt)


def wrong(report: Report) -> list[Code]:
    return [each.code for each in report.findings if each.severity is not Severity.NOTE]


async def test_an_agent_that_tells_no_history_is_no_fault() -> None:
    async def quiet(line: Line) -> None:
        await line.prompt()

    async with ScriptedAgent(quiet) as agent, Gateway(agent.url(), dial_s=1.5) as gateway:
        report = await examined(gateway.url)

    assert wrong(report) == []
    assert report.is_well
    assert Code.NO_HISTORY in {each.code for each in report.findings}
    assert not any("token" in each for each in report.untried)


async def after(history: bytes, *, prompt: str | None = None) -> Report:
    """The report on a gateway whose ingress answers so where the history is asked for."""
    ways = {
        "/api/sessions/s1/messages?limit=1": history,
        "/readyz": reply(200),
        "/metrics": reply(404),
    }

    async def says(question: Question, writer: object) -> None:
        answer = ways.get(question.path, reply(401, refusal("unauthorized")))
        writer.write(answer)  # type: ignore[attr-defined]

    async with Server(says) as server:
        return await examined(f"http://127.0.0.1:{server.port}", prompt=prompt, within_s=0.5)


@pytest.mark.parametrize(
    ("history", "code", "was_asked"),
    [
        (reply(401, b"", "www-authenticate: Basic"), Code.UNAUTHORIZED, True),
        (reply(403, b"<html>"), Code.FORBIDDEN, True),
        (reply(429, b"slow down", "retry-after: 7"), Code.TOO_MANY, False),
        (reply(404, refusal("not_found")), Code.NOT_FOUND, True),
        (reply(404, b"<html>"), Code.HISTORY_ELSEWHERE, False),
        (reply(200, b"<html>"), Code.HISTORY_ELSEWHERE, False),
        (reply(501, b"<html>"), Code.HISTORY_ELSEWHERE, False),
        (reply(301, b"", "location: /login?token=x"), Code.REDIRECTED, False),
        (reply(502, b"Bad Gateway"), Code.UNREACHABLE_BEHIND, False),
        (reply(503, b"<html>"), Code.UNREACHABLE_BEHIND, False),
        (reply(503, refusal("unavailable")), Code.AGENT_UNREACHABLE, True),
        (reply(400, refusal("bad_request")), Code.REFUSED, True),
        (b"", Code.HISTORY_LATE, False),
    ],
)
async def test_what_the_history_shows(
    history: bytes,
    code: Code,
    was_asked: bool,  # noqa: FBT001 (a table's column)
) -> None:
    report = await after(history)

    assert wrong(report) == [code]
    assert any("token" in each for each in report.untried) is not was_asked


async def test_where_the_history_is_elsewhere_a_prompt_is_still_tried() -> None:
    report = await after(reply(404, b"<html>"), prompt="hi")

    assert wrong(report) == [Code.UNAUTHORIZED, Code.HISTORY_ELSEWHERE]
