"""The doctor before a gateway, and before what is none."""

import asyncio
import ssl
from pathlib import Path

import pytest

from doctor.certificate import certificate
from gateway import frames
from gateway.agent import Line, ScriptedAgent, stay_silent
from gateway.clients import Json, chatting
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import Question, reply
from gateway.process import command, environ
from gateway.running import Gateway
from gateway.tokens import OTHER_KEY, token
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import CannotRunError, Target
from turnwire.doctor.findings import Code, Severity
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

ORIGIN = "https://app.example"
REFUSED = b'{"error":"Missing or invalid authentication","code":"unauthorized","requestId":"r"}'
HISTORY = "/api/sessions/s1/messages?limit=1"
MISSING = b'{"error":"Not found","code":"not_found","requestId":"r"}'


INIT: Json = {"type": "init", "session": {"id": "s1", "messages": []}, "data": {}}


async def tell(line: Line) -> None:
    await line.say(INIT)
    await line.begin()
    await line.say(*(frames.delta(f"{n} ") for n in range(20)), frames.finalize())


async def examined(
    url: str,
    *,
    prompt: str | None = "hi",
    key: str = "",
    origin: str | None = None,
    session: str = "s1",
) -> Report:
    given = token(key=key) if key else token(sessions={"s1": "collaborator"})
    target = Target(url=url, session=session, token=given, origin=origin, within_s=3)
    return await Checkup(target).run(prompt)


def codes(report: Report) -> list[Code]:
    return [each.code for each in report.findings if each.severity is not Severity.NOTE]


async def test_a_gateway_without_a_proxy_is_well() -> None:
    async with ScriptedAgent(tell) as agent, Gateway(agent.url(), cors_origins=ORIGIN) as gateway:
        report = await examined(gateway.url, origin=ORIGIN)

    assert codes(report) == []
    assert report.is_well
    assert report.turns == 2
    assert report.figures["records"] > 20


async def test_without_a_prompt_no_turn_is_begun() -> None:
    async with ScriptedAgent(tell) as agent, Gateway(agent.url()) as gateway:
        report = await examined(gateway.url, prompt=None)

    assert report.turns == 0
    assert (agent.connections, agent.lines[0].heard) == (1, [])  # the history alone
    assert codes(report) == []


async def test_an_origin_that_is_not_listed() -> None:
    async with ScriptedAgent(tell) as agent, Gateway(agent.url()) as gateway:
        report = await examined(gateway.url, origin=ORIGIN)

    assert codes(report) == [Code.PREFLIGHT, Code.CORS_HEADERS]


async def test_a_token_of_somebody_else() -> None:
    async with Gateway() as gateway:
        report = await examined(gateway.url, key=OTHER_KEY)

    assert codes(report) == [Code.UNAUTHORIZED]


async def test_a_session_of_somebody_else() -> None:
    async with Gateway() as gateway:
        report = await examined(gateway.url, session="s2")

    assert codes(report) == [Code.NOT_FOUND]


async def test_an_agent_that_is_down() -> None:
    async with Gateway() as gateway:
        report = await examined(gateway.url)

    assert codes(report) == [Code.AGENT_UNREACHABLE]
    assert report.turns == 0  # to prompt would not show more


async def test_a_turn_that_fails() -> None:
    async def fail(line: Line) -> None:
        await line.say(INIT)
        await line.begin()
        await line.say(frames.finalize(reason="error", error="no"))

    async with ScriptedAgent(fail) as agent, Gateway(agent.url()) as gateway:
        report = await examined(gateway.url)

    assert Code.TURN_FAILED in codes(report)


async def test_a_turn_that_goes_on_for_longer_than_is_read() -> None:
    async def go_on(line: Line) -> None:
        await line.say(INIT)
        await line.begin()
        while not line.closed:
            await line.say(frames.delta("x "))
            await asyncio.sleep(0.05)

    async with ScriptedAgent(go_on) as agent, Gateway(agent.url()) as gateway:
        report = await examined(gateway.url)

    assert Code.UNFINISHED in {each.code for each in report.findings}
    assert any("comes through whole" in each for each in report.untried)


