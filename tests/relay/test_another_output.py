"""A stream in another output than the UI message stream, from one socket to the other."""

import asyncio
from collections.abc import Sequence

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import new_client
from gateway.running import settings
from gateway.waiting import PATIENCE_S, until
from support.plain_output import PlainText
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.relay.client_writer import BODY_EXTENSION, SOCKET_EXTENSION
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.turn_stream import Stream
from turnwire.web.health import Health
from turnwire.web.server.server import listen, new_server

pytestmark = pytest.mark.sockets


class PlainEndpoint:
    """A raw ASGI endpoint that streams each turn as plain text."""

    def __init__(self, agent_url: str) -> None:
        self._agent_url = agent_url
        self.dialler = Dialler(user_timeout_s=5)
        self._transport = WebSocketTransport(self.dialler, frame_bytes=65_536)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        protocol = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id="p1"))
        output = PlainText()
        with self.dialler.budget.holder("u1") as holder:
            stream = Stream(
                Turn(protocol, Limits(), output),
                send=send,
                receive=receive,
                headers=[*output.headers],
                dial_s=PATIENCE_S,
                stall_s=PATIENCE_S,
                holder=holder,
                client_socket=scope["extensions"][SOCKET_EXTENSION],
                body=scope["extensions"][BODY_EXTENSION](),
            )
            target = AgentTarget(self._agent_url, {})
            await stream.run(self._transport, target, refusable=lambda: False)


async def answered(*agent_frames: frames.Json) -> httpx.Response:
    """The response to a prompt, whose agent sends these frames."""

    async def script(line: Line) -> None:
        await line.begin()
        await line.say(*agent_frames)
        line.cut()

    async with ScriptedAgent(script) as agent:
        endpoint = PlainEndpoint(agent.url())
        server = new_server(
            Starlette(routes=[Route("/chat", endpoint, methods=["POST"])]),
            settings(),
            health=Health(),
            streams=RequestRegistry(most=0, most_per_user=0),
            rounds=endpoint.dialler.rounds,
        )
        sock = listen("127.0.0.1", 0)
        serving = asyncio.create_task(server._serve([sock]))
        await until(lambda: server.started)
        try:
            async with new_client() as client:
                return await client.post(f"http://127.0.0.1:{sock.getsockname()[1]}/chat")
        finally:
            server.should_exit = True
            await asyncio.wait_for(serving, PATIENCE_S)


TOOL = frames.running_tool() | {"status": "completed", "result": 1}
BEGUN = f"\nturn {frames.TURN}\n"


@pytest.mark.parametrize(
    ("agent_frames", "text"),
    [
        (
            [frames.delta("Hello"), frames.delta(" world"), TOOL, frames.finalize()],
            "Hello world\n[search]\n\n[end_turn]\n",
        ),
        ([frames.delta("Hel")], "Hel\n[error: Stream interrupted]\n"),
    ],
)
async def test_a_turn_is_streamed_as_plain_text(
    agent_frames: Sequence[frames.Json], text: str
) -> None:
    response = await answered(*agent_frames)

    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert "x-vercel-ai-ui-message-stream" not in response.headers
    assert response.text == BEGUN + text
