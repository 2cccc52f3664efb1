"""The log in its two forms: what is in it, and what never is, at any level."""

import asyncio
import contextlib
import json
import math
import os
import pty
import select
import sys
from base64 import b64encode
from pathlib import Path

import httpx
import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import is_whole, new_client
from gateway.process import Process, environ
from gateway.tokens import KEY, bearer, token
from gateway.waiting import PATIENCE_S, until
from turnwire.cli import logs
from turnwire_lab.process import free_port

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

MARK = "zq7marker"
"""In all that somebody said."""

FILE = b64encode(f"{MARK} in a file".encode()).decode()


async def tell(line: Line) -> None:
    """A turn with the mark in all of it, that ends in each of the ways by its prompt."""
    prompt = await line.prompt()
    await line.begin()
    tool = frames.running_tool() | {"args": {"a": MARK}}
    await line.say(
        frames.delta(MARK),
        {"type": "message.part.reasoning-delta", "turnId": frames.TURN, "delta": MARK},
        tool,
        tool | {"status": "completed", "result": MARK},
        {"type": "question", "questionId": "q1", "turnId": frames.TURN, "text": MARK},
        {"type": "brand.new", "said": MARK},
        {"type": "message.part.tool-update", "turnId": frames.TURN, "note": MARK},
    )
    await line.connection.send("{" + MARK)
    if "drop" in prompt["content"]:
        line.cut()
    elif "break" in prompt["content"]:
        await line.connection.send(MARK.encode())
    else:
        await line.say(frames.finalize(reason="error", error=MARK))


def asking(word: str) -> dict[str, object]:
    url = f"data:text/plain;base64,{FILE}"
    parts = [
        {"type": "text", "text": f"{word} {MARK}"},
        {"type": "file", "mediaType": "text/plain", "filename": f"{MARK}.txt", "url": url},
    ]
    return {"id": "chat-1", "messages": [{"id": "m1", "role": "user", "parts": parts}]}


@pytest.mark.parametrize("form", ["json", "console"])
async def test_nothing_that_was_said_is_logged_at_any_level(form: str, tmp_path: Path) -> None:
    mine = token("ann")
    env = {"log_format": form, "log_level": "debug", "record_dir": tmp_path, "record_text": "true"}
    async with ScriptedAgent(tell) as agent, new_client() as client:
        gateway = Logged(agent.url(), **env, drift_samples=tmp_path / "samples")
        async with gateway:
            url = f"{gateway.url}/api/sessions/s1/chat"
            given = {"authorization": f"Bearer {mine}", "x-request-id": "req-1"}
            for word in ("fail", "drop", "break"):
                response = await client.post(url, json=asking(word), headers=given)
                assert is_whole(response.text)
                assert MARK in response.text
            for body in (f'{{"{MARK}', f'{{"messages":"{MARK}"}}', b"\xff" + MARK.encode()):
                told = {**given, "content-type": "application/json"}
                assert (await client.post(url, content=body, headers=told)).status_code == 400
            forged = {"authorization": f"Bearer {mine}x", "cookie": MARK}
            assert (await client.post(url, json=asking("x"), headers=forged)).status_code == 401
            assert (await client.get(f"{url}?access_token={mine}{MARK}")).status_code in {401, 405}
            await until(lambda: gateway.errors.count("recorded") >= 3)

    log = gateway.errors
    assert "req-1" in log
    assert "drifted" in log
    assert [secret for secret in (MARK, FILE, KEY, *mine.split(".")) if secret in log] == []
    if form == "json":
        ended = gateway.logged("stream ended")
        assert {line["outcome"] for line in ended} == {"failed", "interrupted"}
        fields = {"request_id", "session_id", "user_id", "turn_id", "seconds", "first_byte_s"}
        assert all(fields <= line.keys() for line in ended)
    else:
        assert not any(line.startswith("{") for line in log.splitlines())
        assert "outcome=failed" in log


