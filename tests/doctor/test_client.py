"""Each of the doctor's requests breaks once: what was found before and after is told."""

import asyncio
import ssl
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from doctor.breaking import Breaking, How
from doctor.certificate import certificate
from doctor.demo_agent import LONG, DemoAgent
from gateway.agent import ScriptedAgent, stay_silent
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import Question, reply
from gateway.process import command, environ
from gateway.running import Gateway
from gateway.tokens import token
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import NoAnswerError, Target
from turnwire.doctor.findings import Code

pytestmark = pytest.mark.sockets

ORIGIN = "https://app.example"
"""That is not listed, so that there is something to find."""
REFUSED = b'{"error":"Missing or invalid authentication","code":"unauthorized","requestId":"r"}'
ALWAYS = {Code.PREFLIGHT, Code.CORS_HEADERS, Code.HTTP1_ONLY}

REQUESTS = (
    ("a prompt without a token", None, 0),
    ("/readyz", ALWAYS | {Code.NOT_READY}, 2),
    ("/metrics", ALWAYS | {Code.METRICS_UNANSWERED}, 2),
    ("the preflight", ALWAYS, 2),
    ("the history", ALWAYS | {Code.NO_ANSWER}, 2),
    ("the prompt", ALWAYS - {Code.CORS_HEADERS} | {Code.NO_ANSWER}, 1),
    ("the prompt that is left", ALWAYS | {Code.NO_ANSWER}, 2),
    ("to resume it while it runs", ALWAYS | {Code.NO_ANSWER, Code.ABORT_UNKNOWN}, 2),
    ("to resume it afterwards", ALWAYS | {Code.NO_ANSWER, Code.ABORT_UNKNOWN}, 2),
)
"""In their order: what is found where that one breaks, and the turns that it cost."""


async def examined(url: str, *, prompt: str | None = LONG, **more: Any) -> Report:
    target = Target(url=url, **{"session": "s1", "token": token(), "within_s": 4, **more})
    return await Checkup(target).run(prompt)


def found(report: Report) -> set[Code]:
    return {each.code for each in report.findings}


def seen(report: Report, code: Code) -> str:
    return next(each.seen for each in report.findings if each.code is code)


async def test_what_was_found_is_told_whichever_request_breaks() -> None:
    async def broken(at: int) -> Report | NoAnswerError:
        async with Breaking(gateway.port, at=at, how=How.RESET) as front:
            try:
                return await examined(front.url, session=f"s{at}", origin=ORIGIN)
            except NoAnswerError as exc:
                return exc

    async with DemoAgent() as agent, Gateway(agent.url) as gateway:
        ends = await asyncio.gather(*(broken(at) for at in range(1, len(REQUESTS) + 1)))

    for (what, codes, turns), end in zip(REQUESTS, ends, strict=True):
        if codes is None:
            assert isinstance(end, NoAnswerError), what
        else:
            assert isinstance(end, Report), what
            # The story takes longer than it is given.
            unread = {Code.UNFINISHED} if Code.CORS_HEADERS in codes else set()
            assert (found(end), end.turns) == (codes | unread, turns), what
    no_second = ends[REQUESTS.index(next(each for each in REQUESTS if "left" in each[0]))]
    assert isinstance(no_second, Report)
    assert no_second.untried == [
        "whether its stream comes through whole, each record as soon as it is sent",
        "whether the agent hears of a hang-up",
    ]


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (How.RESET, Code.NO_ANSWER, "no answer to /api/sessions/s1/messages: ReadError"),
        (How.CLOSED, Code.NO_ANSWER, "/messages: RemoteProtocolError"),
        (How.RUBBISH, Code.NO_ANSWER, "/messages: RemoteProtocolError"),
        (How.HALF, Code.NO_ANSWER, "200, but no whole answer to /api/sessions/s1/messages"),
        (How.GARBLED, Code.NO_ANSWER, "/messages: DecodingError"),
        (How.GONE, Code.NO_ANSWER, "cannot connect to http://127.0.0.1:"),
        (How.SILENT, Code.HISTORY_LATE, "no answer to /api/sessions/s1/messages in 0.3 s"),
    ],
)
async def test_every_way_to_break(how: How, code: Code, said: str) -> None:
    """The history: what comes after it depends on it most."""
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url()) as gateway,
        Breaking(gateway.port, at=5, how=how) as front,
    ):
        report = await examined(front.url, prompt=None, origin=ORIGIN, within_s=0.3)

    assert found(report) == {Code.PREFLIGHT, Code.HTTP1_ONLY, code}
    assert said in seen(report, code)
    assert not report.is_well
    assert "whether the token is taken, and whether the agent answers" in report.untried


@pytest.mark.parametrize("how", [How.HALF, How.GARBLED])
async def test_the_first_answer_may_be_half_of_one(how: How) -> None:
    async with Gateway() as gateway, Breaking(gateway.port, at=1, how=how) as front:
        report = await examined(front.url)

    assert found(report) == {Code.NO_ANSWER}
    assert report.turns == 0


