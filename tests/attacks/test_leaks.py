"""What goes wrong inside is told to nobody outside."""

import pytest

from attacks.routes import ROUTES, Route
from gateway.agent import Line, ScriptedAgent
from gateway.clients import new_client
from gateway.control_plane import ControlPlane, reply
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire import __version__

pytestmark = pytest.mark.sockets

SECRET = "the-secret-of-the-backend"
BODY = f"Traceback (most recent call last): {SECRET} at postgres://root:pw@10.0.0.1/".encode()
INNER = ("Traceback", "postgres", "10.0.0.1", "127.0.0.1", SECRET, "websockets", "Error(", ".py")
HANDSHAKES = {
    "a status with a body": reply(500, BODY, f"x-secret: {SECRET}"),
    "a refusal with a body": reply(403, BODY, f"www-authenticate: {SECRET}"),
    "not found with a body": reply(404, BODY),
    "a redirect": reply(302, BODY, f"location: ws://10.0.0.1/{SECRET}"),
    "no HTTP": BODY + b"\r\n\r\n",
    "a reason": f"HTTP/1.1 500 {SECRET}\r\n\r\n".encode(),
    "an upgrade that is none": reply(101, BODY, f"sec-websocket-accept: {SECRET}"),
    "nothing": b"",
}


async def response_text(gateway: Gateway, route: Route, session: str = "s1") -> tuple[int, str]:
    """All that a client gets to see: status, headers and body."""
    async with new_client() as client:
        response = await route.call(client, gateway.url, bearer(), session=session)
    return response.status_code, f"{response.headers.raw} {response.text}"


def check(shown: str, *more: str) -> None:
    assert [word for word in (*INNER, *more) if word in shown] == []


@pytest.mark.attack(
    "an agent whose handshake has internal details: in a body, a header, a location, a reason",
    "“Connection failed”, 404 or 503, in fixed words; the client gets no details",
)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_nothing_of_a_handshake_gets_out(route: Route) -> None:
    for handshake in HANDSHAKES.values():
        async with RawAgent(handshake) as agent, Gateway(agent.url()) as gateway:
            status, shown = await response_text(gateway, route)
            assert status in {200, 404, 503}
            check(shown, str(agent.port))


@pytest.mark.attack(
    "an agent that crashes, closes with a reason or breaks its wire in mid-turn",
    "“Stream interrupted”, or 503, in fixed words",
)
@pytest.mark.parametrize("how", ["reason", "binary", "cut", "raw"])
async def test_nothing_of_a_crash_gets_out(how: str) -> None:
    async def crash(line: Line) -> None:
        if line.path.endswith("turn/ws"):
            await line.begin()
        match how:
            case "reason":
                await line.connection.close(1011, SECRET)
            case "binary":
                await line.connection.send(BODY)
            case "raw":
                await line.raw(BODY)
            case _:
                line.cut()

    async with ScriptedAgent(crash) as agent, Gateway(agent.url()) as gateway:
        for route in ROUTES:
            status, shown = await response_text(
                gateway, route, "turn" if route.name == "chat" else "s1"
            )
            assert status in {200, 204, 501, 503}
            check(shown, str(agent.port))


@pytest.mark.attack(
    "a control plane whose answer has internal details",
    "503 or 404, in fixed words",
)
@pytest.mark.parametrize("status", [200, 401, 403, 404, 500])
async def test_nothing_of_the_control_plane_gets_out(status: int) -> None:
    async with (
        ControlPlane(reply(status, BODY, f"x-secret: {SECRET}")) as plane,
        Gateway(given=plane.settings()) as gateway,
    ):
        for route in ROUTES:
            told, shown = await response_text(gateway, route)
            assert told in {401, 404, 503}
            check(shown, str(plane.port))


@pytest.mark.attack(
    "a bug of the gateway", "500 “Internal error” and the request's id; the traceback is logged"
)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_a_bug_shows_nothing(route: Route, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(SECRET)

    async with Gateway() as gateway:
        monkeypatch.setattr(type(gateway.dialler), "dial", broken)
        for dialect in ("prompt", "resume", "stop", "answer", "read_history"):
            monkeypatch.setattr(type(_dialect(gateway)), dialect, broken)
        status, shown = await response_text(gateway, route)

        assert status == 500
        check(shown)


def _dialect(gateway: Gateway) -> object:
    (route, *_) = gateway.app.routes
    return route.endpoint.app_context.dialect  # type: ignore[attr-defined]  # ours, not `BaseRoute`'s


@pytest.mark.attack("finding out the software and its version", "only `/openapi.json` has them")
async def test_no_header_names_the_software() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        for route in ROUTES[:1]:
            _, shown = await response_text(gateway, route)
            for word in ("uvicorn", "starlette", "python", __version__):
                assert word not in shown.lower()
