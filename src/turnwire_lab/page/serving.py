"""The one server the browser talks to: the page, the gateway behind it, and the wire.

It listens on loopback. The page gets its token from `/lab/setup`, which no other site's page can
read, and everything else wants that token.
"""

import asyncio
import hmac
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from turnwire_lab.page.forward import Forward
from turnwire_lab.page.guard import Guard
from turnwire_lab.wiretap.harm import FAULTS, Fault, Harm
from turnwire_lab.wiretap.wire import Wire

HOST: Final = "127.0.0.1"
BUILT: Final = Path(__file__).parents[1] / "web" / "dist"
"""Where Vite puts the page."""
BEAT_S: Final = 0.06
"""Between two batches of the wire."""
END_S: Final = 1


class Setup(msgspec.Struct, frozen=True, rename="camel"):
    """What the page has to know before it can ask anything."""

    token: str
    session: str
    wire: str
    faults: tuple[Fault, ...] = FAULTS


class _FaultBody(msgspec.Struct):
    session: str
    fault: Fault


class Page:
    """`async with Page(...) as page:` serves it at `page.url`."""

    def __init__(
        self,
        *,
        gateway_url: str,
        setup: Setup,
        wire: Wire,
        harm: Harm,
        port: int = 0,
        built: Path = BUILT,
    ) -> None:
        self._setup = setup
        self._wire = wire
        self._harm = harm
        self._built = built
        self._port = port
        self._forward = Forward(gateway_url, wire, harm)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/"

    async def __aenter__(self) -> Self:
        listener = _listener(self._port)
        self._port = listener.getsockname()[1]
        config = uvicorn.Config(
            Guard(self._app()),
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=END_S,
        )
        self._server = _Server(config)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._forward.aclose)
            self._serving = asyncio.create_task(self._server.serve([listener]))
            stack.push_async_callback(self._end)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def _end(self) -> None:
        self._server.should_exit = True
        with suppress(asyncio.CancelledError):
            await self._serving

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                Mount("/api", self._forward),
                Route("/lab/setup", self._tell_setup, methods=["GET"]),
                Route("/lab/wire", self._tell_wire, methods=["GET"]),
                Route("/lab/faults", self._plan, methods=["POST"]),
                Mount("/", StaticFiles(directory=self._built, html=True)),
            ]
        )

    async def _tell_setup(self, _: Request) -> Response:
        return Response(msgspec.json.encode(self._setup), media_type="application/json")

    async def _tell_wire(self, request: Request) -> Response:
        if not self._allowed(request):
            return _REFUSED
        return StreamingResponse(self._batches(), media_type="text/event-stream")

    async def _batches(self) -> AsyncIterator[bytes]:
        yield b": welcome\n\n"
        with self._wire.watch() as watch:
            while not self._server.should_exit:
                batch = await watch.next()
                yield b"data: " + msgspec.json.encode(batch) + b"\n\n"
                await asyncio.sleep(BEAT_S)

    async def _plan(self, request: Request) -> Response:
        if not self._allowed(request):
            return _REFUSED
        try:
            asked = msgspec.json.decode(await request.body(), type=_FaultBody)
        except (msgspec.DecodeError, UnicodeError):
            return JSONResponse({"error": "no such fault"}, 400)
        self._harm.plan(asked.session, asked.fault)
        return Response(status_code=204)

    def _allowed(self, request: Request) -> bool:
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self._setup.token}".encode())


def _listener(port: int) -> socket.socket:
    """On that port, or on any other if somebody has it."""
    try:
        return socket.create_server((HOST, port))
    except OSError:
        return socket.create_server((HOST, 0))


class _Server(uvicorn.Server):
    """Leaves signals to the demo."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


_REFUSED: Final = Response(status_code=401)