@pytest.mark.parametrize("how", [How.RESET, How.CLOSED, How.RUBBISH, How.SILENT])
async def test_no_answer_at_all_is_no_report(how: How) -> None:
    async with Gateway() as gateway, Breaking(gateway.port, at=1, how=how) as front:
        with pytest.raises(NoAnswerError):
            await examined(front.url, within_s=0.3)

        assert front.connections == 1


async def test_a_prompt_that_nobody_took_is_no_turn() -> None:
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), dial_s=1.5) as gateway,
        Breaking(gateway.port, at=5, how=How.GONE) as front,
    ):
        report = await examined(front.url)

    assert found(report) == {Code.HTTP1_ONLY, Code.NO_HISTORY, Code.NO_ANSWER}
    assert "cannot connect" in seen(report, Code.NO_ANSWER)
    assert report.turns == 0


async def test_the_command_tells_it() -> None:
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url()) as gateway,
        Breaking(gateway.port, at=4, how=How.RUBBISH) as front,
    ):
        options = ("--url", front.url, "--token", token(), "--session", "s1")
        code, out, err = await command("doctor", *options, env=environ())

    assert (code, err) == (1, "")
    assert "ERROR no-answer: no answer to /api/sessions/s1/messages: RemoteProtocolError" in out
    assert "note http1-only" in out


@pytest.mark.parametrize(("how", "code"), [(How.RESET, Code.NO_ANSWER), (How.RUBBISH, Code.TLS)])
async def test_a_handshake_breaks_that_offers_http2(tmp_path: Path, how: How, code: Code) -> None:
    certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "c", tmp_path / "k")

    async with (
        Server(reply(401, REFUSED), tls=tls) as server,
        Breaking(server.port, at=4, how=how) as front,
    ):
        ca_file, url = str(tmp_path / "c"), f"https://localhost:{front.port}"
        report = await examined(url, prompt=None, ca_file=ca_file)

    assert found(report) >= {Code.READY_ELSEWHERE, code}
    assert "where HTTP/2 is offered: " in seen(report, code)
    assert (Code.UNAUTHORIZED in found(report)) is (code is Code.NO_ANSWER)  # was it asked on?


START = b'data: {"type":"start"}\n\n'
WHOLE = START + b'data: {"type":"finish"}\n\ndata: [DONE]\n\n'
HEAD = b"HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
RUNS = HEAD + START
CUT = HEAD + START + b": keepalive"
HISTORY = reply(200, b"[]")
STREAM = reply(200, WHOLE, "content-type: text/event-stream")


async def streamed(prompts: tuple[bytes, bytes], resumed: tuple[bytes, bytes]) -> Report:
    """With these answers to two prompts, and to two questions after the second.

    What is less than its head says is broken off, but for `RUNS`. To stop it has no answer.
    """
    asked: Counter[str] = Counter()

    async def says(question: Question, writer: asyncio.StreamWriter) -> None:
        kind, told = question.path.rpartition("/")[2].partition("?")[0], "authorization"
        if told not in question.headers:
            writer.write(reply(401, REFUSED))
            return
        answers = {"chat": prompts, "stream": resumed, "stop": (b"",)}.get(kind, (HISTORY,))
        answer = answers[asked[kind]]
        asked[kind] += 1
        writer.write(answer)
        if answer is not RUNS:
            writer.close()

    async with Server(says) as server:
        return await examined(f"http://127.0.0.1:{server.port}", within_s=0.5)


async def test_the_turn_that_is_left_breaks_by_itself() -> None:
    report = await streamed((STREAM, HEAD + b": keepalive"), (STREAM, STREAM))

    assert {Code.CUT_SHORT, Code.ABORT_UNTRIED} <= found(report)
    assert "the connection broke without `finish`" in seen(report, Code.CUT_SHORT)


async def test_a_stream_that_breaks_is_no_turn_that_still_runs() -> None:
    report = await streamed((STREAM, RUNS), (STREAM, CUT))

    assert {Code.CUT_SHORT, Code.ABORT_UNKNOWN} <= found(report)
    assert Code.ABORT_LOST not in found(report)


async def test_a_turn_that_runs_on_and_is_not_to_be_stopped() -> None:
    report = await streamed((STREAM, RUNS), (STREAM, RUNS))

    assert {Code.ABORT_LOST, Code.NO_ANSWER} <= found(report)
    assert "/s1/stop" in seen(report, Code.NO_ANSWER)
    assert Code.ABORT_UNKNOWN not in found(report)


async def test_a_refusal_in_half() -> None:
    half = b"HTTP/1.1 429 x\r\ncontent-length: 100\r\n\r\nslow"
    report = await streamed((half, half), (STREAM, STREAM))

    assert "429, but no whole answer to /api/sessions/s1/chat" in seen(report, Code.NO_ANSWER)
    assert report.turns == 0
