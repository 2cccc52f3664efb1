"""The line between gateway and agent: every frame is written down, and harm is done to some.

A WebSocket server towards the gateway, a client towards the agent, frames unchanged. A handshake
that the agent refuses is refused with the same status, and who does not read is not read from.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from typing import Final, assert_never
from urllib.parse import unquote, urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from turnwire_lab.process import HOST
from turnwire_lab.service import Service
from turnwire_lab.wiretap.harm import AFTER, BABBLE, FLOOD, FLOOD_FRAME, Fault, Harm
from turnwire_lab.wiretap.wire import Wire, kind_of

CLOSE_S: Final = 1.0
PROMPTS: Final = {"prompt", "session/prompt"}
DELTAS: Final = {"chunk", "message.part.text-delta", "agent_message_chunk"}

_ITS_OWN: Final = re.compile(r"host|upgrade|connection|user-agent|sec-websocket-.*", re.IGNORECASE)
_SESSION: Final = re.compile(r"/sessions/([^/]+)/")


class Line(Service):
    """`async with Line(agent_url, wire, harm) as line:` listens at `line.url`."""

    def __init__(self, agent_url: str, wire: Wire, harm: Harm) -> None:
        self._agent = urlsplit(agent_url)
        self._wire = wire
        self._harm = harm
        self._far: dict[ServerConnection, ClientConnection] = {}
        """Reached, and not carried yet."""
        self._watching: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        """The template of the agent's URL, as the gateway is to use it."""
        return urlunsplit(self._agent._replace(netloc=f"{HOST}:{self.port}"))

    async def _start(self, stack: AsyncExitStack) -> None:
        stack.push_async_callback(self._all_left)
        server = await stack.enter_async_context(
            serve(
                self._carry,
                HOST,
                0,
                process_request=self._dial,
                select_subprotocol=self._as_agreed,
                compression=None,
                max_size=None,
                close_timeout=CLOSE_S,
                ping_interval=None,
            )
        )
        self.port = next(iter(server.sockets)).getsockname()[1]

    async def _dial(self, near: ServerConnection, request: Request) -> Response | None:
        """Reach the agent before the gateway is let in."""
        headers = [(k, v) for k, v in request.headers.raw_items() if not _ITS_OWN.fullmatch(k)]
        try:
            self._far[near] = await connect(
                f"{self._agent.scheme}://{self._agent.netloc}{request.path}",
                additional_headers=headers,
                subprotocols=_offered(request) or None,
                user_agent_header=request.headers.get("user-agent"),
                compression=None,
                max_size=None,
                close_timeout=CLOSE_S,
                ping_interval=None,
                proxy=None,
            )
        except InvalidStatus as refused:
            return near.respond(refused.response.status_code, "the agent refused\n")
        except (OSError, InvalidHandshake, TimeoutError):
            return near.respond(503, "the agent was not reached\n")
        watching = asyncio.create_task(self._leave(near))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        return None

    async def _leave(self, near: ServerConnection) -> None:
        """Close the socket of the agent if the gateway left before it was accepted."""
        await near.wait_closed()
        far = self._far.pop(near, None)
        if far is not None:
            await far.close()

    async def _all_left(self) -> None:
        await asyncio.gather(*self._watching)

    def _as_agreed(
        self, near: ServerConnection, _offered: Sequence[Subprotocol]
    ) -> Subprotocol | None:
        """What the agent chose, who was asked first."""
        return self._far[near].subprotocol

    async def _carry(self, near: ServerConnection) -> None:
        assert near.request is not None
        run = near.request.headers.get("x-request-id", "")
        found = _SESSION.search(near.request.path)
        talk = _Talk(near, self._far.pop(near), run, unquote(found[1]) if found else "")
        there = asyncio.create_task(self._there(talk))
        back = asyncio.create_task(self._back(talk))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
            await talk.end()
            self._harm.over(talk.run)

    async def _there(self, talk: "_Talk") -> None:
        with suppress(ConnectionClosed):
            async for data in talk.near:
                frame = data.encode() if isinstance(data, str) else data
                self._wire.command(talk.run, talk.session, frame)
                if kind_of(frame) in PROMPTS:
                    talk.fault = self._harm.take(talk.session, of_client=False)
                await talk.far.send(data)

    async def _back(self, talk: "_Talk") -> None:
        deltas = 0
        with suppress(ConnectionClosed):
            async for data in talk.far:
                frame = data.encode() if isinstance(data, str) else data
                deltas += talk.fault is not None and kind_of(frame) in DELTAS
                if talk.fault is not None and deltas >= AFTER:
                    fault, talk.fault = talk.fault, None
                    await self._do_harm(talk, fault)
                self._wire.frame(talk.run, talk.session, frame)
                await talk.near.send(data)

    async def _do_harm(self, talk: "_Talk", fault: Fault) -> None:
        match fault:
            case "agent-dies":
                self._wire.note(talk.session, "the agent's line is cut", talk.run)
                talk.near.transport.abort()
            case "agent-hangs":
                self._wire.note(talk.session, "the agent falls silent", talk.run)
                await talk.near.wait_closed()
            case "agent-floods":
                words = f"the agent sends {FLOOD:,} frames that nobody asked for"
                self._wire.note(talk.session, words, talk.run)
                for _ in range(FLOOD):
                    await talk.near.send(FLOOD_FRAME, text=True)
                self._wire.note(talk.session, "the flood is over", talk.run)
            case "agent-babbles":
                self._wire.note(talk.session, "the agent babbles", talk.run)
                for babble in BABBLE:
                    self._wire.frame(talk.run, talk.session, babble)
                    await talk.near.send(babble, text=True)
            case "gateway-restarts":
                self._wire.note(talk.session, "the gateway restarts", talk.run)
                self._harm.restart()
            case "slow-client" | "agent-killed":
                raise AssertionError("not a fault of this line")
            case _:
                assert_never(fault)


def _offered(request: Request) -> list[Subprotocol]:
    offered = request.headers.get_all("sec-websocket-protocol")
    names = (name.strip() for each in offered for name in each.split(","))
    return [Subprotocol(name) for name in names if name]


class _Talk:
    """One socket of the gateway, and its counterpart at the agent."""

    def __init__(
        self, near: ServerConnection, far: ClientConnection, run: str, session: str
    ) -> None:
        self.near = near
        self.far = far
        self.run = run
        self.session = session
        self.fault: Fault | None = None

    async def end(self) -> None:
        """End both sides as the one that ended first did: with a close frame, or without."""
        ended = [side for side in (self.near, self.far) if side.close_code is not None]
        for side in (self.near, self.far):
            if ended and ended[0].close_code == 1006:  # noqa: PLR2004 (no close frame came)
                side.transport.abort()
            with suppress(ConnectionClosed):
                await side.close()
