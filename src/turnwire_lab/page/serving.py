"""The one server the browser talks to: the page, the gateway behind it, and the wire.

It listens on loopback. The page gets its token from `/lab/setup`, which no other site's page can
read, and everything else wants that token.
"""

import asyncio
import hmac
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from turnwire_lab.page.forward import Forward
from turnwire_lab.page.guard import Guard
from turnwire_lab.process import HOST
from turnwire_lab.service import Service, listener, serving
from turnwire_lab.wiretap.harm import FAULTS, Fault, Harm
from turnwire_lab.wiretap.wire import Wire

BUILT: Final = Path(__file__).parents[1] / "web" / "dist"
"""Where Vite puts the page."""
BEAT_S: Final = 0.06
"""Between two batches of the wire."""


class Setup(msgspec.Struct, frozen=True, rename="camel"):
    """What the page has to know before it can ask anything."""

    token: str
    session: str
    wire: str
    agent: str = ""
    """The framework of the agent; empty for an agent of the lab."""
    prompts: tuple[tuple[str, str], ...] = ()
    """What to ask, and what comes of it; without any the page has its own."""
    faults: tuple[Fault, ...] = FAULTS


class _FaultBody(msgspec.Struct):
    session: str
    fault: Fault


class Page(Service):
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

    async def _start(self, stack: AsyncExitStack) -> None:
        listening = listener(self._port)
        self._port = listening.getsockname()[1]
        stack.push_async_callback(self._forward.aclose)
        app = Guard(self._app())
        self._server = await stack.enter_async_context(serving(app, listening))

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


_REFUSED: Final = Response(status_code=401)
