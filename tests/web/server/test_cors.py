"""CORS: which pages of other origins may call, and that they can read what they get."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from gateway import refusals
from gateway.agent import ScriptedAgent
from gateway.asgi import Exchange
from gateway.clients import ask, is_whole, new_client
from gateway.refusals import Refusal
from gateway.running import Gateway, settings
from gateway.tokens import bearer, token
from turnwire.relay.agent.dialer import Address, Dialler, Socket
from turnwire.relay.agent.failures import DialError, DialFailure
from turnwire.web.app import create_app, new_registry
from turnwire.web.server.cors import Cors

OURS, LOCAL = "https://app.example", "http://localhost:3000"
CHAT = "/api/sessions/s1/chat"
EXPOSED = "x-request-id, retry-after, x-workflow-run-id"
SENT = "authorization, content-type, user-agent, x-request-id, x-turnwire-profile, traceparent"


class NoAgent(Dialler):
    def __init__(self) -> None:
        super().__init__(user_timeout_s=1)

    async def dial(self, address: Address, new_socket: Callable[[], Socket]) -> Socket:
        del address, new_socket
        raise DialError(DialFailure.CONNECT)


def app_of(origins: str = f"{OURS},{LOCAL}", **more: Any) -> Starlette:
    return create_app(settings(cors_origins=origins, **more), dialler=NoAgent())


async def asked(
    app: Any, *origins: str, method: str = "POST", path: str = CHAT, **headers: str
) -> Exchange:
    """A request from a page of this origin, by a user with a token."""
    sent = [*(("origin", origin) for origin in origins), *bearer().items()]
    sent += [("content-type", "application/json")]
    sent += [(name.replace("_", "-"), value) for name, value in headers.items()]
    body = json.dumps(ask()).encode()
    return await Exchange(app, method=method, path=path, headers=sent, body=[body]).run()


async def preflight(app: Any, *origins: str, path: str = CHAT, method: str = "POST") -> Exchange:
    """As a browser asks: without a token."""
    sent = [
        *(("origin", origin) for origin in origins),
        ("access-control-request-method", method),
        ("access-control-request-headers", "authorization,content-type,x-evil"),
    ]
    return await Exchange(app, method="OPTIONS", path=path, headers=sent).run()


def headers_of(done: Exchange) -> dict[str, str]:
    """What the response says to browsers; each header once."""
    names = [name for name, _ in done.sent[0]["headers"]]
    assert len(names) == len(set(names))
    return {
        name: value
        for name, value in done.headers.items()
        if name == "vary" or name.startswith("access-control")
    }


@pytest.mark.parametrize("origin", [OURS, LOCAL])
@pytest.mark.parametrize(
    ("path", "method"),
    [
        (CHAT, "POST"),
        (f"{CHAT}/c1/stream", "GET"),
        ("/api/sessions/s1/messages", "GET"),
        ("/api/sessions/s1/nowhere", "POST"),
        ("/api/sessions/%2e%2e/chat", "POST"),
    ],
)
async def test_a_preflight_of_a_listed_origin_is_answered_without_a_token(
    origin: str, path: str, method: str
) -> None:
    """Where there is no route too: the page may read its 404."""
    done = await preflight(app_of(), origin, path=path, method=method)

    assert (done.status, done.body) == (204, b"")
    assert headers_of(done) == {
        "vary": "Origin",
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": SENT,
        "access-control-max-age": "600",
    }
    assert done.headers["x-request-id"]


@pytest.mark.parametrize("origin", [OURS, LOCAL])
async def test_a_listed_origin_may_read_its_stream(origin: str) -> None:
    done = await asked(app_of(), origin)

    assert done.status == 200
    assert done.headers["content-type"].startswith("text/event-stream")
    assert headers_of(done) == {
        "vary": "Origin",
        "access-control-allow-origin": origin,
        "access-control-expose-headers": EXPOSED,
    }


STRANGERS = [
    "null",
    "https://app.example/",
    "https://App.example",
    "HTTPS://app.example",
    "http://app.example",
    "https://app.example:443",
    "https://app.example:8443",
    "https://app.example.evil.example",
    "https://evil-app.example",
    "https://evil.app.example",
    "https://app.example@evil.example",
    "https://app.example\x00.evil.example",
    "https://app.exampl\xe9",
    " https://app.example",
    f"{OURS}, {LOCAL}",
    f"{OURS},{LOCAL}",
    f"{OURS} {LOCAL}",
    "*",
    "",
    "http://localhost",
    "http://localhost:3001",
    "http://127.0.0.1:3000",
]


@pytest.mark.parametrize("origin", STRANGERS)
@pytest.mark.attack(
    "a page of an origin that is not listed",
    "no CORS header: the page cannot call, and cannot read",
)
async def test_another_origin_learns_nothing(origin: str) -> None:
    """It is served as if there were no CORS: what its page may read is the browser's business."""
    app = app_of()
    done, before = await asked(app, origin), await preflight(app, origin)

    assert (done.status, headers_of(done)) == (200, {"vary": "Origin"})
    assert (before.status, headers_of(before)) == (405, {"vary": "Origin"})


@pytest.mark.attack("two `Origin` headers", "none is allowed")
async def test_two_origins_are_none() -> None:
    app = app_of()
    done, before = await asked(app, OURS, OURS), await preflight(app, OURS, LOCAL)

    assert (done.status, headers_of(done)) == (200, {"vary": "Origin"})
    assert (before.status, headers_of(before)) == (405, {"vary": "Origin"})


