import gzip

import pytest

from runtime.llm.call.called import ANSWER, KEY, PROMPT, Caller, Key, fault, text
from runtime.llm.scripted_server import (
    CHUNKED_HEAD,
    STREAM_HEAD,
    Script,
    ScriptedServer,
    chunked,
    response,
    sends,
)


class Both:
    """Keeps what went each way."""

    def __init__(self) -> None:
        self.requests = b""
        self.responses = b""

    def sent(self, data: bytes) -> None:
        self.requests += data

    def received(self, data: bytes) -> None:
        self.responses += data


async def test_an_operator_sees_the_bytes_of_both_ways() -> None:
    tap = Both()
    chunks = chunked([ANSWER[:90], ANSWER[90:], b": bye\n"])
    async with ScriptedServer([sends(CHUNKED_HEAD + chunks)]) as server:
        assert text(await Caller(tap=tap).ask(server)) == "Hello"

    head, _, body = tap.requests.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert b"authorization: [secret]" in head.lower()
    assert body == server.asked[0].body
    assert tap.responses == (
        b"HTTP/1.1 200 Whatever\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
        b"transfer-encoding: chunked\r\n\r\n" + ANSWER + b": bye\n"
    )


LEAKY = f"You sent {KEY}, or {KEY[:-1]}".encode()


@pytest.mark.parametrize(
    "script",
    [
        sends(response(401, LEAKY, x_echo=f"Bearer {KEY}", set_cookie="session=abc")),
        sends(response(200, LEAKY, content_type="application/json")),
        sends(response(400, gzip.compress(LEAKY, mtime=0), content_encoding="gzip")),
        sends(STREAM_HEAD, *(bytes([each]) for each in b"data: " + LEAKY + b"\n\n")),
        sends(STREAM_HEAD + b": " + LEAKY),
        sends(b"HTTP/1.1 " + LEAKY + b"\r\n\r\n"),
    ],
)
async def test_no_secret_is_seen_wherever_a_server_repeats_it(script: Script) -> None:
    tap = Both()
    caller = Caller(tap=tap)
    async with ScriptedServer([script]) as server:
        verdict = fault(await caller.ask(server))

    assert KEY.encode() not in tap.responses + tap.requests
    assert b"abc" not in tap.responses
    assert KEY not in repr(verdict)
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_key_that_stands_in_the_prompt_is_not_seen_either() -> None:
    tap = Both()
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as server:
        await Caller(tap=tap).ask(server, Key(PROMPT))

    assert PROMPT.encode() in server.asked[0].body
    assert PROMPT.encode() not in tap.requests


async def test_each_attempt_is_seen() -> None:
    tap = Both()
    async with ScriptedServer([sends(response(503)), sends(STREAM_HEAD + ANSWER)]) as server:
        await Caller(tap=tap).ask(server)

    assert tap.requests.count(b"POST /v1") == 2
    assert tap.responses.count(b"HTTP/1.1") == 2