async def test_a_user_who_has_too_many_streams() -> None:
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), max_streams=1, max_streams_per_user=1, dial_s=1.5) as gateway,
        chatting(gateway),
    ):
        report = await examined(gateway.url)

    (found,) = (each for each in report.findings if each.severity is not Severity.NOTE)
    assert found.code in {Code.TOO_MANY, Code.UNAVAILABLE}
    assert "retry-after: 5" in found.seen


@pytest.mark.parametrize(
    ("says", "code"),
    [
        (reply(301, b"", "location: https://chat.example/?token=x"), Code.REDIRECTED),
        (reply(502, b"Bad Gateway"), Code.UNREACHABLE_BEHIND),
        (reply(503, b"<html>"), Code.UNREACHABLE_BEHIND),
        (reply(200, b"<html>"), Code.NOT_TURNWIRE),
        (reply(401, b"", "www-authenticate: Basic"), Code.NOT_TURNWIRE),
        (reply(404, MISSING), Code.NOT_FOUND),
    ],
)
async def test_what_is_no_gateway(says: bytes, code: Code) -> None:
    async with Server(says) as server:
        report = await examined(f"http://127.0.0.1:{server.port}")

    assert codes(report) == [code]
    assert "token=" not in report.findings[0].seen
    assert report.turns == 0
    assert not report.is_well


async def test_a_gateway_whose_ingress_shows_and_lacks_things() -> None:
    async def says(question: Question, writer: object) -> None:
        paths = {
            "/metrics": reply(200, b"turnwire_streams_total 1\n"),
            "/readyz": reply(404),
            HISTORY: reply(200, b"[]"),
        }
        answer = paths.get(question.path, reply(401, REFUSED, "server: nginx/1.22"))
        writer.write(answer)  # type: ignore[attr-defined]

    async with Server(says) as server:
        report = await examined(f"http://127.0.0.1:{server.port}", prompt=None)

    assert report.proxy == "nginx"
    assert codes(report) == [Code.METRICS_EXPOSED]
    assert Code.READY_ELSEWHERE in {each.code for each in report.findings}


async def test_a_certificate_of_nobody_known(tmp_path: Path) -> None:
    certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "c", tmp_path / "k")

    async def says(question: Question, writer: object) -> None:
        answer = reply(200, b"[]") if question.path == HISTORY else reply(401, REFUSED)
        writer.write(answer)  # type: ignore[attr-defined]

    async with Server(says, tls=tls) as server:
        url = f"https://localhost:{server.port}"
        unknown = await examined(url, prompt=None)
        target = Target(url=url, session="s1", token=token(), ca_file=str(tmp_path / "c"))
        known = await Checkup(target).run(None)

    assert codes(unknown) == [Code.TLS]
    assert codes(known) == []
    assert "TLS chose http/1.1" in {each.seen for each in known.findings}


async def test_nobody_there() -> None:
    with pytest.raises(CannotRunError, match="cannot connect"):
        await examined("http://127.0.0.1:1")


async def doctor(*arguments: str) -> tuple[int, str, str]:
    return await command("doctor", *arguments, env=environ())


@pytest.mark.parametrize("wire", ["v2", "session-agent"])
async def test_by_its_own_prompt_all_of_the_lab_is_judged(wire: str) -> None:
    agent = ReferenceAgent() if wire == "v2" else SessionAgent()
    async with agent, Gateway(agent.url, given={"dialect": wire}) as gateway:
        code, out, _ = await doctor("--url", gateway.url, "--token", token(), "--yes")

    assert (code, "Nothing is wrong." in out) == (0, True), out
    assert "Not tried" not in out


async def test_the_command_says_that_all_is_well_where_it_saw_all() -> None:
    async with ReferenceAgent(Habits(pace_s=0.003)) as agent, Gateway(agent.url) as gateway:
        options = ("--url", gateway.url, "--token", token(), "--yes")
        code, out, _ = await doctor(*options, "--prompt", "tell me a long story")

    assert code == 0
    assert "Nothing is wrong." in out
    assert "Not tried" not in out