async def test_without_an_origin_the_response_still_varies_by_it() -> None:
    app = app_of()

    assert headers_of(await asked(app)) == {"vary": "Origin"}
    assert headers_of(await preflight(app)) == {"vary": "Origin"}


@pytest.mark.parametrize("origin", [OURS, "null", "https://anybody.example"])
@pytest.mark.attack("a page that sends credentials", "never allowed, not even with `*`")
async def test_a_star_lets_every_page_in_and_never_with_credentials(origin: str) -> None:
    app = app_of("*")
    done = await asked(app, origin, cookie="session=1")
    before = await preflight(app, origin)

    assert headers_of(done) == {
        "vary": "Origin",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": EXPOSED,
    }
    assert headers_of(before)["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in headers_of(done) | headers_of(before)


@pytest.mark.parametrize(
    "refusal",
    [refusals.strangers()[0], *refusals.every()],
    ids=lambda refusal: refusal.name,
)
async def test_a_page_can_read_why_it_was_refused(refusal: Refusal) -> None:
    done = await Exchange(
        app_of(),
        method=refusal.method,
        path=refusal.path,
        query=refusal.query,
        headers=[*refusals.headers(refusal), ("origin", OURS)],
        body=[refusal.body],
    ).run()

    assert done.status == refusal.status
    assert headers_of(done) == (
        {
            "vary": "Origin",
            "access-control-allow-origin": OURS,
            "access-control-expose-headers": EXPOSED,
        }
        if refusal.path.startswith("/api/sessions/")
        else {}
    )


@pytest.mark.parametrize(("limit", "status"), [("max_streams", 503), ("max_streams_per_user", 429)])
async def test_a_page_can_read_when_to_come_back(limit: str, status: int) -> None:
    more: dict[str, Any] = {"cors_origins": OURS, limit: 1}
    given = settings(**more)
    streams = new_registry(given)
    app = create_app(given, dialler=NoAgent(), streams=streams)
    with streams.slot("u1"):
        done = await asked(app, OURS)

    assert done.status == status
    assert done.headers["retry-after"]
    assert headers_of(done)["access-control-allow-origin"] == OURS


async def test_a_page_can_read_that_we_crashed() -> None:
    class BrokenAccess:
        async def grant(self, *_: object) -> None:
            raise KeyError("the database password")

    app = create_app(settings(cors_origins=OURS), dialler=NoAgent(), access=BrokenAccess())
    crashing = Exchange(app, path=CHAT, headers=[("origin", OURS), *bearer().items()])
    with pytest.raises(KeyError):
        await crashing.run()

    assert crashing.status == 500
    assert headers_of(crashing)["access-control-allow-origin"] == OURS


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/", "/api/sessions"])
async def test_no_other_route_is_concerned(path: str) -> None:
    app = app_of("*")
    done, before = await asked(app, OURS, method="GET", path=path), await preflight(app, path=path)

    assert headers_of(done) == {}
    assert headers_of(before) == {}
    assert before.status in {404, 405}


@pytest.mark.parametrize("path", [CHAT, f"{CHAT}/c1/stream", "/api/sessions/s1/stop"])
async def test_without_the_setting_nothing_is_said_and_options_is_no_method(path: str) -> None:
    app = app_of("")
    done = await asked(app, OURS)
    before = await preflight(app, OURS, path=path)

    assert headers_of(done) == {}
    assert (before.status, headers_of(before)) == (405, {})


async def test_options_that_ask_for_nothing_are_no_preflight() -> None:
    done = await asked(app_of(), OURS, method="OPTIONS")

    assert done.status == 405
    assert headers_of(done)["access-control-allow-origin"] == OURS


async def test_nothing_stands_between_the_server_and_a_chunk() -> None:
    """What the server's `send` returns is what a write is stepped by."""
    taken: list[Any] = []

    async def inner(_: Scope, __: Receive, send: Send) -> None:
        taken.append(send({"type": "http.response.start", "status": 200}))
        taken.append(send({"type": "http.response.body"}))

    class Server:
        def __init__(self) -> None:
            self.sent: list[Any] = []

        def __call__(self, message: Any) -> Any:
            self.sent.append(message)
            return message

    server = Server()
    scope = {"type": "http", "path": CHAT, "method": "POST", "headers": [], "query_string": b""}
    await Cors(inner, [OURS])(scope, None, server)  # type: ignore[arg-type]  # never asked

    assert taken == server.sent
    assert taken[0]["headers"] == [(b"vary", b"Origin")]


async def test_what_is_no_request_goes_through() -> None:
    seen: list[Any] = []

    async def inner(scope: Scope, _: Receive, send: Send) -> None:
        seen.append((scope["type"], send))

    await Cors(inner, [OURS])({"type": "lifespan"}, None, print)  # type: ignore[arg-type]

    assert seen == [("lifespan", print)]


@pytest.mark.sockets
async def test_a_stream_and_a_preflight_through_the_real_server() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), cors_origins=OURS) as gateway,
        new_client() as client,
    ):
        url = gateway.url + CHAT
        asks = {"origin": OURS, "access-control-request-method": "POST"}
        before = await client.options(url, headers=asks)
        response = await client.post(
            url, json=ask(), headers={"origin": OURS, "authorization": f"Bearer {token()}"}
        )

    assert (before.status_code, before.content) == (204, b"")
    assert "content-length" not in before.headers
    assert "transfer-encoding" not in before.headers
    assert is_whole(response.text)
    assert response.headers["access-control-allow-origin"] == OURS
