import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

from runtime.generate.served import PATH, PROMPT, asked, model, read, refused, serving
from runtime.llm.call.called import ANSWER, KEY, chunk
from runtime.llm.scripted_server import (
    STREAM_HEAD,
    ScriptedServer,
    response,
    sends,
    sends_then_silent,
)
from runtime.llm.streams import sse

pytestmark = pytest.mark.sockets

WHOLE = sends(STREAM_HEAD + ANSWER)


async def test_an_answer_is_a_stream_of_parts() -> None:
    async with ScriptedServer([WHOLE]) as provider, serving(model(provider.url)) as program:
        answered = await program.post()

    assert answered.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answered.headers["cache-control"] == "no-store"
    assert "server" not in answered.headers
    told = read(answered.text)
    assert [each["type"] for each in told] == [
        "stream-start",
        "response-metadata",
        "text-start",
        "text-delta",
        "text-delta",
        "text-end",
        "reasoning-start",
        "reasoning-end",
        "finish",
    ]
    assert "".join(each["delta"] for each in told if each["type"] == "text-delta") == "Hello"
    (sent,) = provider.asked
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(sent.body)["messages"] == [{"role": "user", "content": PROMPT}]


async def test_what_the_provider_will_not_see_is_told_first() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}}
    tools = [{"name": "t", "schema": schema}]
    async with ScriptedServer([WHOLE]) as provider:
        google = model(provider.url, "google")
        async with serving(google) as program:
            start, *_ = await program.parts(tools=tools, parallel_tools=False)

    assert start["type"] == "stream-start"
    features = [each["feature"] for each in start["warnings"]]
    assert any(each.startswith("tools.t") for each in features), features
    assert any("parallel" in each for each in features), features


async def test_a_fault_is_a_part_without_the_words_of_the_provider() -> None:
    error = {"error": {"message": f"canary {KEY}", "code": "model_not_found"}}
    async with (
        ScriptedServer([sends(response(404, error))]) as provider,
        serving(model(provider.url)) as program,
    ):
        answered = await program.post()

    told = {"kind": "not-found", "retryable": False, "status": 404}
    assert read(answered.text) == [
        {"type": "stream-start", "warnings": []},
        {"type": "error", "error": told},
    ]
    assert "canary" not in answered.text


async def test_an_answer_that_was_cut_ends_in_an_error() -> None:
    async with (
        ScriptedServer([sends(STREAM_HEAD + ANSWER[:150])]) as provider,
        serving(model(provider.url)) as program,
    ):
        *_, last = await program.parts()

    assert last == {"type": "error", "error": {"kind": "truncated", "retryable": True}}


async def test_when_the_client_goes_the_provider_is_hung_up_at_once() -> None:
    said = sends_then_silent(STREAM_HEAD + sse(chunk(role="assistant", content="Hel")))
    async with (
        ScriptedServer([said]) as provider,
        serving(model(provider.url)) as program,
        program.client.stream("POST", PATH, json=asked()) as answered,
    ):
        async for line in answered.aiter_lines():
            if "Hel" in line:
                break
        async with asyncio.timeout(10):
            await provider.hung_up.wait()


async def test_a_client_that_goes_before_the_provider_answers_ends_the_call_too() -> None:
    async with (
        ScriptedServer([sends_then_silent()]) as provider,
        serving(model(provider.url)) as program,
    ):
        async with program.client.stream("POST", PATH, json=asked()):
            await provider.was_asked.wait()
        async with asyncio.timeout(10):
            await provider.hung_up.wait()


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (b"{", {}, 400, "the body is no JSON"),
        (asked(secret=1), {}, 400, "the body is wrong"),
        (asked(tool_choice={"name": "x"}), {}, 400, "the tool of tool_choice is not among"),
        (
            asked(tools=[{"name": "t", "schema": {"$ref": "#/nowhere"}}]),
            {},
            400,
            "tool 't': ",
        ),
        (asked(model="large"), {}, 404, "There is no model of this name."),
        (None, {"content_type": "text/plain"}, 415, "The body must be application/json"),
        (None, {"content_encoding": "gzip"}, 415, "The body must be application/json"),
        (None, {"origin": "http://localhost:3000"}, 403, "Requests of web pages are refused."),
        (None, {"origin": "null"}, 403, "Requests of web pages are refused."),
        (None, {"host": "evil.example:8790"}, 403, "The host is none"),
        (b"x" * (16 * 1024 * 1024 + 1), {}, 413, "The body has more than 16777216 bytes."),
    ],
)
async def test_a_request_that_is_refused_hears_why(
    body: object, headers: dict[str, str], status: int, message: str
) -> None:
    async with ScriptedServer([WHOLE]) as provider, serving(model(provider.url)) as program:
        told = refused(await program.post(body, **headers))
        again = await program.post()

    assert told[0] == status
    assert told[1].startswith(message)
    assert again.status_code == 200
    assert len(provider.asked) == 1