async def test_lines_of_several_workers_stay_whole_whatever_strangers_ask_for() -> None:
    """Into a pipe that is read slowly, so that writes wait for room and take turns."""
    mouth, ear = os.pipe()
    port, log = free_port(), bytearray()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "serve", "--workers", "2"),
        env=environ(port=port, log_format="json"),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=ear,
    )
    os.close(ear)
    os.set_blocking(mouth, False)

    async def read() -> None:
        while True:
            with contextlib.suppress(BlockingIOError):
                log.extend(os.read(mouth, 4096))
            await asyncio.sleep(0.0005)

    reading = asyncio.create_task(read())
    try:
        await until(lambda: log.count(b"Started server") == 2)
        url = f"http://127.0.0.1:{port}/api/sessions/{'%C3%A9' * 4_000}x{'y' * 20_000}/chat"
        async with new_client() as client:
            asked = [client.post(url, headers={"connection": "close"}) for _ in range(40)]
            assert {answer.status_code for answer in await asyncio.gather(*asked)} == {401}
        await until(lambda: log.count(b'"refused"') == 40)
    finally:
        process.terminate()
        await process.wait()
        reading.cancel()
        os.close(mouth)
    lines = [json.loads(line) for line in bytes(log).split(b"\n")[:-1]]
    refused = [line for line in lines if line["event"] == "refused"]

    assert len(refused) == 40
    assert all(line["session_id"].startswith("\xe9\xe9") for line in refused)


@pytest.mark.parametrize("length", [1, 100, 1_000, 100_000])
@pytest.mark.parametrize("letter", ["a", "\xe9", "\U0001f600", '"', "\0"])
def test_a_line_fits_in_a_pipe_and_keeps_its_fields(letter: str, length: int) -> None:
    said = letter * length
    kinds = {f"{number}{letter * 63}": number for number in range(min(length, 33))}
    names = ("session_id", "user_id", "turn_id", "reason", "dial_error")
    told = {"event": "x", **dict.fromkeys(names, said), "unrecognised": kinds, "seconds": 1.5}

    line = logs._json(None, "info", dict(told))
    shown = json.loads(line)

    assert len(line) < select.PIPE_BUF
    assert list(shown) == list(told)
    assert shown["unrecognised"].items() <= kinds.items()
    assert shown["seconds"] == 1.5
    assert all(said.startswith(shown[name].removesuffix("...")) for name in names)
    if length == 1:
        assert shown == told


@pytest.mark.parametrize(
    "value",
    [
        *("", "a b", "\x7f", "\x1b[2J", "\0", '"\\/\r\n\t\b\f', "<&>", "\xe9", "\u2028", "\ud800"),
        *(None, True, 0, -7, 2**63, 2**70, 0.003, 12.5, 1.0),
        *({"a": 1}, ["x"], {}, b"bytes", ValueError("x"), Path("/x")),
    ],
)
def test_the_short_way_of_a_line_writes_the_same(value: object) -> None:
    event = {"outcome": "completed", "it": value, "level": "info"}

    assert logs._line(event) == json.dumps(event, default=repr)
    assert logs._line(event).isprintable()


@pytest.mark.parametrize("value", [1e-7, 3.81e-05, 1e16, 1.5e300, 5e-324])
def test_the_short_way_of_a_line_says_the_same_number(value: float) -> None:
    assert json.loads(logs._line({"seconds": value})) == {"seconds": value}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_line_stays_json_where_a_number_is_none(value: float) -> None:
    assert logs._line({"seconds": value}) == '{"seconds": null}'


def test_a_traceback_is_kept_whole() -> None:
    line = logs._json(None, "error", {"event": "crashed", "exception": "x" * 10_000, "said": "y"})

    assert json.loads(line) == {"event": "crashed", "exception": "x" * 10_000, "said": "y"}


def test_a_person_is_not_shown_more_than_a_screen_of_a_value() -> None:
    shown = logs._printable(None, "info", {"session_id": "\x1b" * 60_000, "reason": "short"})

    assert len(shown["session_id"]) < 1_100
    assert shown["reason"] == "short"


