"""Turns over the transport `http`, against a server that writes exact bytes."""

import msgspec
import pytest

from gateway.asgi import Exchange
from gateway.clients import (
    ask,
    errors,
    is_whole,
    post,
    said,
)
from gateway.http_agent import (
    Asked,
    HttpAgent,
    answers,
    gateway_of,
)
from gateway.running import Gateway, settings
from gateway.tokens import bearer
from support.http_dialect import (
    BEGUN,
    CHUNKED,
    END,
    HEAD,
    WHOLE,
    HttpDialect,
    chunk,
    chunked,
    event,
    sized,
)
from support.posting_dialect import Over, Text
from turnwire.dialects import DIALECTS
from turnwire.web.app import create_app

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


async def test_the_request() -> None:
    trace = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "tracestate": "a=b"}
    async with HttpAgent(answers(chunked(WHOLE))) as agent, gateway_of(agent) as gateway:
        mine = bearer()
        response = await post(gateway, text="what é now?", headers=mine | trace | {"x-mine": "1"})

    (asked,) = agent.requests
    assert is_whole(response.text)
    assert said(response.text) == "Hello world"
    assert asked.line == "POST /api/s1/runs HTTP/1.1"
    assert msgspec.json.decode(asked.body) == {"prompt": "what é now?", "files": []}
    assert asked.headers == {
        "host": f"127.0.0.1:{agent.port}",
        "accept": "text/event-stream, application/x-ndjson",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "x-wire": "posting",
        "user-agent": asked.headers["user-agent"],
        "x-request-id": response.headers["x-request-id"],
        "traceparent": asked.headers["traceparent"],
        "tracestate": "a=b",
        "authorization": mine["authorization"],
        "content-length": str(len(asked.body)),
    }


@pytest.mark.parametrize(
    "response",
    [
        chunked(WHOLE),
        chunked(*(WHOLE[at : at + 1] for at in range(len(WHOLE)))),
        CHUNKED + b"%x;a=b\r\n" % len(WHOLE) + WHOLE + b"\r\n0\r\nx-trailer: 1\r\n\r\n",
        sized(WHOLE),
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n" + sized(WHOLE),
        sized(b"\xef\xbb\xbf: hello\r\r" + WHOLE.replace(b"\n", b"\r")),
        sized(b"retry: 3\r\n\r\n" + WHOLE.replace(b"\n", b"\r\n")),
        sized(WHOLE.replace(b'{"type', b'{\ndata: "type')),
        sized(WHOLE, HEAD.replace(b"event-stream", b"event-stream;charset=utf-8")),
        sized(WHOLE, HEAD + b"content-encoding: identity\r\n"),
        sized(WHOLE, HEAD.replace(b"200", b"202")),
        sized(
            WHOLE.replace(b"data: ", b"").replace(b"\n\n", b"\n")[:-1],
            HEAD.replace(b"text/event-stream", b"application/x-ndjson"),
        ),
        chunked(WHOLE) + b"HTTP/1.1 200 OK\r\n\r\n",
        chunked(WHOLE) + b"more",
        CHUNKED + chunk(WHOLE) + b"no chunk",
    ],
    ids=[
        *("chunked", "a chunk a byte", "extension and trailer", "sized", "interim"),
        *("mark, comment, CR", "retry, CRLF", "several lines", "charset", "identity", "202"),
        *("lines", "a second response", "bytes behind", "broken behind the verdict"),
    ],
)
@pytest.mark.parametrize("drips", [False, True])
async def test_a_response_that_is_read(response: bytes, *, drips: bool) -> None:
    async def script(asked: Asked) -> None:
        await (asked.drip if drips else asked.say)(response)

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway)

    assert is_whole(answer.text), answer.text
    assert said(answer.text) == "Hello world"
    assert errors(answer.text) == []


