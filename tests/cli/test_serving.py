"""`turnwire serve`, as the process that runs in production."""

import asyncio
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import httpx
import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, answer, begin_only
from gateway.clients import ask, chatting, chunks, errors, is_whole, new_client, post, said
from gateway.process import Process, command, environ
from gateway.refusals import every, headers
from gateway.tokens import KEY, bearer, token
from gateway.waiting import PATIENCE_S, until
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with new_client() as client:
        yield client


CHAT = "/api/sessions/s1/chat"


async def test_it_serves_and_leaves_one_wide_line_for_a_stream(client: httpx.AsyncClient) -> None:
    async with ScriptedAgent() as agent, Process(agent.url()) as gateway:
        response = await client.post(
            gateway.url + CHAT, json=ask(), headers={**bearer("alice"), "x-request-id": "r-1"}
        )
        await until(lambda: gateway.logged("stream ended"))

    assert said(response.text) == "Hello world"
    assert is_whole(response.text)
    (line,) = gateway.logged("stream ended")
    assert {
        "outcome": "completed",
        "session_id": "s1",
        "user_id": "alice",
        "turn_id": frames.TURN,
        "request_id": "r-1",
        "frames": 4,
        "level": "info",
    }.items() <= line.items()
    assert line["bytes_written"] > 100
    assert line["seconds"] >= line["first_byte_s"] >= 0


@pytest.mark.attack(
    "reading tokens, prompts or answers in the log, after every kind of refusal",
    "the log has none of them",
)
async def test_neither_token_nor_prompt_nor_answer_is_ever_logged(
    client: httpx.AsyncClient,
) -> None:
    """Over good turns, failed ones, and every refusal there is."""
    told: list[str] = []

    async def one_of_each(line: Line) -> None:
        if "bad" in line.path:
            await begin_only(line)
            await line.connection.send("{the-secret-frame")
            await line.connection.send(b"the-secret-bytes")
        else:
            await line.begin()
            await line.say(frames.delta("the-secret-answer"), {"type": "a\nb\x1b[31m"})
            await line.say(frames.finalize(reason="error", error="the-secret-error"))

    async with ScriptedAgent(one_of_each) as agent, Process(agent.url()) as gateway:
        for session in ("s1", "bad"):
            mine = token()
            told.append(mine)
            await client.post(
                f"{gateway.url}/api/sessions/{session}/chat",
                json=ask("the-secret-prompt"),
                headers={"authorization": f"Bearer {mine}"},
            )
        for refusal in every():
            if refusal.status != 413 and "nested deep" not in refusal.name:
                sent = headers(refusal)
                told += [value for name, value in sent if name == "authorization" and value]
                await client.request(
                    refusal.method,
                    f"{gateway.url}{refusal.path}",
                    params=refusal.query.encode(),
                    content=refusal.body,
                    headers=sent,
                )
        await until(lambda: len(gateway.logged("stream ended")) == 2)

    log = gateway.errors
    assert "secret" not in log
    assert KEY not in log
    for secret in told:
        for word in re.findall(r"[\w-]{24,}", secret):
            if not word.startswith("eyJ0eXAiOi") and not word.startswith("eyJhbGci"):
                assert word not in log
    assert len(gateway.logged("refused")) > 50
    assert all({"code", "reason", "request_id"} <= set(line) for line in gateway.logged("refused"))
    assert "\x1b" not in log
    assert all("level" in line and "timestamp" in line for line in gateway.log)


async def test_sigterm_lets_an_open_turn_finish() -> None:
    go_on = asyncio.Event()

    async def wait(line: Line) -> None:
        await begin_only(line)
        await go_on.wait()
        await line.say(frames.delta(" again"), frames.finalize())

    async with ScriptedAgent(wait) as agent, Process(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
            gateway.signal()
            await until(lambda: _refuses(gateway.port))
            go_on.set()
            body = await chat.end()
        code = await gateway.ended()

    assert said(body) == "Hello again"
    assert is_whole(body)
    assert code == -signal.SIGTERM


async def test_sigterm_ends_what_outlasts_the_drain_with_a_word() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Process(agent.url(), drain_s=0.2) as gateway,
    ):
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
            gateway.signal()
            body = await chat.end()
        await gateway.ended()

        assert errors(body) == ["Gateway restarting"]
        assert agent.lines[0].aborts == []
        assert gateway.logged("stream ended")[0]["outcome"] == "draining"


@pytest.mark.fault(
    "SIGTERM, with a lame-duck time",
    "`/readyz` answers 503 while all requests are served; a second signal ends the gateway",
)
async def test_a_lame_duck_serves_and_a_second_signal_ends_it(client: httpx.AsyncClient) -> None:
    async with ScriptedAgent() as agent, Process(agent.url(), lameduck_s=60) as gateway:
        gateway.signal()
        async with asyncio.timeout(PATIENCE_S):
            while (await client.get(f"{gateway.url}/readyz")).status_code != 503:
                pass
        response = await client.post(gateway.url + CHAT, json=ask(), headers=bearer())
        gateway.signal()
        await asyncio.wait_for(gateway.ended(), PATIENCE_S)

    assert is_whole(response.text)


async def test_ctrl_c_is_no_failure() -> None:
    async with Process() as gateway:
        gateway.signal(signal.SIGINT)
        code = await gateway.ended()

    assert code == 0
    assert "Traceback" not in gateway.errors


