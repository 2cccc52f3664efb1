"""The gateway without sockets: a transport that answers the handshake and tells a turn."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aiohappyeyeballs import AddrInfoType
from starlette.applications import Starlette
from websockets.frames import Frame
from websockets.http11 import Request
from websockets.server import ServerProtocol

from gateway import frames
from gateway.asgi import Exchange, Headers, Message
from gateway.clients import ask
from gateway.running import NOWHERE, settings
from gateway.tokens import bearer
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.dialer import AgentSocket, Dialler, Socket
from turnwire.relay.client_writer import BODY_EXTENSION
from turnwire.web.app import create_app

DELTA: Final = frames.text(frames.delta("T0000000000000000ab")).encode()
PROMPT: Final = "p" * 32


Says = Callable[[str], Sequence[bytes]]
"""What is read, one read after the other, after the prompt of this id."""


class AgentWire(asyncio.Transport):
    """Shakes hands, and says what it was given when it is prompted."""

    def __init__(self, says: Says) -> None:
        super().__init__()
        self.upstream: AgentSocket | None = None
        self._says = says
        self._server = ServerProtocol()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._server.receive_data(bytes(data))
        for event in self._server.events_received():
            answer: Sequence[bytes]
            if isinstance(event, Request):
                self._server.send_response(self._server.accept(event))
                answer = [b"".join(self._server.data_to_send())]
            elif isinstance(event, Frame) and b'"prompt"' in event.data:
                answer = self._says(json.loads(bytes(event.data))["promptId"])
            else:  # the close
                asyncio.get_running_loop().call_soon(self._lost)
                continue
            for read in answer:
                asyncio.get_running_loop().call_soon(self._tell, read)

    def _lost(self) -> None:
        if self.upstream is not None:
            self.upstream.connection_lost(None)
            self.upstream = None

    def _tell(self, read: bytes) -> None:
        assert self.upstream is not None
        self.upstream.data_received(read)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def abort(self) -> None: ...


class OfflineDialler(Dialler):
    """Connects to an `AgentWire`. All of a dial is ours but the TCP connect."""

    def __init__(self, says: Says) -> None:
        super().__init__(user_timeout_s=20)
        self._says = says

    async def _connect(
        self,
        connection: Callable[[], Socket],
        host: str,  # noqa: ARG002 (the base's)
        port: int,  # noqa: ARG002
        addresses: list[AddrInfoType],  # noqa: ARG002
        tls: object,  # noqa: ARG002
    ) -> Socket:
        wire = AgentWire(self._says)
        wire.upstream = made = connection()
        made.connection_made(wire)
        return made


def turns(*reads: int) -> Says:
    """Turns whose deltas come in reads of so many each, and their ends with the last of them."""

    def says(prompt_id: str) -> Sequence[bytes]:
        told = [frames.raw(DELTA) * count for count in reads]
        told[0] = frames.raw(frames.text(frames.create(prompt_id)).encode()) + told[0]
        told[-1] += frames.raw(frames.text(frames.finalize()).encode())
        return told

    return says


class Connection(Exchange):
    """An exchange with a server that gives the short way to write a chunk, as ours does."""

    def __init__(self, app: Starlette, *, headers: Headers, body: Sequence[bytes]) -> None:
        super().__init__(app, headers=headers, body=body)
        self._scope["extensions"] = {BODY_EXTENSION: lambda: self}
        self.first_data = b""
        self.is_first_last = False

    def write(self, data: bytes) -> bool:
        if self.sent:
            self.sent.append({"body": data})
        return bool(self.sent)

    def end(self, data: bytes) -> bool:
        if self.sent:
            self.sent.append({"body": data, "more_body": False})
        return bool(self.sent)

    async def send(self, message: Message) -> None:
        await self._send(message)


class Offline:
    """A gateway whose agents are those of the dialler."""

    def __init__(self, dialler: Dialler, agent_url: str = NOWHERE, **given: object) -> None:
        self.app = create_app(settings(agent_url, **given), dialler=dialler)
        self._headers: Mapping[str, str] = bearer() | {"content-type": "application/json"}
        self._body = json.dumps(ask()).encode()

    async def turn(self) -> None:
        exchange = Connection(self.app, headers=[*self._headers.items()], body=[self._body])
        await exchange.run()
        assert exchange.body.endswith(b"[DONE]\n\n"), exchange.sent


def begun_turn() -> Turn:
    """A turn whose text block is open."""
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=PROMPT)),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    turn.frames([frames.text(frames.create(PROMPT)).encode(), DELTA], 0)
    return turn


def deltas(count: int) -> Sequence[bytes]:
    return [DELTA] * count