@pytest.mark.parametrize("form", ["json", "auto"])
async def test_it_serves_where_standard_error_is_closed(form: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", 'exec "$0" -m turnwire serve 2>&-', sys.executable),
        env=environ(port=(port := free_port()), log_format=form),
        stdin=asyncio.subprocess.DEVNULL,
    )
    try:
        async with new_client() as client:
            await until_answers(client, f"http://127.0.0.1:{port}/healthz")
            answer = await client.post(f"http://127.0.0.1:{port}/api/sessions/s1/chat")
            assert answer.status_code == 401
    finally:
        process.terminate()
        await process.wait()


class Logged(Process):
    """A gateway whose log need not be JSON."""

    def logged(self, event: str) -> list[dict[str, object]]:
        for line in self.errors.splitlines():
            if event == "listening" and "port=" in line:
                return [{"port": int(line.partition(" port=")[2].split()[0])}]
        return super().logged(event)


CRASHING = """
from turnwire.cli.logs import configure_logs
from turnwire.config.environ import from_environ
import os
from turnwire.relay.rounds import Rounds
from turnwire.web.app import create_app, new_registry
from turnwire.web.health import Health
from turnwire.web.server.server import listen, new_server

class Crashing:
    async def grant(self, caller, session_id, request_id):
        held = caller.token
        raise RuntimeError("a bug \\x1b[2J\\r\\nforged")

settings = from_environ(os.environ)
configure_logs(settings.log_format, settings.log_level)
health, streams = Health(), new_registry(settings)
app = create_app(settings, health=health, streams=streams, access=Crashing())
sock = listen("127.0.0.1", 0)
print(sock.getsockname()[1], flush=True)
new_server(app, settings, health=health, streams=streams, rounds=Rounds()).run(sockets=[sock])
"""


@pytest.mark.parametrize("form", ["json", "console"])
async def test_a_traceback_shows_code_and_no_values(form: str) -> None:
    mine = token("ann")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CRASHING),
        env=environ(log_format=form, log_level="debug"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    port = int(await asyncio.wait_for(process.stdout.readline(), PATIENCE_S))
    async with new_client() as client:
        url = f"http://127.0.0.1:{port}/api/sessions/s1/chat"
        response = await client.post(url, json=asking("x"), headers=bearer("ann"))
    process.terminate()
    log = (await process.stderr.read()).decode()
    await process.wait()

    assert response.status_code == 500
    assert "crashed" in log
    assert "RuntimeError" in log
    assert [secret for secret in (MARK, KEY, *mine.split(".")) if secret in log] == []
    assert "\x1b" not in log
    assert "\r" not in log
    if form == "json":
        assert all(json.loads(line)["event"] for line in log.splitlines())


async def test_a_terminal_gets_lines_for_a_person() -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "serve"),
        env=environ(enabled="false"),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    log = b""

    def read() -> bytes:
        nonlocal log
        with contextlib.suppress(OSError):  # nothing yet, or nobody is left to write
            log += os.read(ours, 65_536)
        return log

    await until(lambda: b"Started server" in read())
    process.terminate()
    await process.wait()
    os.close(ours)

    assert b"\x1b[" in log, "in colour"
    assert b'"event"' not in log


async def test_the_level_is_the_least_that_is_shown() -> None:
    """Without the feature flag there is a warning at the start; nothing else is."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "serve"),
        env=environ(enabled="false", log_level="warning", metrics_port=(metrics := free_port())),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    async with new_client() as client:
        await until_answers(client, f"http://127.0.0.1:{metrics}/metrics")
    process.terminate()
    log = (await process.stderr.read()).decode()
    await process.wait()

    assert "every chat route is a 404" in log
    assert "listening" not in log


async def until_answers(client: httpx.AsyncClient, url: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                await client.get(url)
            except httpx.ConnectError:
                await asyncio.sleep(0.02)
            else:
                return