async def test_a_body_without_a_length_is_bounded_too() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b" " * 1024 * 1024

    async with ScriptedServer([WHOLE]) as provider, serving(model(provider.url)) as program:
        sent = await program.client.post(
            PATH, content=chunks(), headers={"content-type": "application/json"}
        )

    assert refused(sent)[0] == 413


async def _hung_up_after(head: bytes, port: int) -> bytes:
    """Send the beginning of a request and read until the server closes, or hang up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    await writer.drain()
    answered = b"" if b"hang up" in head else await reader.read()
    writer.close()
    return answered


HEAD = (
    f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\n"
    "content-type: application/json\r\ncontent-length: 99\r\n\r\n"
).encode()


async def test_a_body_that_does_not_come_is_no_request(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("turnwire_agent.generate.app.BODY_S", 0.05)
    async with serving(model("http://127.0.0.1:9")) as program:
        answered = await _hung_up_after(HEAD + b"{", program.port)
        monkeypatch.undo()
        await _hung_up_after(HEAD + b"hang up", program.port)

    assert "the client was gone before its body" in caplog.text
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert b"The body took more than" in answered


async def test_what_is_sent_after_a_refusal_is_read_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnwire_agent.generate.app.REFUSED_S", 0.05)
    monkeypatch.setattr("turnwire_agent.generate.app.REFUSED_BYTES", 10)
    page = HEAD.replace(b"host:", b"origin: null\r\nhost:")
    async with serving(model("http://127.0.0.1:9")) as program:
        silent = await _hung_up_after(page, program.port)
        endless = await _hung_up_after(page + b"x" * 20, program.port)

    assert silent.startswith(b"HTTP/1.1 403 ")
    assert endless.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("POST", "/v1/generate/", 404),
        ("GET", PATH, 405),
        ("OPTIONS", PATH, 405),
    ],
)
async def test_there_is_nothing_else(method: str, path: str, status: int) -> None:
    async with serving(model("http://127.0.0.1:9")) as program:
        told = refused(await program.client.request(method, path))

    assert told == (status, "There is POST /v1/generate, and nothing else.")


async def test_a_fault_of_our_own_is_told_in_fixed_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise ZeroDivisionError(PROMPT)

    monkeypatch.setattr("turnwire_agent.generate.app.call", broken)
    async with serving(model("http://127.0.0.1:9")) as program:
        answered = await program.post()

    assert refused(answered) == (500, "The server has a fault of its own.")


async def test_the_log_has_a_line_for_each_call_without_prompt_or_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "turnwire_agent")
    busy = sends(response(400, {"error": f"canary {PROMPT}"}))
    async with ScriptedServer([WHOLE, busy]) as provider, serving(model(provider.url)) as program:
        await program.parts()
        await program.parts()
        await program.post(asked(model=PROMPT))
        await program.post(asked(tools=[{"name": f"{PROMPT} ", "schema": {}}]))
    lines = [each.getMessage() for each in caplog.records if each.name.endswith("generate")]

    assert [line.partition(" seconds")[0] for line in lines] == [
        "generate: model=tiny status=200 outcome=stop parts=9",
        "generate: model=tiny status=200 outcome=bad-request parts=2",
        "generate: model=- status=404 outcome=refused: There is no model of this name.",
        "generate: model=tiny status=400 outcome=refused: the body is no question",
    ]
    assert PROMPT not in caplog.text
    assert KEY not in caplog.text