@pytest.mark.attack("the metrics on the public port", "404")
async def test_metrics_are_on_their_own_port_only(client: httpx.AsyncClient) -> None:
    metrics_port = free_port()
    async with (
        ScriptedAgent() as agent,
        Process(agent.url(), metrics_port=metrics_port) as gateway,
    ):
        await client.post(gateway.url + CHAT, json=ask(), headers=bearer())
        await client.post(gateway.url + CHAT, json={}, headers=bearer())
        metrics = (await client.get(f"http://127.0.0.1:{metrics_port}/metrics")).text
        public = await client.get(f"{gateway.url}/metrics")

    assert public.status_code == 404
    assert 'turnwire_streams_total{outcome="completed"} 1.0' in metrics
    assert 'turnwire_refusals_total{code="bad_request"} 1.0' in metrics
    assert "turnwire_streams_active 0.0" in metrics
    assert "turnwire_time_to_first_byte_seconds_count 1.0" in metrics
    assert "u1" not in metrics


async def test_without_the_feature_flag_there_is_no_route_and_the_log_says_so(
    client: httpx.AsyncClient,
) -> None:
    async with Process(enabled="false") as gateway:
        response = await client.post(gateway.url + CHAT, json=ask(), headers=bearer())
        ready = await client.get(f"{gateway.url}/readyz")

    assert response.status_code == 404
    assert ready.status_code == 200
    assert any("TURNWIRE_ENABLED" in line["event"] for line in gateway.log)
    assert gateway.logged("listening")[0]["enabled"] is False


@pytest.mark.parametrize("which", ["port", "metrics_port"])
async def test_a_port_in_use_is_told_in_one_line(which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = await command("serve", env=environ(**{which: port}))

    assert code == 1
    assert out == ""
    assert err == (
        f"turnwire: cannot listen on 127.0.0.1, port {port}: Address already in use,"
        " perhaps by a gateway that is told to end: while turns run,"
        " it takes up to 30 s to end (57 s, if a client does not read)."
        f" TURNWIRE_{which.upper()} sets another.\n"
    )


@pytest.mark.parametrize("host", ["no-such-host.invalid", "x" * 64, "\u00e9..x"])
async def test_an_address_that_is_none_is_told_in_one_line(host: str) -> None:
    code, _, err = await command("serve", env=environ(host=host))

    assert code == 1
    assert err.startswith(f"turnwire: cannot listen on {host}, port 0: ")
    assert err.endswith(". TURNWIRE_HOST sets another.\n")
    assert err.count("\n") == 1


async def test_wrong_settings_are_told_one_a_line_and_nothing_starts() -> None:
    code, out, err = await command("serve", env=environ(port="x", idel_s=1))

    assert code == 1
    assert out == ""
    assert err.splitlines() == [
        "turnwire: TURNWIRE_IDEL_S: no such setting; did you mean TURNWIRE_IDLE_S?",
        "turnwire: TURNWIRE_PORT: must be a whole number from 0 to 65535",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop there")
async def test_in_the_process_a_slow_client_pauses_the_agent_and_is_cut() -> None:
    """The production loop is uvloop, whose sockets pause and abort in ways of their own."""
    sent = 0

    async def flood(line: Line) -> None:
        nonlocal sent
        await line.begin()
        piece = frames.raw(frames.text(frames.delta("x" * 50_000)).encode())
        while line.is_open and sent < 40_000_000:
            await line.raw(piece)
            sent += len(piece)

    async with ScriptedAgent(flood) as agent, Process(agent.url(), stall_s=0.5) as gateway:
        loop = asyncio.get_running_loop()
        sock = socket.create_connection(("127.0.0.1", gateway.port))
        sock.setblocking(False)  # noqa: FBT003 (the library's signature)
        body = b'{"messages":[{"role":"user","content":"x"}]}'
        head = [
            f"POST {CHAT} HTTP/1.1",
            "host: x",
            "content-type: application/json",
            f"content-length: {len(body)}",
            *(f"{name}: {value}" for name, value in bearer().items()),
        ]
        await loop.sock_sendall(sock, "\r\n".join([*head, "", ""]).encode() + body)
        await until(lambda: gateway.logged("stream ended"))
        line = agent.lines[0]
        await until(lambda: line.closed)
        sock.close()

    assert gateway.logged("stream ended")[0]["outcome"] == "slow_client"
    assert len(line.aborts) == 1
    assert sent < 40_000_000


async def test_in_the_process_a_client_that_leaves_aborts_its_turn() -> None:
    async def either(line: Line) -> None:
        await (begin_only(line) if "s1" in line.path else answer(line))

    async with ScriptedAgent(either) as agent, Process(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
        line = agent.lines[0]
        await until(lambda: line.aborts)
        response = await post(gateway, session="s2")

    assert line.aborts[0]["turnId"] == frames.TURN
    assert [chunk["type"] for chunk in chunks(response.text)][-1] == "finish"


def _refuses(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


async def test_in_the_process_a_crowd_that_the_kernel_alone_has_is_served_at_the_end() -> None:
    """uvloop accepts one in each round of the loop, and the gateway the others with it."""
    request = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    async with Process() as gateway, AsyncExitStack() as stack:
        process = gateway._process
        process.send_signal(signal.SIGSTOP)
        clients = []
        for _ in range(100):
            address = ("127.0.0.1", gateway.port)
            client = stack.enter_context(socket.create_connection(address))
            client.sendall(request)
            clients.append(client)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        answers = [await asyncio.to_thread(client.recv, 100) for client in clients]
        assert await gateway.ended() == -signal.SIGTERM

    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