async def test_what_comes_with_the_head_is_one_write_to_the_client() -> None:
    async with HttpAgent(answers(chunked(WHOLE))) as agent:
        url = f"http://127.0.0.1:{agent.port}/api/{{session_id}}/runs"
        app = create_app(settings(url, dialect=HttpDialect.name))
        headers = bearer() | {"content-type": "application/json"}
        body = [msgspec.json.encode(ask())]
        exchange = await Exchange(app, headers=[*headers.items()], body=body).run()

    assert said(exchange.body) == "Hello world"
    assert [message["type"] for message in exchange.sent] == [
        "http.response.start",
        "http.response.body",
    ]


async def test_the_body_that_the_close_ends() -> None:
    async def script(asked: Asked) -> None:
        await asked.say(HEAD + b"\r\n" + WHOLE)
        asked.close()

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway)

    assert said(answer.text) == "Hello world"
    assert is_whole(answer.text)


RESPONSE = chunked(BEGUN, event(Text(" world")), event(Over()))
VERDICT_AT = RESPONSE.index(b'{"type":"over"}\n\n') + len(b'{"type":"over"}\n\n')
BODY_AT = RESPONSE.index(b"\r\n\r\n") + 4


@pytest.mark.parametrize("at", [*range(1, BODY_AT, 13), *range(BODY_AT, len(RESPONSE), 9)])
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.fault(
    "the response of an HTTP agent is cut or reset at any byte",
    "“Connection failed” before its head, “Stream interrupted” after it; a cut after the verdict"
    " changes nothing",
)
async def test_a_response_that_is_cut(at: int, *, resets: bool) -> None:
    """What came before the cut is shown, unless a reset overtakes it."""

    async def script(asked: Asked) -> None:
        await asked.say(RESPONSE[:at])
        (asked.reset if resets else asked.close)()

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway)

    if at >= VERDICT_AT and not resets:
        assert is_whole(answer.text)
        assert errors(answer.text) == []
    elif at >= BODY_AT:
        assert errors(answer.text) in (
            [["Stream interrupted"]]
            if not resets
            else [["Stream interrupted"], ["Connection failed"], []]
        )
    else:
        assert errors(answer.text) == ["Connection failed"]
    assert "Hello world".startswith(said(answer.text))
    assert len(agent.requests) == 1


@pytest.mark.parametrize(
    "rest", [END, b"", b"zz\r\n", b"5\r\ndata:\r\n0\r\n\r\n", chunk(b"data: no verdict\n") + END]
)
async def test_a_body_that_ends_before_the_turn(rest: bytes) -> None:
    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(BEGUN) + rest)
        asked.half_close()

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway)
        await gateway.has_ended("interrupted")

    assert said(answer.text) == "Hello"
    assert errors(answer.text) == ["Stream interrupted"]


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        ({"agent_auth": "none"}, {"x-turnwire-user": "u1"}),
        (
            {"agent_auth": "service", "agent_token": "t0"},
            {"x-turnwire-user": "u1", "authorization": "Bearer t0"},
        ),
        ({}, {}),
    ],
)
async def test_the_operators_headers_and_who_asks(
    auth: dict[str, str], sent: dict[str, str]
) -> None:
    own = '{"X-Api-Key": "k 1", "x-wire": "mine"}'
    async with (
        HttpAgent(answers(chunked(WHOLE))) as agent,
        gateway_of(agent, agent_headers=own, **auth) as gateway,
    ):
        await post(gateway)

    headers = agent.requests[0].headers
    assert headers.items() >= {"x-api-key": "k 1", "x-wire": "mine"}.items() | sent.items()
    assert ("x-turnwire-user" in headers) is ("x-turnwire-user" in sent)
    assert list(headers).count("x-wire") == 1


async def test_a_url_need_not_name_the_session() -> None:
    async with HttpAgent(answers(chunked(WHOLE))) as agent:
        url = f"http://127.0.0.1:{agent.port}/agent?x=y"
        async with Gateway(url, dialect=HttpDialect.name) as gateway:
            assert is_whole((await post(gateway)).text)

    assert agent.requests[0].line == "POST /agent/runs?x=y HTTP/1.1"
