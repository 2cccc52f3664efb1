"""The line between gateway and an agent over HTTP: as `line`, with one request for each turn.

The path of its URL has the session, which the agent's URL need not have; the agent is asked at its
own path.
"""

import asyncio
import re
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Final, assert_never
from urllib.parse import unquote, urlsplit

import httpx
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from turnwire_lab.process import HOST
from turnwire_lab.service import Service, listener, serving
from turnwire_lab.wiretap.harm import AFTER, BABBLE, FLOOD, FLOOD_FRAME, Fault, Harm
from turnwire_lab.wiretap.records import KEEPALIVE, Records
from turnwire_lab.wiretap.wire import Wire, kind_of

DELTAS: Final = {"TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "text-delta"}
ASKED: Final = "RunAgentInput"
_ITS_OWN: Final = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
_SESSION: Final = re.compile(r"/sessions/([^/]+)(/.*)")


class HttpLine(Service):
    """`async with HttpLine(agent_url, wire, harm) as line:` listens at `line.url`."""

    def __init__(self, agent_url: str, wire: Wire, harm: Harm) -> None:
        self._agent = urlsplit(agent_url)
        self._wire = wire
        self._harm = harm
        self.port = 0

    @property
    def url(self) -> str:
        """The template of the agent's URL, as the gateway is to use it."""
        return f"http://{HOST}:{self.port}/sessions/{{session_id}}{self._agent.path}"

    async def _start(self, stack: AsyncExitStack) -> None:
        listening = listener(0)
        self.port = listening.getsockname()[1]
        self._http = await stack.enter_async_context(
            httpx.AsyncClient(trust_env=False, timeout=None)  # noqa: S113 (the gateway has limits)
        )
        await stack.enter_async_context(serving(self, listening))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        exchange = _Exchange(request, body, send)
        passing = asyncio.create_task(self._pass_on(exchange))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (passing, leaving):
                task.cancel()
            await asyncio.wait({passing, leaving})
            self._harm.over(exchange.run)
        if not passing.cancelled():
            passing.result()

    async def _pass_on(self, exchange: "_Exchange") -> None:
        self._wire.command(exchange.run, exchange.session, exchange.body, ASKED)
        fault = self._harm.take(exchange.session, of_client=False)
        request = exchange.request
        headers = [(k, v) for k, v in request.headers.items() if k not in _ITS_OWN]
        url = self._agent._replace(path=exchange.path, query=request.url.query).geturl()
        asked = self._http.build_request(
            request.method, url, headers=headers, content=exchange.body
        )
        try:
            response = await self._http.send(asked, stream=True)
        except httpx.TransportError:
            down = PlainTextResponse("the agent was not reached\n", 503)
            await down(request.scope, request.receive, exchange.send)
            return
        # A broken body ends without its end: the gateway is to see what the line sees.
        with suppress(httpx.TransportError):
            async with aclosing(response):
                await self._answer(exchange, response, fault)

    async def _answer(
        self, exchange: "_Exchange", response: httpx.Response, fault: Fault | None
    ) -> None:
        kept = [(k, v) for k, v in response.headers.raw if k.lower().decode() not in _ITS_OWN]
        await exchange.send(
            {"type": "http.response.start", "status": response.status_code, "headers": kept}
        )
        records = Records()
        deltas = 0
        async for piece in response.aiter_raw():
            for event in records.take(piece):
                if event != KEEPALIVE:
                    self._wire.frame(exchange.run, exchange.session, event)
                deltas += fault is not None and kind_of(event) in DELTAS
            await exchange.pass_on(piece)
            if fault is not None and deltas >= AFTER:
                harm, fault = fault, None
                if not await self._do_harm(exchange, harm):
                    return
        await exchange.end()

    async def _do_harm(self, exchange: "_Exchange", fault: Fault) -> bool:
        """Do it. Returns whether the answer goes on."""
        match fault:
            case "agent-dies":
                self._wire.note(exchange.session, "the agent's line is cut", exchange.run)
                return False
            case "agent-hangs":
                self._wire.note(exchange.session, "the agent falls silent", exchange.run)
                await asyncio.get_running_loop().create_future()
            case "agent-floods":
                words = f"the agent sends {FLOOD:,} frames that nobody asked for"
                self._wire.note(exchange.session, words, exchange.run)
                for _ in range(FLOOD):
                    await exchange.pass_on(_event(FLOOD_FRAME))
                self._wire.note(exchange.session, "the flood is over", exchange.run)
            case "agent-babbles":
                self._wire.note(exchange.session, "the agent babbles", exchange.run)
                for babble in BABBLE:
                    self._wire.frame(exchange.run, exchange.session, babble)
                    await exchange.pass_on(_event(babble))
            case "gateway-restarts":
                self._wire.note(exchange.session, "the gateway restarts", exchange.run)
                self._harm.restart()
            case "slow-client" | "agent-killed":
                raise AssertionError("not a fault of this line")
            case _:
                assert_never(fault)
        return True


class _Exchange:
    """One request of the gateway, and the response to it."""

    def __init__(self, request: Request, body: bytes, send: Send) -> None:
        self.request = request
        self.body = body
        self.send = send
        self.run = request.headers.get("x-request-id", "")
        found = _SESSION.fullmatch(request.url.path)
        self.session = unquote(found[1]) if found else ""
        self.path = found[2] if found else request.url.path

    async def pass_on(self, piece: bytes) -> None:
        await self.send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self) -> None:
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def _event(data: bytes) -> bytes:
    return b"data: %b\n\n" % data


async def _left(receive: Receive) -> None:
    """Wait until the gateway hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
