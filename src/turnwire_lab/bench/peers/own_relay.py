"""turnwire's own path without its translation: the same shell, a `Turn` that passes frames through.

What is left out is what a burst compares: frames are neither decoded nor
sorted nor encoded. Also left out are identity and access, once a turn.

    python -m turnwire_lab.bench.peers.own_relay PORT AGENT_URL
"""

import asyncio
import sys
import uuid
from collections.abc import Sequence

import msgspec
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from turnwire.config.settings import Settings
from turnwire.core.body.attachments import AttachmentLimits
from turnwire.core.body.prompt import Prompt, extract
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import HEADERS, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.relay.client_writer import SOCKET_EXTENSION
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_stream import Stream
from turnwire.web.health import Health
from turnwire.web.server.server import listen, new_server


class Passing(Turn):
    """Writes frames as they come. All else about a turn is as it was."""

    def frames(
        self,
        frames: Sequence[bytes],
        now: float,  # noqa: ARG002 (the base's)
        *,
        opens: bool = False,  # noqa: ARG002
    ) -> Output:
        if self.outcome is None and b'"message.finalize"' in frames[-1]:
            self.outcome = Outcome.COMPLETED
        return Output(b"".join(frames))


class Passage:
    """A raw ASGI endpoint, as `web.routes.endpoint` is one."""

    def __init__(self, agent_url: str, settings: Settings) -> None:
        self._agent_url = agent_url
        self._settings = settings
        self._dialler = Dialler(user_timeout_s=settings.stall_s)
        self._transport = WebSocketTransport(self._dialler, frame_bytes=settings.frame_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        settings = self._settings
        prompt = extract(await Request(scope, receive).body(), AttachmentLimits())
        assert isinstance(prompt, Prompt)
        ask = PromptRequest(text=prompt.text, prompt_id=uuid.uuid4().hex)
        with self._dialler.budget.holder("") as holder:
            stream = Stream(
                Passing(DIALECTS["v2"].prompt(ask), Limits(), UIMessageStream()),
                send=send,
                receive=receive,
                headers=[*HEADERS],
                dial_s=settings.dial_s,
                stall_s=settings.stall_s,
                holder=holder,
                client_socket=scope.get("extensions", {}).get(SOCKET_EXTENSION),
            )
            await stream.run(
                self._transport, AgentTarget(self._agent_url, {}), refusable=lambda: False
            )


def main() -> None:
    """Serve until a signal."""
    port, agent_url = int(sys.argv[1]), sys.argv[2]
    settings = msgspec.structs.replace(Settings(), drain_s=1.0)
    server = new_server(
        Starlette(routes=[Route("/api/sessions/{session_id}/chat", Passage(agent_url, settings))]),
        settings,
        health=Health(),
        streams=RequestRegistry(most=0, most_per_user=0),
        rounds=Rounds(),
    )
    sock = listen("127.0.0.1", port)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(server.serve([sock]))


if __name__ == "__main__":
    main()
